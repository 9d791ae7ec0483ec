//! Fields of a request as the query of a URI.

use crate::request::path::ALL_BUT_UNRESERVED;
use crate::request::scalar;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use prost_reflect::{DynamicMessage, FieldDescriptor, Value};

/// Names of system parameters begin with a dollar sign, those of extensions have brackets.
const NOT_IN_KEYS: &AsciiSet = &ALL_BUT_UNRESERVED.remove(b'$');

/// A query, which is built up.
#[derive(Debug, Default)]
pub(super) struct Query {
    text: String,
}

impl Query {
    /// Adds a parameter.
    pub(super) fn push(&mut self, key: &str, value: &str) {
        self.text.push(if self.text.is_empty() { '?' } else { '&' });
        self.text.extend(utf8_percent_encode(key, NOT_IN_KEYS));
        self.text.push('=');
        self.text.extend(utf8_percent_encode(value, ALL_BUT_UNRESERVED));
    }

    /// Adds all fields of a message that are set. `prefix` is the path to the message, with a dot behind it.
    pub(super) fn push_fields(&mut self, message: &DynamicMessage, prefix: &str) -> Result<(), String> {
        for (field, value) in message.fields() {
            let key = format!("{prefix}{}", field.json_name());
            match value {
                Value::List(values) => {
                    for value in values {
                        self.push_value(&key, value, &field)?;
                    }
                }
                Value::Message(inner) if scalar::text(value, &field.kind()).is_none() => {
                    if is_free_form(inner) {
                        return Err(unfit(&key, "free-form JSON"));
                    }
                    self.push_fields(inner, &format!("{key}."))?;
                }
                value => self.push_value(&key, value, &field)?,
            }
        }
        Ok(())
    }

    fn push_value(&mut self, key: &str, value: &Value, field: &FieldDescriptor) -> Result<(), String> {
        match scalar::text(value, &field.kind()) {
            Some(text) => {
                let text = text.map_err(|problem| format!("{key} can't be expressed in JSON: {problem}"))?;
                self.push(key, &text);
                Ok(())
            }
            None if field.is_map() => Err(unfit(key, "a map")),
            None => Err(unfit(key, "a list of messages")),
        }
    }

    /// The query with its question mark; nothing, if there are no parameters.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Returns whether a message is a value of any form.
fn is_free_form(message: &DynamicMessage) -> bool {
    use prost_reflect::ReflectMessage as _;
    const NAMES: [&str; 4] = ["Any", "ListValue", "Struct", "Value"];
    let descriptor = message.descriptor();
    let name = descriptor.full_name();
    name.strip_prefix("google.protobuf.").is_some_and(|name| NAMES.contains(&name))
}

fn unfit(key: &str, kind: &str) -> String {
    format!("{key} would have to be in the query, but it is {kind}, which a query can't express")
}
