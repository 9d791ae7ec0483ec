//! The descriptors that clients over REST have with them: of their services, all that these need, and no more.

use super::annotations::HTTP;
use super::options::{HttpRule, MethodOptions, ServiceOptions};
use super::place::place_of;
use super::proto_fields::ProtoFields;
use super::reachable::Types;
use crate::Error;
use crate::descriptors::full_name;
use crate::join::JoinedService;
use gax_table::{ServiceYaml, YamlHttpRule};
use prost::Message;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
    ServiceDescriptorProto,
};
use std::collections::{BTreeMap, BTreeSet};

/// The service that long-running operations are polled by.
const OPERATIONS: &str = "google.longrunning.Operations";

/// The descriptors that those of clients over REST are taken from.
#[derive(Debug)]
pub(crate) struct RestDescriptors {
    set: FileDescriptorSet,
    types: Types,
    options: MethodOptions,
    yaml: Option<ServiceYaml>,
}

/// `google.protobuf.FileDescriptorSet`, with the options that matter here.
#[derive(Clone, PartialEq, Message)]
struct RestSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<RestFile>,
}

/// `google.protobuf.FileDescriptorProto`
#[derive(Clone, PartialEq, Message)]
struct RestFile {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    package: String,
    #[prost(string, repeated, tag = "3")]
    dependency: Vec<String>,
    #[prost(message, repeated, tag = "4")]
    message_type: Vec<DescriptorProto>,
    #[prost(message, repeated, tag = "5")]
    enum_type: Vec<EnumDescriptorProto>,
    #[prost(message, repeated, tag = "6")]
    service: Vec<RestService>,
    #[prost(string, tag = "12")]
    syntax: String,
}

/// `google.protobuf.ServiceDescriptorProto`
#[derive(Clone, PartialEq, Message)]
struct RestService {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    method: Vec<RestMethod>,
    #[prost(message, optional, tag = "3")]
    options: Option<ServiceOptions>,
}

/// `google.protobuf.MethodDescriptorProto`
#[derive(Clone, PartialEq, Message)]
struct RestMethod {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    input_type: String,
    #[prost(string, tag = "3")]
    output_type: String,
    #[prost(message, optional, tag = "4")]
    options: Option<RestOptions>,
    #[prost(bool, tag = "5")]
    client_streaming: bool,
    #[prost(bool, tag = "6")]
    server_streaming: bool,
}

/// `google.protobuf.MethodOptions`
#[derive(Clone, PartialEq, Message)]
struct RestOptions {
    #[prost(message, optional, tag = "72295728")]
    http: Option<HttpRule>,
}

impl RestDescriptors {
    /// Those of all files. The rules of the service YAML go over those of the protos.
    ///
    /// # Errors
    ///
    /// No requests can be made by a rule.
    pub(crate) fn new(
        set: &FileDescriptorSet,
        options: MethodOptions,
        yaml: Option<&ServiceYaml>,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, Error> {
        let rest = Self { types: Types::of(set), set: set.clone(), options, yaml: yaml.cloned() };
        let fields = ProtoFields::of(set);
        for file in &set.file {
            for (number, service) in file.service.iter().enumerate() {
                let name = full_name(file.package(), service.name());
                let wanted = service.method.iter().enumerate();
                for (index, method) in wanted.filter(|(_, method)| is_wanted(&name, method.name())) {
                    let Some(rule) = rest.rule(&name, method.name()) else { continue };
                    let checked = rule.check(method.input_type(), method.output_type(), &fields);
                    checked.map_err(|error| {
                        let place = if rest.yaml_rule(&name, method.name()).is_some() {
                            "the service YAML".to_owned()
                        } else {
                            place_of(file, [number, index], HTTP)
                        };
                        Error::annotation(&place, &format!("{name}.{}", method.name()), &error)
                    })?;
                }
            }
        }
        Ok(rest)
    }

    /// Those that a service's client needs, encoded.
    pub(crate) fn of_service(&self, joined: &JoinedService) -> Vec<u8> {
        let mut methods: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for method in &joined.methods {
            methods.entry(&method.service).or_default().insert(&method.name);
        }
        if joined.methods.iter().any(|method| method.polling.is_some()) {
            let polled = ["GetOperation", "CancelOperation", "DeleteOperation", "WaitOperation"];
            methods.entry(OPERATIONS).or_default().extend(polled);
        }
        let (mut files, mut roots) = (BTreeMap::new(), Vec::new());
        for (index, file) in self.set.file.iter().enumerate() {
            for service in &file.service {
                let name = full_name(file.package(), service.name());
                let Some(wanted) = methods.get(name.as_str()) else { continue };
                let wanted: Vec<&MethodDescriptorProto> =
                    service.method.iter().filter(|method| wanted.contains(method.name())).collect();
                let types = wanted.iter().flat_map(|method| [method.input_type(), method.output_type()]);
                let types: Vec<String> = types.map(str::to_owned).collect();
                let own: &mut (RestFile, BTreeSet<usize>) =
                    files.entry(index).or_insert_with(|| (empty(file), BTreeSet::new()));
                own.1.extend(self.types.files(&types));
                own.0.service.push(self.service(&name, service, &wanted));
                roots.extend(types);
                // The types of operations are in an Any, and nothing but an option names them.
                let operations = wanted.iter().filter_map(|method| {
                    let types = self.options.operation_types(&name, method.name())?;
                    Some([types.response, types.metadata])
                });
                let package = file.package();
                roots.extend(operations.flatten().filter_map(|name| self.types.named(&name, package)));
            }
        }
        for (unit, needs) in self.types.reachable(roots) {
            let Some(file) = self.set.file.get(unit.file).filter(|file| !is_well_known(file)) else {
                continue;
            };
            let (own, dependencies) =
                files.entry(unit.file).or_insert_with(|| (empty(file), BTreeSet::new()));
            dependencies.extend(needs);
            let messages = file.message_type.iter().filter(|message| message.name() == unit.name);
            own.message_type.extend(messages.cloned().map(bare));
            own.enum_type.extend(file.enum_type.iter().filter(|one| one.name() == unit.name).cloned());
        }
        let file = files.into_iter().map(|(index, (mut file, dependencies))| {
            let others = dependencies.into_iter().filter(|other| *other != index);
            let names = others.filter_map(|other| Some(self.set.file.get(other)?.name().to_owned()));
            file.dependency = names.collect();
            file
        });
        RestSet { file: file.collect() }.encode_to_vec()
    }

    fn service(
        &self,
        name: &str,
        service: &ServiceDescriptorProto,
        methods: &[&MethodDescriptorProto],
    ) -> RestService {
        let method = methods.iter().map(|method| RestMethod {
            name: method.name().to_owned(),
            input_type: method.input_type().to_owned(),
            output_type: method.output_type().to_owned(),
            options: self.rule(name, method.name()).map(|rule| RestOptions { http: Some(rule) }),
            client_streaming: method.client_streaming(),
            server_streaming: method.server_streaming(),
        });
        let options = self.options.of_service(name).cloned();
        RestService { name: service.name().to_owned(), method: method.collect(), options }
    }

    fn rule(&self, service: &str, method: &str) -> Option<HttpRule> {
        let of_proto = || self.options.of(service, method)?.http().cloned();
        self.yaml_rule(service, method).map(HttpRule::of_yaml).or_else(of_proto)
    }

    fn yaml_rule(&self, service: &str, method: &str) -> Option<&YamlHttpRule> {
        self.yaml.as_ref().and_then(|yaml| yaml.http_rule(service, method))
    }
}

/// Everybody has these.
fn is_well_known(file: &FileDescriptorProto) -> bool {
    file.name().starts_with("google/protobuf/")
}

/// A file with nothing in it.
fn empty(file: &FileDescriptorProto) -> RestFile {
    RestFile {
        name: file.name().to_owned(),
        package: file.package().to_owned(),
        syntax: file.syntax.clone().unwrap_or_else(|| "proto2".to_owned()),
        ..RestFile::default()
    }
}

/// A message without the extensions that it declares, which may be of messages that are left out.
fn bare(mut message: DescriptorProto) -> DescriptorProto {
    message.extension.clear();
    message.nested_type = message.nested_type.into_iter().map(bare).collect();
    message
}
