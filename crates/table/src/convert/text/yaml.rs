//! Values as YAML text.

use super::value::{Field, Value};
use crate::values::quoted;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// Writes a value as YAML in block style, two spaces a level. Strings are quoted where a reader could take them
/// for something else.
pub(in crate::convert) fn write_yaml(value: Value<'_>, out: &mut dyn Write) -> fmt::Result {
    write_block(value, 0, false, out)
}

/// Writes a collection in lines of its own; of the first the indentation may be there already.
fn write_block(value: Value<'_>, level: usize, is_indented: bool, out: &mut dyn Write) -> fmt::Result {
    let mut is_indented = is_indented;
    let mut indent = |out: &mut dyn Write| {
        let width = if std::mem::take(&mut is_indented) { 0 } else { 2 * level };
        write!(out, "{:width$}", "")
    };
    match value.streamed() {
        Value::Elements(elements) => {
            for element in elements {
                indent(out)?;
                out.write_str("- ")?;
                write_block(element, level + 1, true, out)?;
            }
        }
        Value::Fields(fields) => {
            for field in fields {
                indent(out)?;
                write_field(field, level, out)?;
            }
        }
        single => {
            indent(out)?;
            writeln!(out, "{}", single_line(&single))?;
        }
    }
    Ok(())
}

fn write_field(Field { key, value }: Field<'_>, level: usize, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{}:", plain_or_quoted(&key))?;
    let is_flat = matches!(&value, Value::Array(inner) if inner.iter().all(Value::is_single));
    let (value, level) = match if is_flat { value } else { value.streamed() } {
        Value::Elements(elements) => {
            let mut elements = elements.peekable();
            if elements.peek().is_none() {
                return out.write_str(" []\n");
            }
            (Value::elements(elements), level)
        }
        Value::Fields(fields) => {
            let mut fields = fields.peekable();
            if fields.peek().is_none() {
                return out.write_str(" {}\n");
            }
            (Value::fields(fields), level + 1)
        }
        single => return writeln!(out, " {}", single_line(&single)),
    };
    out.write_char('\n')?;
    write_block(value, level, false, out)
}

/// A single value, or a collection of such that stays in one line.
fn single_line<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Number(number) => (&**number).into(),
        Value::String(text) => plain_or_quoted(text),
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(single_line).collect::<Vec<_>>().join(", ")).into()
        }
        Value::Object(_) | Value::Elements(_) | Value::Fields(_) => "{}".into(),
    }
}

/// A string without quotes, if it begins with a letter and has nothing in it that means something.
fn plain_or_quoted(text: &str) -> Cow<'_, str> {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '/')
        && text.chars().all(|other| other.is_ascii_alphanumeric() || "._-/@".contains(other));
    let lower = text.to_ascii_lowercase();
    let is_keyword = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&lower.as_str());
    if is_word && !is_keyword { text.into() } else { quoted(text).into() }
}
