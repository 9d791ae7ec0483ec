//! Reading the fields of a JSON object, each of which has to be known.

use serde_json::{Map, Value};
use std::fmt::Display;

/// Why a case can't be run: a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault(pub(super) String);

/// A JSON object at a place of a case, with the names that were asked for so far.
pub(super) struct Fields<'a> {
    place: String,
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(value: &'a Value, place: impl Into<String>) -> Result<Self, Fault> {
        let place = place.into();
        match value {
            Value::Object(map) => Ok(Self { place, map, known: Vec::new() }),
            other => Err(wrong(&place, other, "an object")),
        }
    }

    /// The value of a field that may be absent. `null` is a value.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.map.get(name)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<&'a Value, Fault> {
        self.optional(name).ok_or_else(|| Fault(format!("{} is missing", self.at(name))))
    }

    pub(super) fn integer(&mut self, name: &'static str) -> Result<i64, Fault> {
        let value = self.required(name)?;
        value.as_i64().ok_or_else(|| wrong(&self.at(name), value, "a 64-bit integer"))
    }

    /// An integer, or 0 if the field is absent.
    pub(super) fn integer_or_zero(&mut self, name: &'static str) -> Result<i64, Fault> {
        if self.map.contains_key(name) { self.integer(name) } else { Ok(0) }
    }

    /// A number, or one of the words that stand for what JSON can't write.
    pub(super) fn number(&mut self, name: &'static str) -> Result<f64, Fault> {
        let value = self.required(name)?;
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(word) => match word.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        };
        number.ok_or_else(|| wrong(&self.at(name), value, "a number, \"NaN\", \"Infinity\" or \"-Infinity\""))
    }

    pub(super) fn boolean(&mut self, name: &'static str) -> Result<bool, Fault> {
        let value = self.required(name)?;
        value.as_bool().ok_or_else(|| wrong(&self.at(name), value, "true or false"))
    }

    /// A truth value that is false where the field is absent.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, Fault> {
        if self.map.contains_key(name) { self.boolean(name) } else { Ok(false) }
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<&'a str, Fault> {
        let value = self.required(name)?;
        value.as_str().ok_or_else(|| wrong(&self.at(name), value, "a string"))
    }

    /// A string, or `null`.
    pub(super) fn text_or_null(&mut self, name: &'static str) -> Result<Option<&'a str>, Fault> {
        match self.required(name)? {
            Value::Null => Ok(None),
            _ => self.text(name).map(Some),
        }
    }

    /// An integer, or `null`.
    pub(super) fn integer_or_null(&mut self, name: &'static str) -> Result<Option<i64>, Fault> {
        match self.required(name)? {
            Value::Null => Ok(None),
            _ => self.integer(name).map(Some),
        }
    }

    pub(super) fn list(&mut self, name: &'static str) -> Result<&'a [Value], Fault> {
        let value = self.required(name)?;
        match value {
            Value::Array(items) => Ok(items),
            other => Err(wrong(&self.at(name), other, "an array")),
        }
    }

    /// The place of a field, as messages name it.
    pub(super) fn at(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) }
    }

    /// Every field of the object must have been asked for.
    pub(super) fn finish(self) -> Result<(), Fault> {
        match self.map.keys().find(|name| !self.known.contains(&name.as_str())) {
            Some(name) => Err(Fault(format!("{} is not a known field", shortened(self.at(name))))),
            None => Ok(()),
        }
    }
}

pub(super) fn wrong(place: &str, value: &Value, kind: impl Display) -> Fault {
    Fault(format!("{place} is {}, not {kind}", shortened(value.to_string())))
}

/// A text from the file, short enough for a message.
pub(super) fn shortened(text: String) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
