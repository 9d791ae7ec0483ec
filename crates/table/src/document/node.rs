//! One value of a document.

#[cfg(any(feature = "convert", feature = "http"))]
use std::collections::HashSet;
use std::sync::Arc;

/// The bytes of the text that a value takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Something that a text says, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

/// A value. Numbers are kept as text, objects with every key, also one that comes twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Arc<str>),
    String(Arc<str>),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A key of an object with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: Arc<str>,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

/// The members without those whose key comes again, which JSON and YAML may have and TOML may not.
#[cfg(any(feature = "convert", feature = "http"))]
pub(crate) fn last_of_each(members: &[Member]) -> Vec<&Member> {
    let mut keys = HashSet::new();
    let mut last: Vec<_> = members.iter().rev().filter(|member| keys.insert(&member.key)).collect();
    last.reverse();
    last
}

impl Node {
    /// The value of a key; of several the last.
    pub(crate) fn member(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| *member.key == *key).map(|member| &member.value)
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The values in an array; none for anything else.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The kind of the value, with its article.
    pub(crate) fn a_kind(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }
}

/// A list without room for more. One that takes over the parser's memory, which is laid out for larger items, would
/// keep all of it.
pub(super) fn exactly<T>(items: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut list = Vec::with_capacity(items.len());
    list.extend(items);
    list
}
