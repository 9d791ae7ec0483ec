//! Values as JSON text.

use super::value::Value;
use crate::values::quoted;
use std::fmt::{self, Write};

/// Writes a value as JSON, two spaces a level; collections of single values stay in one line.
pub(in crate::convert) fn write_json(value: Value<'_>, out: &mut dyn Write) -> fmt::Result {
    write_value(value, 0, out)?;
    out.write_char('\n')
}

fn write_value(value: Value<'_>, level: usize, out: &mut dyn Write) -> fmt::Result {
    let flat = match &value {
        Value::Array(elements) => elements.iter().all(Value::is_single),
        Value::Object(fields) => {
            level > 0 && fields.len() <= 2 && fields.iter().all(|field| field.value.is_single())
        }
        _ => false,
    };
    match value.streamed() {
        Value::Null => out.write_str("null"),
        Value::Bool(value) => out.write_str(if value { "true" } else { "false" }),
        Value::Number(number) => out.write_str(&number),
        Value::String(string) => out.write_str(&quoted(&string)),
        Value::Array(_) => out.write_str("[]"),
        Value::Object(_) => out.write_str("{}"),
        Value::Elements(elements) => write_list(['[', ']'], elements, flat, level, out, |element, out| {
            write_value(element, level + 1, out)
        }),
        Value::Fields(fields) => write_list(['{', '}'], fields, flat, level, out, |field, out| {
            write!(out, "{}: ", quoted(&field.key))?;
            write_value(field.value, level + 1, out)
        }),
    }
}

fn write_list<T>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    flat: bool,
    level: usize,
    out: &mut dyn Write,
    mut write: impl FnMut(T, &mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    out.write_char(open)?;
    let mut is_empty = true;
    for item in items {
        if !is_empty {
            out.write_char(',')?;
        }
        match (flat, is_empty) {
            (true, true) => {}
            (true, false) => out.write_char(' ')?,
            (false, _) => write!(out, "\n{:1$}", "", 2 * (level + 1))?,
        }
        write(item, out)?;
        is_empty = false;
    }
    if !flat && !is_empty {
        write!(out, "\n{:1$}", "", 2 * level)?;
    }
    out.write_char(close)
}
