//! Fields of requests that variables of a path stand for.

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};
use std::borrow::Cow;

/// A field of a message, or of a message in it, and so on: `book.name`.
#[derive(Debug, Clone)]
pub(super) struct FieldPath {
    name: String,
    parents: Vec<FieldDescriptor>,
    leaf: FieldDescriptor,
}

impl FieldPath {
    /// The field of that name, or why it can't be in a path.
    pub(super) fn new(name: &str, message: &MessageDescriptor) -> Result<Self, String> {
        let (mut parents, mut current) = (Vec::new(), message.clone());
        let mut parts = name.split('.').peekable();
        while let Some(part) = parts.next() {
            let field = current.get_field_by_name(part).ok_or_else(|| {
                format!(
                    "its path has the variable {name:?}, but {} has no field {part:?}",
                    current.full_name()
                )
            })?;
            let many = field.is_list() || field.is_map();
            match field.kind() {
                _ if many => {
                    return Err(format!("its path has the variable {name:?}, but {part:?} is repeated"));
                }
                Kind::Message(inner) if parts.peek().is_some() => current = inner,
                Kind::Message(_) => {
                    return Err(format!("its path has the variable {name:?}, but that is a message"));
                }
                _ if parts.peek().is_some() => {
                    return Err(format!("its path has the variable {name:?}, but {part:?} is not a message"));
                }
                _ => return Ok(Self { name: name.to_owned(), parents, leaf: field }),
            }
            parents.push(field);
        }
        Err("its path has a variable without a name".to_owned())
    }

    gax_text::getters! { self:
        /// The name as the template has it.
        pub(super) name: &str = &self.name;

        pub(super) leaf: &FieldDescriptor = &self.leaf;
    }

    /// The field's value; `None`: it is not there.
    pub(super) fn value<'a>(&self, message: &'a DynamicMessage) -> Option<Cow<'a, Value>> {
        let mut current = message;
        for parent in &self.parents {
            let (_, value) = current.fields().find(|(field, _)| field == parent)?;
            current = value.as_message()?;
        }
        let is_absent = self.leaf.supports_presence() && !current.has_field(&self.leaf);
        (!is_absent).then(|| current.get_field(&self.leaf))
    }

    /// Takes the field out of a message.
    pub(super) fn clear(&self, message: &mut DynamicMessage) {
        let mut current = message;
        for parent in &self.parents {
            if !current.has_field(parent) {
                return;
            }
            let Some(inner) = current.get_field_mut(parent).as_message_mut() else { return };
            current = inner;
        }
        current.clear_field(&self.leaf);
    }
}
