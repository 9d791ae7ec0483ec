//! The messages of `google.rpc` that errors have details of.

use prost::Message as _;
use prost_reflect::DescriptorPool;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use std::collections::BTreeSet;
use std::error::Error;

/// A message with two fields, numbered from 1: its name, and the names and types of the fields.
type Pair = (&'static str, [(&'static str, Type); 2]);

/// What details have of `google/rpc/http.proto`.
const HTTP: [Pair; 2] = [
    ("HttpResponse", [("status", Type::Int32), ("reason", Type::String)]),
    ("HttpHeader", [("key", Type::String), ("value", Type::String)]),
];

/// Adds the messages of `google/rpc/error_details.proto` that descriptors lack, and those of HTTP, in a file of their own.
pub(crate) fn add_error_details(pool: &mut DescriptorPool) -> Result<(), Box<dyn Error>> {
    let set = FileDescriptorSet::decode(tonic_types::pb::FILE_DESCRIPTOR_SET)?;
    let has_details =
        |file: &FileDescriptorProto| file.message_type.iter().any(|one| one.name() == "ErrorInfo");
    let Some(mut file) = set.file.into_iter().find(has_details) else { return Ok(()) };
    file.message_type.extend(HTTP.map(message));
    let known =
        |message: &DescriptorProto| pool.get_message_by_name(&format!("google.rpc.{}", message.name()));
    // Those that are missing may have fields of those that are there.
    let there = file.message_type.iter().filter_map(known).map(|known| known.parent_file().name().to_owned());
    file.dependency.extend(there.collect::<BTreeSet<_>>());
    file.message_type.retain(|message| known(message).is_none());
    if !file.message_type.is_empty() {
        file.name = Some("tonic_gax/rest/error_details.proto".to_owned());
        pool.add_file_descriptor_proto(file)?;
    }
    Ok(())
}

fn message((name, fields): Pair) -> DescriptorProto {
    let field = |((name, kind), number): ((&str, Type), i32)| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        ..FieldDescriptorProto::default()
    };
    let field = fields.into_iter().zip(1..).map(field).collect();
    DescriptorProto { name: Some(name.to_owned()), field, ..DescriptorProto::default() }
}
