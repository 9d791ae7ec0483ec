//! The fields that a service YAML has clients fill in.

use crate::document::{Node, Source};
use crate::{SourceLocation, TableError};

/// A field of a method's requests that a client fills with a new id where it is empty
/// (`publishing.method_settings[].auto_populated_fields`, AIP-4235).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoPopulatedField {
    /// The method's full name, such as `example.v1.Library.GetBook`.
    pub(super) method: String,
    name: String,
    origin: SourceLocation,
}

impl AutoPopulatedField {
    /// The fields of that entry of `method_settings`.
    pub(super) fn read(source: &Source, entry: &Node) -> Vec<Self> {
        let method = entry.member("selector").and_then(Node::text);
        let fields = entry.member("auto_populated_fields").map_or(&[][..], Node::items);
        let Some(method) = method else { return Vec::new() };
        let field = |node: &Node| {
            let (method, name) = (method.to_owned(), node.text()?.to_owned());
            Some(Self { method, name, origin: source.origin(node.span) })
        };
        fields.iter().filter_map(field).collect()
    }

    /// The field's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error about the field, at its place: the problem, and what to do about it.
    #[must_use]
    pub fn error(&self, problem: &str, help: &str) -> TableError {
        let message = format!("the field {:?} of {} can't be filled: {problem}", self.name, self.method);
        TableError::new(message).with_help(help).at(self.origin.clone(), self.name.clone())
    }
}
