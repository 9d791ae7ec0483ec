//! Which fields of messages are fields of structs in Rust.

use gax_table::BatchDescriptor;
use prost_types::field_descriptor_proto::Label;
use prost_types::{DescriptorProto, FieldDescriptorProto, MessageOptions};
use std::collections::HashSet;

/// The names of a message's fields that are fields of a struct in Rust, too: those of a oneof are not.
#[derive(Debug, Default)]
pub(crate) struct MessageFields {
    all: HashSet<String>,
    /// Those that are lists.
    lists: HashSet<String>,
}

impl MessageFields {
    pub(crate) fn of(message: Option<&DescriptorProto>) -> Self {
        let Some(message) = message else { return Self::default() };
        let is_map = |field: &FieldDescriptorProto| {
            let entry = field.type_name().rsplit('.').next().unwrap_or_default();
            let nested = message.nested_type.iter().find(|nested| nested.name() == entry);
            nested.and_then(|nested| nested.options.as_ref()).is_some_and(MessageOptions::map_entry)
        };
        let plain = || {
            let fields = message.field.iter();
            fields.filter(|field| field.oneof_index.is_none() || field.proto3_optional())
        };
        let lists = plain().filter(|field| field.label() == Label::Repeated && !is_map(field));
        Self {
            all: plain().map(|field| field.name().to_owned()).collect(),
            lists: lists.map(|field| field.name().to_owned()).collect(),
        }
    }
}

/// The field of a batch descriptor that the messages don't have, and what it would have to be.
pub(crate) fn unfit_field<'d>(
    descriptor: &'d BatchDescriptor,
    request: &MessageFields,
    response: &MessageFields,
) -> Option<(&'d str, &'static str)> {
    let batched = descriptor.batched_field();
    if !request.lists.contains(batched) {
        return Some((batched, "a repeated field of the request"));
    }
    if let Some(field) = descriptor.discriminator_fields().find(|field| !request.all.contains(*field)) {
        return Some((field, "a field of the request outside of a oneof"));
    }
    let subresponse = descriptor.subresponse_field().filter(|field| !response.lists.contains(*field));
    subresponse.map(|field| (field, "a repeated field of the response"))
}
