//! The descriptors that the clients over REST of a build share: all messages, and the RPCs that are called.

use super::options::MethodOptions;
use super::rpcs::{HTTP, rpcs};
use crate::descriptors::full_name;
use crate::join::JoinedService;
use gax_table::descriptors::{self, HttpRule, MessageTypes, Method, Service};
use gax_table::{Finding, ServiceYaml, YamlHttpRule};
use prost::Message;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorSet, ServiceDescriptorProto};
use std::collections::{HashMap, HashSet};

/// The service that long-running operations are polled by.
const OPERATIONS: &str = "google.longrunning.Operations";

/// The descriptors that those of clients over REST are taken from.
#[derive(Debug)]
pub(crate) struct RestDescriptors {
    set: FileDescriptorSet,
    options: MethodOptions,
    yaml: Option<ServiceYaml>,
    /// RPCs by whose rules no requests can be made, by service and name.
    left_out: HashSet<(String, String)>,
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
    service: Vec<Service>,
    #[prost(int32, repeated, packed = "false", tag = "10")]
    public_dependency: Vec<i32>,
    #[prost(string, tag = "12")]
    syntax: String,
}

impl RestDescriptors {
    /// Those of all files, with a finding for each RPC by whose rule no requests can be made. The rules of the service YAML go over those
    /// of the protos.
    pub(crate) fn new(
        set: &FileDescriptorSet,
        options: MethodOptions,
        types: &MessageTypes,
        yaml: Option<&ServiceYaml>,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> (Self, Vec<Finding>) {
        let mut rest = Self { set: set.clone(), options, yaml: yaml.cloned(), left_out: HashSet::new() };
        let mut unusable = Vec::new();
        for rpc in rpcs(set).filter(|rpc| is_wanted(&rpc.service, rpc.method.name())) {
            let (service, method) = (rpc.service.as_str(), rpc.method.name());
            let Some(rule) = rest.rule(service, method) else { continue };
            if let Err(error) = rule.check(rpc.method.input_type(), rpc.method.output_type(), types) {
                let of_yaml = rest.yaml_rule(service, method).map(|_| "the service YAML".to_owned());
                let place = of_yaml.unwrap_or_else(|| rpc.place_of(HTTP));
                unusable.push(rpc.unusable(&place, &error, "the client over REST does not have it"));
                rest.left_out.insert(rpc.key());
            }
        }
        (rest, unusable)
    }

    /// Those of these services' clients, encoded.
    pub(crate) fn encode<'a>(&self, services: impl Iterator<Item = &'a JoinedService>) -> Vec<u8> {
        let mut methods: HashMap<&str, HashSet<&str>> = HashMap::new();
        for method in services.flat_map(|joined| &joined.methods) {
            methods.entry(&method.service).or_default().insert(&method.name);
            if method.polling.is_some() {
                let polled = ["GetOperation", "CancelOperation", "DeleteOperation", "WaitOperation"];
                methods.entry(OPERATIONS).or_default().extend(polled);
            }
        }
        // Everybody has the files of protobuf itself.
        let files = self.set.file.iter().filter(|file| !file.name().starts_with("google/protobuf/"));
        let file = files.map(|file| {
            let service = file.service.iter().filter_map(|service| {
                let name = full_name(file.package(), service.name());
                Some(self.service(&name, service, methods.get(name.as_str())?))
            });
            RestFile {
                name: file.name().to_owned(),
                package: file.package().to_owned(),
                dependency: file.dependency.clone(),
                public_dependency: file.public_dependency.clone(),
                message_type: file.message_type.iter().cloned().map(bare).collect(),
                enum_type: file.enum_type.clone(),
                service: service.collect(),
                syntax: file.syntax.clone().unwrap_or_else(|| "proto2".to_owned()),
            }
        });
        RestSet { file: file.collect() }.encode_to_vec()
    }

    fn service(&self, name: &str, service: &ServiceDescriptorProto, wanted: &HashSet<&str>) -> Service {
        let methods = service.method.iter().filter(|method| wanted.contains(method.name()));
        let method = methods.map(|method| Method {
            name: method.name.clone(),
            input_type: method.input_type.clone(),
            output_type: method.output_type.clone(),
            options: self.rule(name, method.name()).map(|rule| descriptors::MethodOptions {
                http: Some(rule),
                ..descriptors::MethodOptions::default()
            }),
            client_streaming: method.client_streaming,
            server_streaming: method.server_streaming,
        });
        let options = self.options.of_service(name).cloned();
        Service { name: service.name.clone(), method: method.collect(), options }
    }

    fn rule(&self, service: &str, method: &str) -> Option<HttpRule> {
        if self.left_out.contains(&(service.to_owned(), method.to_owned())) {
            return None;
        }
        let of_proto = || self.options.of(service, method)?.http.clone();
        self.yaml_rule(service, method).map(of_yaml).or_else(of_proto)
    }

    fn yaml_rule(&self, service: &str, method: &str) -> Option<&YamlHttpRule> {
        self.yaml.as_ref().and_then(|yaml| yaml.http_rule(service, method))
    }
}

/// A message without the extensions that it declares, which may be of messages that are left out.
fn bare(mut message: DescriptorProto) -> DescriptorProto {
    message.extension.clear();
    message.nested_type = message.nested_type.into_iter().map(bare).collect();
    message
}

/// The rule that a service YAML has.
fn of_yaml(rule: &YamlHttpRule) -> HttpRule {
    HttpRule {
        body: rule.body.clone(),
        response_body: rule.response_body.clone(),
        additional_bindings: rule.additional_bindings.iter().map(of_yaml).collect(),
        ..HttpRule::new(&rule.verb, &rule.path)
    }
}
