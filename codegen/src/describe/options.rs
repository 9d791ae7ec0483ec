//! The options of methods that retries care about, read from an encoded `FileDescriptorSet`: the usual
//! types of descriptors drop options that are extensions.

use crate::operation_types::OperationTypes;
use gax_table::IdempotencyLevel;
use prost::{DecodeError, Message};
use std::collections::HashMap;

/// The options of every method, by service and name.
#[derive(Debug, Default)]
pub(crate) struct MethodOptions {
    methods: HashMap<(String, String), Options>,
}

impl MethodOptions {
    pub(crate) fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        let mut methods = HashMap::new();
        for file in FileSet::decode(encoded)?.files {
            for service in file.services {
                let full_name = crate::descriptors::full_name(&file.package, &service.name);
                for method in service.methods {
                    if let Some(options) = method.options {
                        methods.insert((full_name.clone(), method.name), options);
                    }
                }
            }
        }
        Ok(Self { methods })
    }

    /// The types of the operations that a method starts; `None`: it starts none, or says nothing of them.
    pub(crate) fn operation_types(&self, service: &str, method: &str) -> Option<OperationTypes> {
        let info = self.of(service, method)?.operation_info.clone()?;
        Some(OperationTypes { response: info.response_type, metadata: info.metadata_type })
    }

    pub(super) fn of(&self, service: &str, method: &str) -> Option<&Options> {
        self.methods.get(&(service.to_owned(), method.to_owned()))
    }
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
    #[prost(message, repeated, tag = "6")]
    services: Vec<Service>,
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
    #[prost(message, optional, tag = "4")]
    options: Option<Options>,
}

/// `google.protobuf.MethodOptions` with the extensions of Google's APIs.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Options {
    #[prost(int32, tag = "34")]
    idempotency_level: i32,
    /// `google.longrunning.operation_info`
    #[prost(message, optional, tag = "1049")]
    operation_info: Option<OperationInfo>,
    /// `google.cloud.operation_service`
    #[prost(string, optional, tag = "1249")]
    operation_service: Option<String>,
    /// `google.api.http`
    #[prost(message, optional, tag = "72295728")]
    http: Option<HttpRule>,
}

/// `google.longrunning.OperationInfo`
#[derive(Clone, PartialEq, Message)]
struct OperationInfo {
    #[prost(string, tag = "1")]
    response_type: String,
    #[prost(string, tag = "2")]
    metadata_type: String,
}

/// `google.api.HttpRule`
#[derive(Clone, PartialEq, Message)]
struct HttpRule {
    #[prost(string, optional, tag = "2")]
    get: Option<String>,
    #[prost(string, optional, tag = "3")]
    put: Option<String>,
    #[prost(string, optional, tag = "4")]
    post: Option<String>,
    #[prost(string, optional, tag = "5")]
    delete: Option<String>,
    #[prost(string, optional, tag = "6")]
    patch: Option<String>,
    #[prost(message, optional, tag = "8")]
    custom: Option<CustomPattern>,
}

/// `google.api.CustomHttpPattern`
#[derive(Clone, PartialEq, Message)]
struct CustomPattern {
    #[prost(string, tag = "1")]
    kind: String,
}

impl Options {
    pub(super) fn is_long_running(&self) -> bool {
        self.operation_info.is_some() || self.operation_service.is_some()
    }

    pub(super) fn idempotency(&self) -> IdempotencyLevel {
        IdempotencyLevel::from_number(self.idempotency_level)
    }

    pub(super) fn http_verb(&self) -> Option<&str> {
        let rule = self.http.as_ref()?;
        let verbs = [
            ("GET", &rule.get),
            ("PUT", &rule.put),
            ("POST", &rule.post),
            ("DELETE", &rule.delete),
            ("PATCH", &rule.patch),
        ];
        let verb = verbs.into_iter().find(|(_, path)| path.is_some()).map(|(verb, _)| verb);
        verb.or(rule.custom.as_ref().map(|custom| custom.kind.as_str()))
    }
}
