//! Messages and enums.

use prost::Message;
use std::collections::HashMap;

/// `google.protobuf.FileDescriptorSet`
#[derive(Clone, PartialEq, Message)]
pub struct MessageSet {
    #[prost(message, repeated, tag = "1")]
    pub file: Vec<MessageFile>,
}

/// `google.protobuf.FileDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct MessageFile {
    #[prost(string, optional, tag = "2")]
    pub package: Option<String>,
    #[prost(message, repeated, tag = "4")]
    pub message_type: Vec<MessageType>,
    #[prost(message, repeated, tag = "5")]
    pub enum_type: Vec<EnumType>,
}

/// `google.protobuf.DescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct MessageType {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub field: Vec<Field>,
    #[prost(message, repeated, tag = "3")]
    pub nested_type: Vec<MessageType>,
    #[prost(message, repeated, tag = "4")]
    pub enum_type: Vec<EnumType>,
}

/// `google.protobuf.FieldDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct Field {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    pub number: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub label: Option<i32>,
    /// `type`
    #[prost(int32, optional, tag = "5")]
    pub kind: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub type_name: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub default_value: Option<String>,
    #[prost(message, optional, tag = "8")]
    pub options: Option<FieldOptions>,
    #[prost(int32, optional, tag = "9")]
    pub oneof_index: Option<i32>,
    #[prost(bool, optional, tag = "17")]
    pub proto3_optional: Option<bool>,
}

/// `google.protobuf.FieldOptions`
#[derive(Clone, PartialEq, Message)]
pub struct FieldOptions {
    /// `google.api.field_behavior`
    #[prost(int32, repeated, tag = "1052")]
    pub behavior: Vec<i32>,
    /// `google.api.field_info`
    #[prost(message, optional, tag = "291403980")]
    pub info: Option<FieldInfo>,
}

/// `google.api.FieldInfo`
#[derive(Clone, PartialEq, Message)]
pub struct FieldInfo {
    #[prost(int32, tag = "1")]
    pub format: i32,
}

/// `google.protobuf.EnumDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct EnumType {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub value: Vec<EnumValue>,
}

/// `google.protobuf.EnumValueDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct EnumValue {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub number: Option<i32>,
}

impl MessageSet {
    /// All messages and enums by their full names, with a dot before them as descriptors refer to them.
    #[must_use]
    pub fn by_name(self) -> (HashMap<String, MessageType>, HashMap<String, EnumType>) {
        let (mut messages, mut enums) = (HashMap::new(), HashMap::new());
        for file in self.file {
            let scope = match file.package() {
                "" => String::new(),
                package => format!(".{package}"),
            };
            collect(&scope, (file.message_type, file.enum_type), (&mut messages, &mut enums));
        }
        (messages, enums)
    }
}

fn collect(
    scope: &str,
    types: (Vec<MessageType>, Vec<EnumType>),
    into: (&mut HashMap<String, MessageType>, &mut HashMap<String, EnumType>),
) {
    let (messages, enums) = into;
    for mut message in types.0 {
        let name = format!("{scope}.{}", message.name());
        let inner = (std::mem::take(&mut message.nested_type), std::mem::take(&mut message.enum_type));
        collect(&name, inner, (&mut *messages, &mut *enums));
        messages.insert(name, message);
    }
    enums.extend(types.1.into_iter().map(|one| (format!("{scope}.{}", one.name()), one)));
}
