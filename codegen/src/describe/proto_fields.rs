//! The fields of messages, as annotations name them.

use crate::descriptors::{full_name, messages};
use gax_table::{MessageFields, ProtoField};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorSet};
use std::collections::HashMap;

/// Messages and enums by their full names, with a dot before them.
pub(super) struct ProtoFields<'a> {
    messages: HashMap<String, &'a DescriptorProto>,
    enums: HashMap<String, &'a EnumDescriptorProto>,
}

impl<'a> ProtoFields<'a> {
    pub(super) fn of(set: &'a FileDescriptorSet) -> Self {
        let messages = messages(set);
        let nested = messages.iter().flat_map(|(name, message)| {
            message.enum_type.iter().map(move |one| (format!("{name}.{}", one.name()), one))
        });
        let mut enums: HashMap<String, &EnumDescriptorProto> = nested.collect();
        for file in &set.file {
            let named = file.enum_type.iter();
            enums.extend(named.map(|one| (format!(".{}", full_name(file.package(), one.name())), one)));
        }
        Self { messages, enums }
    }
}

impl MessageFields for ProtoFields<'_> {
    fn field(&self, message: &str, name: &str) -> Option<ProtoField> {
        let field = self.messages.get(message)?.field.iter().find(|field| field.name() == name)?;
        // An enum of proto2 may begin with another number than zero.
        let of_enum = || {
            let values = &self.enums.get(field.type_name())?.value;
            let mut values = values.iter();
            let value = match &field.default_value {
                Some(name) => values.find(|value| value.name() == name),
                None => values.next(),
            };
            Some(value?.number().to_string())
        };
        Some(ProtoField {
            number: field.number().try_into().ok()?,
            kind: field.r#type().into(),
            is_repeated: field.label() == Label::Repeated,
            type_name: field.type_name().to_owned(),
            default: if field.r#type() == Type::Enum { of_enum() } else { field.default_value.clone() },
        })
    }
}
