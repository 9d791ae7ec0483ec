//! The types of long-running operations, which protos name in an option: prost resolves names of types only where methods use
//! them, so that each RPC which starts operations gets a method next to it.

use gax_table::{Finding, Severity};
use prost_build::{Method, Service};
use prost_types::source_code_info::Location;
use prost_types::{FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto};
use std::collections::HashSet;

/// How the names of such methods begin, which no proto's can.
const ADDITIONAL: &str = "operation types of ";

const EMPTY: &str = "google.protobuf.Empty";

/// The names of the types of an operation's response and metadata, as an option has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationTypes {
    pub(crate) response: String,
    pub(crate) metadata: String,
}

/// Puts a method next to each RPC for which `types` has some, from the one type to the other. A type that no proto defines is a
/// finding.
pub(crate) fn add(
    set: &mut FileDescriptorSet,
    types: impl Fn(&str, &str) -> Option<OperationTypes>,
) -> Vec<Finding> {
    let known = messages(set);
    let mut findings = Vec::new();
    for file in &mut set.file {
        let package = file.package().to_owned();
        let mut places = Vec::new();
        for (index, service) in file.service.iter_mut().enumerate() {
            let full_name = crate::descriptors::full_name(&package, service.name());
            let mut beside = Vec::new();
            for method in &service.method {
                let Some(types) = types(&full_name, method.name()) else { continue };
                let found = |name: &str| resolve(&known, &package, name);
                // An operation may say nothing about how far it is.
                let metadata = if types.metadata.is_empty() { EMPTY } else { &types.metadata };
                match (found(&types.response), found(metadata)) {
                    (Some(response), Some(metadata)) => beside.push(MethodDescriptorProto {
                        name: Some(format!("{ADDITIONAL}{}", method.name())),
                        input_type: Some(response),
                        output_type: Some(metadata),
                        ..MethodDescriptorProto::default()
                    }),
                    (response, _) => {
                        let (field, name) = if response.is_some() {
                            ("metadata_type", &types.metadata)
                        } else {
                            ("response_type", &types.response)
                        };
                        findings.push(unknown(&full_name, method.name(), field, name));
                    }
                }
            }
            let first = service.method.len();
            places.extend((first..first + beside.len()).map(|method| (index, method)));
            service.method.append(&mut beside);
        }
        locate(file, &places);
    }
    findings
}

fn unknown(service: &str, method: &str, field: &str, name: &str) -> Finding {
    let message = format!(
        "operation_info of {service}/{method} has the {field} \"{name}\", which no proto defines, so that its client can't \
         poll the operation"
    );
    let help = "import the proto that defines it, or say google.protobuf.Empty for nothing";
    Finding::new("unknown-operation-type", Severity::Warning, message).with_help(help)
}

/// prost looks up the comments of each method where a file has any.
fn locate(file: &mut FileDescriptorProto, places: &[(usize, usize)]) {
    let Some(info) = &mut file.source_code_info else { return };
    let number = |index: usize| i32::try_from(index).unwrap_or(i32::MAX);
    info.location.extend(places.iter().map(|(service, method)| Location {
        path: vec![6, number(*service), 2, number(*method)],
        span: vec![0, 0, 0],
        ..Location::default()
    }));
}

/// A type's full name with a leading dot, where a proto defines it: it is looked for from the inside of the package outwards.
fn resolve(known: &HashSet<String>, package: &str, name: &str) -> Option<String> {
    let name = name.trim_start_matches('.');
    let mut scopes: Vec<&str> = vec![package];
    while let Some((outer, _)) = scopes.last().and_then(|scope| scope.rsplit_once('.')) {
        scopes.push(outer);
    }
    let candidates =
        scopes.into_iter().filter(|scope| !scope.is_empty()).map(|scope| format!(".{scope}.{name}"));
    candidates.chain([format!(".{name}")]).find(|candidate| known.contains(candidate))
}

fn messages(set: &FileDescriptorSet) -> HashSet<String> {
    let mut known: HashSet<String> = crate::descriptors::messages(set).into_keys().collect();
    // prost has the well-known types, whether their protos are there or not.
    known.extend([format!(".{EMPTY}"), ".google.protobuf.Struct".to_owned()]);
    known
}

/// The method next to the RPC of that name, whose request is the operation's response and whose response is its metadata.
pub(crate) fn beside<'a>(service: &'a Service, method: &str) -> Option<&'a Method> {
    service.methods.iter().find(|other| other.proto_name.strip_prefix(ADDITIONAL) == Some(method))
}

/// The service as its proto has it.
pub(crate) fn without(mut service: Service) -> Service {
    service.methods.retain(|method| !method.proto_name.starts_with(ADDITIONAL));
    service
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_looked_for_from_the_inside_outwards() {
        let known: HashSet<String> =
            [".a.b.Thing", ".a.Thing", ".Thing", ".a.Other"].map(str::to_owned).into();
        for (package, name, expected) in [
            ("a.b", "Thing", Some(".a.b.Thing")),
            ("a.c", "Thing", Some(".a.Thing")),
            ("x", "Thing", Some(".Thing")),
            ("", "Thing", Some(".Thing")),
            ("a.b", "a.Other", Some(".a.Other")),
            ("a.b", ".a.Other", Some(".a.Other")),
            ("a.b", "Nothing", None),
            ("a.b", "", None),
        ] {
            assert_eq!(resolve(&known, package, name).as_deref(), expected, "{package} {name}");
        }
    }
}
