//! Google's annotations, as far as the headers of methods follow from them.

use super::options::{MethodOptions, Options};
use crate::Error;
use crate::descriptors::{full_name, messages};
use gax_table::{MessageFields, ProtoField, RequestParam, RoutingError, http_params, routing_params};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use std::collections::HashMap;

/// Google's annotations of services and methods, as far as headers follow from them.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    hosts: HashMap<String, String>,
    versions: HashMap<String, String>,
    /// By service and method.
    params: HashMap<(String, String), Vec<RequestParam>>,
}

/// The number of `google.api.http` among a method's options, and that of `google.api.routing`.
const HTTP: i32 = 72_295_728;
const ROUTING: i32 = 72_295_729;

impl Annotations {
    /// The annotations of the methods that are wanted, by service and name.
    pub(crate) fn read(
        set: &FileDescriptorSet,
        options: &MethodOptions,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, Error> {
        let (mut annotations, mut types) = (Self::default(), None);
        for file in &set.file {
            for (place, service) in file.service.iter().enumerate() {
                let name = full_name(file.package(), service.name());
                let of_service = options.of_service(&name).cloned().unwrap_or_default();
                let is_of_google = of_service.default_host.is_some();
                annotations.hosts.extend(of_service.default_host.map(|host| (name.clone(), host)));
                annotations.versions.extend(of_service.api_version.map(|version| (name.clone(), version)));
                for (index, method) in service.method.iter().enumerate() {
                    let of_method = options.of(&name, method.name());
                    let Some(of_method) = of_method.filter(|_| is_wanted(&name, method.name())) else {
                        continue;
                    };
                    let types = types.get_or_insert_with(|| Types::of(set));
                    match params(of_method, is_of_google, method.input_type(), types) {
                        Ok(params) if params.is_empty() => {}
                        Ok(params) => {
                            annotations.params.insert((name.clone(), method.name().to_owned()), params);
                        }
                        Err((error, option)) => {
                            let path = [6, as_number(place), 2, as_number(index), 4, option];
                            let method = format!("{name}.{}", method.name());
                            return Err(Error::annotation(&place_of(file, &path), &method, &error));
                        }
                    }
                }
            }
        }
        Ok(annotations)
    }

    /// Where the service is, by `google.api.default_host`.
    pub(crate) fn host(&self, service: &str) -> Option<&str> {
        self.hosts.get(service).map(String::as_str)
    }

    /// The version of its API, by `google.api.api_version`.
    pub(crate) fn version(&self, service: &str) -> Option<&str> {
        self.versions.get(service).map(String::as_str)
    }

    /// The parameters that its requests are routed by.
    pub(crate) fn params(&self, service: &str, method: &str) -> &[RequestParam] {
        let params = self.params.get(&(service.to_owned(), method.to_owned()));
        params.map(Vec::as_slice).unwrap_or_default()
    }
}

/// The parameters of a method: by `google.api.routing` or, without it, for a service of Google's by `google.api.http`. With an error
/// comes the number of the option.
fn params(
    options: &Options,
    is_of_google: bool,
    request: &str,
    types: &Types<'_>,
) -> Result<Vec<RequestParam>, (RoutingError, i32)> {
    if let Some(parameters) = options.routing() {
        return routing_params(parameters, request, types).map_err(|error| (error, ROUTING));
    }
    match options.http_path().filter(|_| is_of_google) {
        Some(path) => http_params(path, request, types).map_err(|error| (error, HTTP)),
        None => Ok(Vec::new()),
    }
}

fn as_number(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

/// Where in its file an option stands, or else the method that has it: `file:line:column`, or the file alone.
fn place_of(file: &FileDescriptorProto, path: &[i32; 6]) -> String {
    let locations = file.source_code_info.iter().flat_map(|info| &info.location);
    let common = |location: &[i32]| path.iter().zip(location).take_while(|(one, other)| one == other).count();
    let near = locations.filter(|location| common(&location.path) >= 4);
    let nearest =
        near.max_by_key(|location| (common(&location.path), std::cmp::Reverse(location.path.len())));
    match nearest.map(|location| location.span.as_slice()) {
        Some([line, column, ..]) => format!("{}:{}:{}", file.name(), line + 1, column + 1),
        _ => file.name().to_owned(),
    }
}

/// Messages and enums by their full names, with a dot before them.
struct Types<'a> {
    messages: HashMap<String, &'a DescriptorProto>,
    enums: HashMap<String, &'a EnumDescriptorProto>,
}

impl<'a> Types<'a> {
    fn of(set: &'a FileDescriptorSet) -> Self {
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

impl MessageFields for Types<'_> {
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
