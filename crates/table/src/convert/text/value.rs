//! Values on their way to text.

use crate::document::{Kind, Member, Node};
use std::borrow::Cow;

/// A value that is to be written. What may have thousands of parts is made while it is written, one at a time.
pub(in crate::convert) enum Value<'a> {
    Null,
    Bool(bool),
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Vec<Field<'a>>),
    /// An array of collections.
    Elements(Box<dyn Iterator<Item = Value<'a>> + 'a>),
    /// An object of collections.
    Fields(Box<dyn Iterator<Item = Field<'a>> + 'a>),
}

/// A key of an object with its value.
pub(in crate::convert) struct Field<'a> {
    pub(in crate::convert) key: Cow<'a, str>,
    pub(in crate::convert) value: Value<'a>,
}

impl<'a> Value<'a> {
    pub(in crate::convert) fn elements(elements: impl Iterator<Item = Value<'a>> + 'a) -> Self {
        Value::Elements(Box::new(elements))
    }

    pub(in crate::convert) fn fields(fields: impl Iterator<Item = Field<'a>> + 'a) -> Self {
        Value::Fields(Box::new(fields))
    }

    /// A collection that has something in it as one whose parts come one by one.
    pub(super) fn streamed(self) -> Self {
        match self {
            Value::Array(elements) if !elements.is_empty() => Value::elements(elements.into_iter()),
            Value::Object(fields) if !fields.is_empty() => Value::fields(fields.into_iter()),
            other => other,
        }
    }

    /// Returns whether it has no parts.
    pub(super) fn is_single(&self) -> bool {
        matches!(self, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))
    }
}

impl<'a> From<&'a Node> for Value<'a> {
    fn from(node: &'a Node) -> Self {
        match &node.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(Cow::Borrowed(number)),
            Kind::String(text) => string(&**text),
            Kind::Array(elements) => Value::Array(elements.iter().map(Value::from).collect()),
            Kind::Object(members) => Value::Object(members.iter().map(Field::from).collect()),
        }
    }
}

impl<'a> From<&'a Member> for Field<'a> {
    fn from(member: &'a Member) -> Self {
        field(&*member.key, Value::from(&member.value))
    }
}

pub(in crate::convert) fn string<'a>(text: impl Into<Cow<'a, str>>) -> Value<'a> {
    Value::String(text.into())
}

pub(in crate::convert) fn whole_number<'a>(number: u32) -> Value<'a> {
    Value::Number(number.to_string().into())
}

pub(in crate::convert) fn object(fields: Vec<Field<'_>>) -> Value<'_> {
    Value::Object(fields)
}

pub(in crate::convert) fn field<'a>(key: impl Into<Cow<'a, str>>, value: Value<'a>) -> Field<'a> {
    Field { key: key.into(), value }
}

/// A number in the shortest form that reads back as the same number.
pub(in crate::convert) fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number:?}") }
}
