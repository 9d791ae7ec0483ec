//! Values as JSON text.

use crate::document::{Kind, Member, Node, Span};
use gax_retry::__private::is_unprintable;
use std::fmt::Write;

/// A value that stands nowhere yet.
pub(in crate::convert) fn value(kind: Kind) -> Node {
    Node { span: Span { start: 0, end: 0 }, kind }
}

pub(in crate::convert) fn string(text: impl Into<String>) -> Node {
    value(Kind::String(text.into()))
}

pub(in crate::convert) fn member(key: &str, value: Node) -> Member {
    Member { key: key.to_owned(), key_span: value.span, value }
}

/// A number in the shortest form that reads back as the same number.
pub(in crate::convert) fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number:?}") }
}

/// A text in quotes, as JSON and TOML both read it.
pub(in crate::convert) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // All of these have four digits at most.
            unprintable if is_unprintable(unprintable) => {
                let _infallible = write!(quoted, "\\u{:04x}", u32::from(unprintable));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A value as JSON, two spaces a level; collections of single values stay in one line.
pub(in crate::convert) fn json_text(node: &Node) -> String {
    let mut text = String::new();
    write_node(node, 0, &mut text);
    text.push('\n');
    text
}

fn write_node(node: &Node, level: usize, text: &mut String) {
    match &node.kind {
        Kind::Null => text.push_str("null"),
        Kind::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Kind::Number(number) => text.push_str(number),
        Kind::String(string) => text.push_str(&quoted(string)),
        Kind::Array(elements) => {
            let flat = elements.iter().all(is_single);
            write_list(('[', ']'), elements, flat, level, text, |element, text| {
                write_node(element, level + 1, text);
            });
        }
        Kind::Object(members) => {
            let flat = members.len() <= 2 && members.iter().all(|member| is_single(&member.value));
            write_list(('{', '}'), members, flat && level > 0, level, text, |member, text| {
                text.push_str(&quoted(&member.key));
                text.push_str(": ");
                write_node(&member.value, level + 1, text);
            });
        }
    }
}

fn is_single(node: &Node) -> bool {
    !matches!(&node.kind, Kind::Array(_) | Kind::Object(_))
}

fn write_list<T>(
    (open, close): (char, char),
    items: &[T],
    flat: bool,
    level: usize,
    text: &mut String,
    mut write: impl FnMut(&T, &mut String),
) {
    text.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match (flat, index) {
            (true, 0) => {}
            (true, _) => text.push(' '),
            (false, _) => {
                text.push('\n');
                text.push_str(&"  ".repeat(level + 1));
            }
        }
        write(item, text);
    }
    if !flat && !items.is_empty() {
        text.push('\n');
        text.push_str(&"  ".repeat(level));
    }
    text.push(close);
}
