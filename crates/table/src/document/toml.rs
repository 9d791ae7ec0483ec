//! TOML text to nodes.

use super::node::{Kind, Member, Node, Span, exactly};
use super::source::{Source, on_one_line};
use super::texts::Texts;
use super::toml_pieces::{Whole, pieces};
use crate::TableError;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a text. A key that comes twice is an error in TOML itself.
pub(crate) fn read_toml(source: &Source) -> Result<Node, TableError> {
    in_pieces(source.text()).map_or_else(|| at_once(source), Ok)
}

/// The text as the parser reads it.
fn at_once(source: &Source) -> Result<Node, TableError> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let span = span(0, error.span().unwrap_or_default());
        source.error(span, format!("not TOML: {}", on_one_line(error.message())), "correct the text here")
    })?;
    let span = span(0, table.span());
    let members = Translation { start: 0, texts: &mut Texts::default() }.members(table.into_inner());
    Ok(Node { span, kind: Kind::Object(members) })
}

/// The document, if it can be had piece by piece.
fn in_pieces(text: &str) -> Option<Node> {
    let (mut whole, mut texts) = (Whole::default(), Texts::default());
    for piece in pieces(text)? {
        let table = DeTable::parse(piece.text).ok()?;
        let mut translation = Translation { start: piece.start, texts: &mut texts };
        for member in translation.members(table.into_inner()) {
            whole.add(piece.header, member)?;
        }
    }
    Some(whole.into_node())
}

/// From the parser's values to nodes.
struct Translation<'a> {
    /// Where the parser's text begins in the whole.
    start: usize,
    texts: &'a mut Texts,
}

impl Translation<'_> {
    fn members(&mut self, table: DeTable<'_>) -> Vec<Member> {
        exactly(table.into_iter().map(|(key, value)| Member {
            key_span: span(self.start, key.span()),
            key: self.texts.kept(key.get_ref()),
            value: self.node(value),
        }))
    }

    fn node(&mut self, value: Spanned<DeValue<'_>>) -> Node {
        let span = span(self.start, value.span());
        let kind = match value.into_inner() {
            DeValue::String(text) => Kind::String(self.texts.kept(&text)),
            DeValue::Integer(number) if number.radix() == 10 => {
                Kind::Number(self.texts.kept(number.as_str()))
            }
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
                |_| Kind::String(self.texts.kept(number.as_str())),
                |value| Kind::Number(value.to_string().into()),
            ),
            DeValue::Float(number) => Kind::Number(self.texts.kept(number.as_str())),
            DeValue::Boolean(value) => Kind::Bool(value),
            DeValue::Datetime(value) => Kind::String(value.to_string().into()),
            DeValue::Array(elements) => {
                Kind::Array(exactly(elements.into_iter().map(|value| self.node(value))))
            }
            DeValue::Table(table) => Kind::Object(self.members(table)),
        };
        Node { span, kind }
    }
}

/// A place in the whole text, of which a part begins there.
fn span(start: usize, range: Range<usize>) -> Span {
    Span { start: start + range.start, end: start + range.end.max(range.start) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    /// The text in pieces, if it can be read so; else it is the same as immediately.
    fn both(text: &str) -> bool {
        let source = Source::new(None, text);
        let pieces = in_pieces(text);
        if let Some(node) = &pieces {
            assert_eq!(node, &at_once(&source).unwrap(), "{text}");
        }
        pieces.is_some()
    }

    #[test]
    fn a_text_in_pieces_says_the_same() {
        for text in [
            "[[entry]]\nfor = [\"a\"]\n[[entry]]\nfor = [\"é\"]\n",
            "a = 1\n\n[codes]\nb = 2\nc.d = 3\n[params.e]\nf = 4\n[params.g]\nh = { i = 5 }\n",
            "[[ entry ]] # one\nx = 1\n[entry.hedging]\ny = 2\n  [[entry]]\n[entry.hedging.z]\n",
            "[http]\nbase = 1\n[[http.rule]]\na = 1\n[[http.rule]]\n[[entry]]\nb = 1",
            "[[entry]]\n[[http.rule]]\na = 1\n[[http.rule]]\nb = 2\n",
            "[params]\na = 1\n[params.b]\n[params.'c d']\n[params.\"e.f\"]\ng = 1\n",
            "[a]\n[b]\r\nc = 1\r\n[d.e.f]\n[d.e.g]\n",
        ] {
            assert!(both(text), "{text}");
        }
    }

    #[test]
    fn what_no_piece_can_tell_is_read_at_once() {
        for text in [
            "a = 1\n[b]\n[b]\n",
            "[a.b]\n[a.b]\n",
            "[a.b]\n[a]\nc = 1\n",
            "[a]\nb = 1\n[a.b]\n",
            "a = []\n[[a]]\n",
            "[[a]]\n[b]\n[a.c]\n",
            "a.b = 1\n[a.c]\n",
            "[[a]]\n[[b.c]]\n[[a]]\n[[b.c]]\n",
            "a = [\n[1],\n[2]]\n[b]\n",
            "[a]\nb = \"\"\"\n[c]\n\"\"\"\n",
            "[a.\"b\\u0020\"]\n[a.c]\n",
            "[a]\n[b\n",
            "a = 1",
            "",
        ] {
            assert!(!both(text), "{text}");
        }
    }

    #[test]
    fn an_error_in_a_later_piece_has_its_place() {
        let error = read_toml(&Source::new(None, "[[a]]\nb = 1\n[[a]]\nb = = 2\n")).unwrap_err();
        assert!(error.to_string().starts_with("line 4, column 5: not TOML: "), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        /// Whatever the order of headers: what can be read in pieces is what the parser reads.
        #[test]
        fn pieces_never_say_anything_else(lines in proptest::collection::vec(0..LINES.len(), 0..9)) {
            let text: String = lines.into_iter().filter_map(|line| LINES.get(line)).copied().collect();
            both(&text);
        }
    }

    const LINES: [&str; 20] = [
        "[a]\n",
        "[b]\n",
        "[a.b]\n",
        "[a.c]\n",
        "[b.a] # [c]\n",
        "[a.b.c]\n",
        "[[a]]\n",
        "[[b]]\n",
        "[[a.b]]\n",
        "[ \"a\" ]\n",
        "[a.'b']\n",
        "b = 1\n",
        "c.d = 2\n",
        "a.b = 3\n",
        "a = {}\n",
        "a = [\n",
        "]\n",
        "x = \"\"\"\n",
        "\"\"\"\n",
        "# é\n",
    ];
}
