//! Descriptors of services, by reflection.

use prost::Message as _;
use prost_types::{
    DescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto, ServiceDescriptorProto,
};
use std::collections::{BTreeMap, BTreeSet};

/// A method that generated clients in every language know.
const HEALTH: &str = "grpc.health.v1.Health/Check";

/// Descriptors for methods of which only `pkg.Service/Method` is known, and of one that any client can call: their messages have no
/// fields. Encoded.
pub(super) fn made_up(methods: &[String]) -> Vec<u8> {
    let mut services: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let names = methods.iter().map(String::as_str).chain([HEALTH]);
    for (service, method) in names.filter_map(|name| name.trim_start_matches('/').split_once('/')) {
        services.entry(service).or_default().insert(method);
    }
    let proto3 = || Some("proto3".to_owned());
    let messages = FileDescriptorProto {
        name: Some("gax/serve.proto".to_owned()),
        package: Some("gax.serve".to_owned()),
        message_type: vec![DescriptorProto { name: Some("Message".to_owned()), ..Default::default() }],
        syntax: proto3(),
        ..Default::default()
    };
    let message = || Some(".gax.serve.Message".to_owned());
    let files = services.into_iter().map(|(service, methods)| {
        let (package, name) = service.rsplit_once('.').unwrap_or(("", service));
        let method = |name: &str| MethodDescriptorProto {
            name: Some(name.to_owned()),
            input_type: message(),
            output_type: message(),
            ..Default::default()
        };
        FileDescriptorProto {
            name: Some(format!("gax/serve/{service}.proto")),
            package: Some(package.to_owned()),
            dependency: vec!["gax/serve.proto".to_owned()],
            service: vec![ServiceDescriptorProto {
                name: Some(name.to_owned()),
                method: methods.into_iter().map(method).collect(),
                ..Default::default()
            }],
            syntax: proto3(),
            ..Default::default()
        }
    });
    FileDescriptorSet { file: [messages].into_iter().chain(files).collect() }.encode_to_vec()
}
