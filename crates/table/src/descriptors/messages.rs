//! Messages and enums.

use crate::{MessageFields, ProtoField};
use prost::{DecodeError, Message};
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

/// All messages and enums by their full names, with a dot before them as descriptors refer to them.
#[derive(Debug, Default)]
pub struct MessageTypes {
    pub messages: HashMap<String, MessageType>,
    pub enums: HashMap<String, EnumType>,
}

impl MessageTypes {
    /// Those of an encoded `FileDescriptorSet`.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        let mut types = Self::default();
        for file in MessageSet::decode(encoded)?.file {
            let scope = match file.package() {
                "" => String::new(),
                package => format!(".{package}"),
            };
            types.collect(&scope, file.message_type, file.enum_type);
        }
        Ok(types)
    }

    fn collect(&mut self, scope: &str, messages: Vec<MessageType>, enums: Vec<EnumType>) {
        for mut message in messages {
            let name = format!("{scope}.{}", message.name());
            let (nested, enums) =
                (std::mem::take(&mut message.nested_type), std::mem::take(&mut message.enum_type));
            self.collect(&name, nested, enums);
            self.messages.insert(name, message);
        }
        self.enums.extend(enums.into_iter().map(|one| (format!("{scope}.{}", one.name()), one)));
    }
}

impl MessageFields for MessageTypes {
    fn field(&self, message: &str, name: &str) -> Option<ProtoField> {
        const REPEATED: i32 = 3;
        const ENUM: i32 = 14;
        let field = self.messages.get(message)?.field.iter().find(|field| field.name() == name)?;
        // An enum of proto2 may begin with another number than zero.
        let of_enum = || {
            let values = &self.enums.get(field.type_name())?.value;
            let named = |one: &&EnumValue| field.default_value.as_ref().is_none_or(|name| one.name() == name);
            Some(values.iter().find(named)?.number().to_string())
        };
        let default = if field.kind() == ENUM { of_enum() } else { field.default_value.clone() };
        Some(ProtoField {
            number: field.number().try_into().ok()?,
            kind: field.kind(),
            is_repeated: field.label() == REPEATED,
            type_name: field.type_name().to_owned(),
            default,
        })
    }
}
