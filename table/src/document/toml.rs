//! TOML text to nodes.

use super::node::{Kind, Member, Node, Span};
use super::source::{Source, on_one_line};
use super::texts::Texts;
use crate::TableError;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a text. A key that comes twice is an error in TOML itself.
pub(crate) fn read_toml(source: &Source) -> Result<Node, TableError> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let span = span(error.span().unwrap_or_default());
        TableError::new(format!("not TOML: {}", on_one_line(error.message())))
            .with_help("correct the text here")
            .at(source.origin(span), source.excerpt(span))
    })?;
    let span = span(table.span());
    Ok(Node { span, kind: object(table.into_inner(), &mut Texts::default()) })
}

fn object(table: DeTable<'_>, texts: &mut Texts) -> Kind {
    let members = table.into_iter().map(|(key, value)| Member {
        key_span: span(key.span()),
        key: texts.kept(key.get_ref()),
        value: node(value, texts),
    });
    Kind::Object(members.collect())
}

fn node(value: Spanned<DeValue<'_>>, texts: &mut Texts) -> Node {
    let span = span(value.span());
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::String(texts.kept(&text)),
        DeValue::Integer(number) if number.radix() == 10 => Kind::Number(texts.kept(number.as_str())),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
            |_| Kind::String(texts.kept(number.as_str())),
            |value| Kind::Number(value.to_string().into()),
        ),
        DeValue::Float(number) => Kind::Number(texts.kept(number.as_str())),
        DeValue::Boolean(value) => Kind::Bool(value),
        DeValue::Datetime(value) => Kind::String(value.to_string().into()),
        DeValue::Array(elements) => {
            Kind::Array(elements.into_iter().map(|value| node(value, texts)).collect())
        }
        DeValue::Table(table) => object(table, texts),
    };
    Node { span, kind }
}

fn span(range: Range<usize>) -> Span {
    Span { start: range.start, end: range.end.max(range.start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_places_and_keys_their_order() {
        let source =
            Source::new(None, "# é\nb = 1_0\n[a.\"x y\"]\nc = [1.50, 'é'] # d\n[[e]]\n[[e]]\nf = inf\n");
        let root = read_toml(&source).unwrap();
        let Kind::Object(members) = &root.kind else { panic!("{root:?}") };
        let keys: Vec<_> = members.iter().map(|member| &*member.key).collect();
        assert_eq!(keys, ["b", "a", "e"]);
        assert_eq!(members[0].value.kind, Kind::Number("10".into()));
        let Kind::Object(a) = &members[1].value.kind else { panic!("{root:?}") };
        assert_eq!((&*a[0].key, source.excerpt(a[0].key_span)), ("x y", "\"x y\"".to_owned()));
        let Kind::Object(inner) = &a[0].value.kind else { panic!("{root:?}") };
        let Kind::Array(list) = &inner[0].value.kind else { panic!("{root:?}") };
        assert_eq!(list[0].kind, Kind::Number("1.50".into()));
        assert_eq!(source.origin(list[1].span).to_string(), "line 4, column 12");
        let Kind::Array(tables) = &members[2].value.kind else { panic!("{root:?}") };
        assert_eq!(tables.len(), 2);
    }

    #[test]
    fn what_is_no_toml_says_where() {
        let error = |text: &str| read_toml(&Source::new(None, text)).unwrap_err().to_string();
        assert!(
            error("a = 1\na = 2").starts_with("line 2, column 1: not TOML: duplicate key"),
            "{}",
            error("a = 1\na = 2")
        );
        assert!(error("a = ").starts_with("line 1, column 5: not TOML: "));
        assert!(error(&format!("a = {}", "[".repeat(100_000))).starts_with("line 1, column "));
    }
}
