//! The messages of `google.rpc` that errors have details of.

use prost_reflect::{DescriptorError, DescriptorPool};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

/// How a field is written in the table below.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Texts,
    Map,
    Duration,
    Int32,
    Many(&'static str),
}

/// Fields: name, number and type.
type Fields = &'static [(&'static str, i32, Kind)];

/// The messages of `google/rpc/error_details.proto`, with their fields. Nested ones have a dot.
const MESSAGES: [(&str, Fields); 16] = [
    ("ErrorInfo", &[("reason", 1, Kind::Text), ("domain", 2, Kind::Text), ("metadata", 3, Kind::Map)]),
    ("RetryInfo", &[("retry_delay", 1, Kind::Duration)]),
    ("DebugInfo", &[("stack_entries", 1, Kind::Texts), ("detail", 2, Kind::Text)]),
    ("QuotaFailure", &[("violations", 1, Kind::Many("QuotaFailure.Violation"))]),
    ("QuotaFailure.Violation", &[("subject", 1, Kind::Text), ("description", 2, Kind::Text)]),
    ("PreconditionFailure", &[("violations", 1, Kind::Many("PreconditionFailure.Violation"))]),
    (
        "PreconditionFailure.Violation",
        &[("type", 1, Kind::Text), ("subject", 2, Kind::Text), ("description", 3, Kind::Text)],
    ),
    ("BadRequest", &[("field_violations", 1, Kind::Many("BadRequest.FieldViolation"))]),
    (
        "BadRequest.FieldViolation",
        &[("field", 1, Kind::Text), ("description", 2, Kind::Text), ("reason", 3, Kind::Text)],
    ),
    ("RequestInfo", &[("request_id", 1, Kind::Text), ("serving_data", 2, Kind::Text)]),
    (
        "ResourceInfo",
        &[
            ("resource_type", 1, Kind::Text),
            ("resource_name", 2, Kind::Text),
            ("owner", 3, Kind::Text),
            ("description", 4, Kind::Text),
        ],
    ),
    ("Help", &[("links", 1, Kind::Many("Help.Link"))]),
    ("Help.Link", &[("description", 1, Kind::Text), ("url", 2, Kind::Text)]),
    ("LocalizedMessage", &[("locale", 1, Kind::Text), ("message", 2, Kind::Text)]),
    ("HttpResponse", &[("status", 1, Kind::Int32), ("reason", 2, Kind::Text)]),
    ("HttpHeader", &[("key", 1, Kind::Text), ("value", 2, Kind::Text)]),
];

/// Adds those messages that the pool does not have, so that the details of errors can be read.
pub(crate) fn add_error_details(pool: &mut DescriptorPool) -> Result<(), DescriptorError> {
    let missing = |name: &str| {
        let top = name.split('.').next().unwrap_or_default();
        pool.get_message_by_name(&format!("google.rpc.{top}")).is_none()
    };
    let mut messages: Vec<DescriptorProto> = Vec::new();
    for (name, fields) in MESSAGES.into_iter().filter(|(name, _)| missing(name)) {
        let mut message = DescriptorProto {
            name: Some(name.rsplit('.').next().unwrap_or_default().to_owned()),
            field: fields.iter().map(|(name, number, kind)| field(name, *number, *kind)).collect(),
            ..DescriptorProto::default()
        };
        if fields.iter().any(|(_, _, kind)| matches!(kind, Kind::Map)) {
            message.nested_type.push(map_entry());
        }
        let parent = name.split_once('.').map(|(parent, _)| parent);
        match messages.iter_mut().find(|outer| parent.is_some() && outer.name.as_deref() == parent) {
            Some(outer) => outer.nested_type.push(message),
            None => messages.push(message),
        }
    }
    if messages.is_empty() {
        return Ok(());
    }
    pool.add_file_descriptor_proto(FileDescriptorProto {
        name: Some("tonic_gax/rest/error_details.proto".to_owned()),
        package: Some("google.rpc".to_owned()),
        dependency: vec!["google/protobuf/duration.proto".to_owned()],
        message_type: messages,
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    })
}

fn field(name: &str, number: i32, kind: Kind) -> FieldDescriptorProto {
    let (label, kind, type_name) = match kind {
        Kind::Text => (Label::Optional, Type::String, None),
        Kind::Texts => (Label::Repeated, Type::String, None),
        Kind::Int32 => (Label::Optional, Type::Int32, None),
        Kind::Duration => (Label::Optional, Type::Message, Some(".google.protobuf.Duration".to_owned())),
        Kind::Many(name) => (Label::Repeated, Type::Message, Some(format!(".google.rpc.{name}"))),
        Kind::Map => (Label::Repeated, Type::Message, Some(".google.rpc.ErrorInfo.MetadataEntry".to_owned())),
    };
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name,
        ..FieldDescriptorProto::default()
    }
}

fn map_entry() -> DescriptorProto {
    DescriptorProto {
        name: Some("MetadataEntry".to_owned()),
        field: vec![field("key", 1, Kind::Text), field("value", 2, Kind::Text)],
        options: Some(prost_types::MessageOptions {
            map_entry: Some(true),
            ..prost_types::MessageOptions::default()
        }),
        ..DescriptorProto::default()
    }
}
