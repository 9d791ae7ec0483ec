//! Values as YAML text.

use super::json::quoted;
use crate::document::{Kind, Node};

/// A value as YAML in block style, two spaces a level. Strings are quoted where a reader could take them
/// for something else.
pub(in crate::convert) fn yaml_text(node: &Node) -> String {
    let mut text = String::new();
    write_block(node, 0, &mut text);
    text
}

/// Writes a collection in lines of its own.
fn write_block(node: &Node, level: usize, text: &mut String) {
    let indent = "  ".repeat(level);
    match &node.kind {
        Kind::Array(elements) if !elements.is_empty() => {
            for element in elements {
                let mut inner = String::new();
                write_block(element, level + 1, &mut inner);
                text.extend([indent.as_str(), "- ", inner.trim_start()]);
            }
        }
        Kind::Object(members) if !members.is_empty() => {
            for member in members {
                text.extend([indent.as_str(), &plain_or_quoted(&member.key), ":"]);
                match &member.value.kind {
                    Kind::Object(inner) if !inner.is_empty() => {
                        text.push('\n');
                        write_block(&member.value, level + 1, text);
                    }
                    Kind::Array(inner) if inner.iter().any(is_collection) => {
                        text.push('\n');
                        write_block(&member.value, level, text);
                    }
                    _ => text.extend([" ", &single_line(&member.value), "\n"]),
                }
            }
        }
        _ => text.extend([indent.as_str(), &single_line(node), "\n"]),
    }
}

fn is_collection(node: &Node) -> bool {
    matches!(&node.kind, Kind::Array(_) | Kind::Object(_))
}

/// A single value, or a collection of such that stays in one line.
fn single_line(node: &Node) -> String {
    match &node.kind {
        Kind::Null => "null".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(number) => number.clone(),
        Kind::String(text) => plain_or_quoted(text),
        Kind::Array(elements) => {
            format!("[{}]", elements.iter().map(single_line).collect::<Vec<_>>().join(", "))
        }
        Kind::Object(_) => "{}".to_owned(),
    }
}

/// A string without quotes, if it begins with a letter and has nothing in it that means something.
fn plain_or_quoted(text: &str) -> String {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '/')
        && text.chars().all(|other| other.is_ascii_alphanumeric() || "._-/@".contains(other));
    let lower = text.to_ascii_lowercase();
    let is_keyword = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&lower.as_str());
    if is_word && !is_keyword { text.to_owned() } else { quoted(text) }
}
