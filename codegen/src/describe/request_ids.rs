//! The fields of requests that clients fill with a new id (AIP-4235).

use super::rpcs::rpcs;
use crate::Error;
use gax_table::descriptors::{Field, MessageTypes};
use gax_table::{AutoPopulatedField, ServiceYaml};
use prost_types::{FileDescriptorSet, MethodDescriptorProto};
use std::collections::HashMap;

/// The fields that clients fill if they are empty, by service and method.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    fields: HashMap<(String, String), Vec<String>>,
}

impl RequestIds {
    /// The fields of the methods that are wanted, by service and name.
    pub(crate) fn read(
        yaml: Option<&ServiceYaml>,
        set: &FileDescriptorSet,
        types: &MessageTypes,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, Error> {
        let (Some(yaml), mut ids) = (yaml, Self::default()) else { return Ok(Self::default()) };
        for rpc in rpcs(set).filter(|rpc| is_wanted(&rpc.service, rpc.method.name())) {
            let fields: Vec<&AutoPopulatedField> =
                yaml.auto_populated_fields(&rpc.service, rpc.method.name()).collect();
            let request = types.messages.get(rpc.method.input_type());
            let request = request.map_or(&[][..], |message| &message.field);
            for field in &fields {
                check(field, rpc.method, request).map_err(|problem| {
                    let help = "AIP-4235 has clients fill strings of unary requests that are not required, with \
                                google.api.field_info.format = UUID4";
                    Error::table(field.error(problem, help), "", None)
                })?;
            }
            ids.fields.insert(rpc.key(), fields.iter().map(|field| field.name().to_owned()).collect());
        }
        Ok(ids)
    }

    /// The names of the fields that are filled in requests of a method.
    pub(crate) fn of(&self, service: &str, method: &str) -> &[String] {
        let fields = self.fields.get(&(service.to_owned(), method.to_owned()));
        fields.map(Vec::as_slice).unwrap_or_default()
    }
}

/// Checks that a client may fill the field; the error says why not.
fn check(
    field: &AutoPopulatedField,
    method: &MethodDescriptorProto,
    request: &[Field],
) -> Result<(), &'static str> {
    const REPEATED: i32 = 3;
    const STRING: i32 = 9;
    const REQUIRED: i32 = 2;
    const UUID4: i32 = 1;
    if method.client_streaming() || method.server_streaming() {
        return Err("the method is a stream");
    }
    let found = request.iter().find(|other| other.name() == field.name());
    let found = found.ok_or("the request has no field of that name")?;
    let options = found.options.clone().unwrap_or_default();
    if found.kind() != STRING || found.label() == REPEATED {
        return Err("it is not a string");
    }
    if found.oneof_index.is_some() && !found.proto3_optional() {
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
