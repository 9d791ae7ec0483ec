//! The options of methods that retries care about, read from an encoded `FileDescriptorSet`: the usual
//! types of descriptors drop options that are extensions.

use crate::operation_types::OperationTypes;
use gax_table::{HttpBinding, IdempotencyLevel, MessageFields, RoutingError, YamlHttpRule};
use prost::{DecodeError, Message};
use std::collections::HashMap;

/// The options of every method, by service and name.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodOptions {
    methods: HashMap<(String, String), Options>,
    services: HashMap<String, ServiceOptions>,
}

impl MethodOptions {
    pub(crate) fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        let (mut methods, mut services) = (HashMap::new(), HashMap::new());
        for file in FileSet::decode(encoded)?.files {
            for service in file.services {
                let full_name = crate::descriptors::full_name(&file.package, &service.name);
                services.insert(full_name.clone(), service.options.unwrap_or_default());
                for method in service.methods {
                    if let Some(options) = method.options {
                        methods.insert((full_name.clone(), method.name), options);
                    }
                }
            }
        }
        Ok(Self { methods, services })
    }

    pub(super) fn of_service(&self, service: &str) -> Option<&ServiceOptions> {
        self.services.get(service)
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
    #[prost(message, optional, tag = "3")]
    options: Option<ServiceOptions>,
}

/// `google.protobuf.ServiceOptions` with the extensions of Google's APIs.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ServiceOptions {
    /// `google.api.default_host`
    #[prost(string, optional, tag = "1049")]
    pub(super) default_host: Option<String>,
    /// `google.api.api_version`
    #[prost(string, optional, tag = "525000001")]
    pub(super) api_version: Option<String>,
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
    /// `google.api.routing`
    #[prost(message, optional, tag = "72295729")]
    routing: Option<RoutingRule>,
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
pub(super) struct HttpRule {
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
    #[prost(string, tag = "7")]
    body: String,
    #[prost(message, optional, tag = "8")]
    custom: Option<CustomPattern>,
    #[prost(message, repeated, tag = "11")]
    additional_bindings: Vec<HttpRule>,
    #[prost(string, tag = "12")]
    response_body: String,
}

/// `google.api.CustomHttpPattern`
#[derive(Clone, PartialEq, Message)]
struct CustomPattern {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    path: String,
}

/// `google.api.RoutingRule`
#[derive(Clone, PartialEq, Message)]
struct RoutingRule {
    #[prost(message, repeated, tag = "2")]
    parameters: Vec<RoutingParameter>,
}

/// `google.api.RoutingParameter`
#[derive(Clone, PartialEq, Message)]
struct RoutingParameter {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    path_template: String,
}

impl Options {
    pub(super) fn is_long_running(&self) -> bool {
        self.operation_info.is_some() || self.operation_service.is_some()
    }

    pub(super) fn idempotency(&self) -> IdempotencyLevel {
        IdempotencyLevel::from_number(self.idempotency_level)
    }

    /// The fields of `google.api.routing` with their templates.
    pub(super) fn routing(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        let parameters = self.routing.as_ref()?.parameters.iter();
        Some(parameters.map(|parameter| (&*parameter.field, &*parameter.path_template)))
    }

    /// `google.api.http`
    pub(super) fn http(&self) -> Option<&HttpRule> {
        self.http.as_ref()
    }

    /// The path of the main binding of `google.api.http`.
    pub(super) fn http_path(&self) -> Option<&str> {
        self.http.as_ref()?.pattern().map(|(_, path)| path)
    }

    pub(super) fn http_verb(&self) -> Option<&str> {
        self.http.as_ref()?.pattern().map(|(verb, _)| verb)
    }
}

impl HttpRule {
    /// The rule that a service YAML has.
    pub(super) fn of_yaml(rule: &YamlHttpRule) -> Self {
        let of = |verb: &str| (rule.verb == verb).then(|| rule.path.clone());
        let (get, put, post, delete, patch) = (of("GET"), of("PUT"), of("POST"), of("DELETE"), of("PATCH"));
        let is_usual = [&get, &put, &post, &delete, &patch].into_iter().any(Option::is_some);
        let custom = || CustomPattern { kind: rule.verb.clone(), path: rule.path.clone() };
        Self {
            get,
            put,
            post,
            delete,
            patch,
            body: rule.body.clone(),
            custom: (!is_usual).then(custom),
            additional_bindings: rule.additional_bindings.iter().map(Self::of_yaml).collect(),
            response_body: rule.response_body.clone(),
        }
    }

    /// The verb and the path of the main binding.
    pub(super) fn pattern(&self) -> Option<(&str, &str)> {
        let patterns = [
            ("GET", &self.get),
            ("PUT", &self.put),
            ("POST", &self.post),
            ("DELETE", &self.delete),
            ("PATCH", &self.patch),
        ];
        let pattern = patterns.into_iter().find_map(|(verb, path)| Some((verb, path.as_deref()?)));
        pattern.or(self.custom.as_ref().map(|custom| (&*custom.kind, &*custom.path)))
    }

    /// Whether requests can be made by the rule and its additional bindings, given the names of the messages.
    pub(super) fn check(
        &self,
        request: &str,
        response: &str,
        fields: &impl MessageFields,
    ) -> Result<(), RoutingError> {
        if self.additional_bindings.iter().any(|rule| !rule.additional_bindings.is_empty()) {
            return Err(RoutingError::nested_bindings());
        }
        for rule in std::iter::once(self).chain(&self.additional_bindings) {
            let Some((verb, path)) = rule.pattern() else { continue };
            let binding = HttpBinding { verb, path, body: &rule.body, response_body: &rule.response_body };
            binding.check(request, response, fields)?;
        }
        Ok(())
    }
}
