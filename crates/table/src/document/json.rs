//! JSON text to nodes.

use super::node::{Kind, Member, Node, Span, exactly};
use super::source::Source;
use super::texts::Texts;
use crate::TableError;
use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Which texts are treated as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// RFC 8259.
    Strict,
    /// Comments and single quotes as well, as Google's Java generator takes them.
    Comments,
}

impl Strictness {
    /// The syntax that the parser takes.
    pub(crate) fn options(self) -> ParseOptions {
        let extensions = self == Self::Comments;
        ParseOptions {
            allow_comments: extensions,
            allow_single_quoted_strings: extensions,
            allow_loose_object_property_names: false,
            allow_trailing_commas: false,
            allow_missing_commas: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        }
    }
}

/// Reads a text; deep nesting (512 levels) is an error like any other.
pub(crate) fn read_json(source: &Source, strictness: Strictness) -> Result<Node, TableError> {
    let parsed =
        parse_to_ast(source.text(), &CollectOptions::default(), &strictness.options()).map_err(|error| {
            let problem = lower_case_first(&error.kind().to_string());
            source.error(span(error.range()), format!("not JSON: {problem}"), "correct the text here")
        })?;
    parsed.value.map(json_node).ok_or_else(|| {
        let help = "write a retry table, such as {\"methodConfig\": [{\"name\": [{\"service\": \"a.B\"}], \"timeout\": \"60s\"}]}";
        source.error(Span::default(), "the file is empty", help)
    })
}

/// The tree of a text's value.
pub(crate) fn json_node(value: Value<'_>) -> Node {
    node(value, &mut Texts::default())
}

fn node(value: Value<'_>, texts: &mut Texts) -> Node {
    let span = span(value.range());
    let kind = match value {
        Value::NullKeyword(_) => Kind::Null,
        Value::BooleanLit(literal) => Kind::Bool(literal.value),
        Value::NumberLit(literal) => Kind::Number(texts.kept(literal.value)),
        Value::StringLit(literal) => Kind::String(texts.kept(&literal.value)),
        Value::Array(array) => {
            Kind::Array(exactly(array.elements.into_iter().map(|value| node(value, texts))))
        }
        Value::Object(object) => Kind::Object(exactly(object.properties.into_iter().map(|property| {
            let (key, range) = match &property.name {
                ObjectPropName::String(literal) => (&*literal.value, literal.range),
                ObjectPropName::Word(literal) => (literal.value, literal.range),
            };
            let (key_span, key) = (self::span(range), texts.kept(key));
            Member { key_span, key, value: node(property.value, texts) }
        }))),
    };
    Node { span, kind }
}

fn span(range: Range) -> Span {
    Span { start: range.start, end: range.end.max(range.start) }
}

fn lower_case_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
