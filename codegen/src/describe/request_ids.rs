//! The fields of requests that clients fill with a new id (AIP-4235).

use crate::Error;
use crate::descriptors::full_name;
use gax_table::{AutoPopulatedField, ServiceYaml};
use prost::Message;
use std::collections::HashMap;

/// The fields that clients fill where they are empty, by service and method.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    fields: HashMap<(String, String), Vec<String>>,
}

/// `google.protobuf.FileDescriptorSet`, as far as needed.
#[derive(Clone, PartialEq, Message)]
struct FileSet {
    #[prost(message, repeated, tag = "1")]
    files: Vec<File>,
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<MessageType>,
    #[prost(message, repeated, tag = "6")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct MessageType {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    fields: Vec<Field>,
    #[prost(message, repeated, tag = "3")]
    nested: Vec<MessageType>,
}

#[derive(Clone, PartialEq, Message)]
struct Field {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "4")]
    label: i32,
    #[prost(int32, tag = "5")]
    kind: i32,
    #[prost(message, optional, tag = "8")]
    options: Option<FieldOptions>,
    #[prost(int32, optional, tag = "9")]
    oneof_index: Option<i32>,
    #[prost(bool, tag = "17")]
    proto3_optional: bool,
}

#[derive(Clone, PartialEq, Message)]
struct FieldOptions {
    /// `google.api.field_behavior`
    #[prost(int32, repeated, tag = "1052")]
    behavior: Vec<i32>,
    /// `google.api.field_info`
    #[prost(message, optional, tag = "291403980")]
    info: Option<FieldInfo>,
}

/// `google.api.FieldInfo`
#[derive(Clone, PartialEq, Message)]
struct FieldInfo {
    #[prost(int32, tag = "1")]
    format: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    methods: Vec<Method>,
}

#[derive(Clone, PartialEq, Message)]
struct Method {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    input: String,
    #[prost(bool, tag = "5")]
    client_streaming: bool,
    #[prost(bool, tag = "6")]
    server_streaming: bool,
}

impl RequestIds {
    /// The fields of the methods that are wanted, by service and name.
    pub(crate) fn read(
        yaml: Option<&ServiceYaml>,
        encoded: &[u8],
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, Error> {
        let (Some(yaml), mut ids) = (yaml, Self::default()) else { return Ok(Self::default()) };
        let set = FileSet::decode(encoded).map_err(|error| Error::generator(error.into()))?;
        let mut messages = HashMap::new();
        for file in &set.files {
            let scope = if file.package.is_empty() { String::new() } else { format!(".{}", file.package) };
            collect(&scope, &file.messages, &mut messages);
        }
        for file in &set.files {
            for service in &file.services {
                let service_name = full_name(&file.package, &service.name);
                for method in &service.methods {
                    let fields: Vec<&AutoPopulatedField> =
                        yaml.auto_populated_fields(&service_name, &method.name).collect();
                    if fields.is_empty() || !is_wanted(&service_name, &method.name) {
                        continue;
                    }
                    let request = messages.get(&method.input).copied().unwrap_or_default();
                    for field in &fields {
                        check(field, method, request).map_err(|problem| {
                            let help = "AIP-4235 has clients fill strings of unary requests that are not required, with \
                                        google.api.field_info.format = UUID4";
                            Error::table(field.error(problem, help), "", None)
                        })?;
                    }
                    let names = fields.iter().map(|field| field.name().to_owned()).collect();
                    ids.fields.insert((service_name.clone(), method.name.clone()), names);
                }
            }
        }
        Ok(ids)
    }

    /// The names of the fields that are filled in requests of a method.
    pub(crate) fn of(&self, service: &str, method: &str) -> &[String] {
        let fields = self.fields.get(&(service.to_owned(), method.to_owned()));
        fields.map(Vec::as_slice).unwrap_or_default()
    }
}

/// Whether a client may fill the field; or else why not.
fn check(field: &AutoPopulatedField, method: &Method, request: &[Field]) -> Result<(), &'static str> {
    const REPEATED: i32 = 3;
    const STRING: i32 = 9;
    const REQUIRED: i32 = 2;
    const UUID4: i32 = 1;
    if method.client_streaming || method.server_streaming {
        return Err("the method is a stream");
    }
    let found = request.iter().find(|other| other.name == field.name());
    let found = found.ok_or("the request has no field of that name")?;
    let options = found.options.clone().unwrap_or_default();
    if found.kind != STRING || found.label == REPEATED {
        return Err("it is no string");
    }
    if found.oneof_index.is_some() && !found.proto3_optional {
        return Err("it is one of several fields");
    }
    if options.behavior.contains(&REQUIRED) {
        return Err("it is REQUIRED");
    }
    if options.info.is_none_or(|info| info.format != UUID4) {
        return Err("its format is not UUID4");
    }
    Ok(())
}

fn collect<'a>(scope: &str, messages: &'a [MessageType], found: &mut HashMap<String, &'a [Field]>) {
    for message in messages {
        let name = format!("{scope}.{}", message.name);
        collect(&name, &message.nested, found);
        found.insert(name, &message.fields);
    }
}
