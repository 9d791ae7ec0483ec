//! Services, with the options of Google's APIs.

use crate::{
    HttpBinding, IdempotencyLevel, MessageFields, MethodDescription, RequestParam, RoutingError,
    ServiceDescription, http_params, routing_params,
};
use gax_retry::MethodKind;
use prost::Message;

/// `google.protobuf.FileDescriptorSet`
#[derive(Clone, PartialEq, Message)]
pub struct FileSet {
    #[prost(message, repeated, tag = "1")]
    pub file: Vec<File>,
}

/// `google.protobuf.FileDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct File {
    #[prost(string, optional, tag = "2")]
    pub package: Option<String>,
    #[prost(message, repeated, tag = "6")]
    pub service: Vec<Service>,
}

/// `google.protobuf.ServiceDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct Service {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub method: Vec<Method>,
    #[prost(message, optional, tag = "3")]
    pub options: Option<ServiceOptions>,
}

/// `google.protobuf.ServiceOptions`
#[derive(Clone, PartialEq, Message)]
pub struct ServiceOptions {
    /// `google.api.default_host`
    #[prost(string, optional, tag = "1049")]
    pub default_host: Option<String>,
    /// `google.api.api_version`
    #[prost(string, optional, tag = "525000001")]
    pub api_version: Option<String>,
}

/// `google.protobuf.MethodDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub struct Method {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub input_type: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub output_type: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub options: Option<MethodOptions>,
    #[prost(bool, optional, tag = "5")]
    pub client_streaming: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub server_streaming: Option<bool>,
}

/// `google.protobuf.MethodOptions`
#[derive(Clone, PartialEq, Message)]
pub struct MethodOptions {
    #[prost(int32, optional, tag = "34")]
    pub idempotency_level: Option<i32>,
    /// `google.longrunning.operation_info`
    #[prost(message, optional, tag = "1049")]
    pub operation_info: Option<OperationInfo>,
    /// `google.cloud.operation_service`
    #[prost(string, optional, tag = "1249")]
    pub operation_service: Option<String>,
    /// `google.api.http`
    #[prost(message, optional, tag = "72295728")]
    pub http: Option<HttpRule>,
    /// `google.api.routing`
    #[prost(message, optional, tag = "72295729")]
    pub routing: Option<RoutingRule>,
}

/// `google.longrunning.OperationInfo`
#[derive(Clone, PartialEq, Message)]
pub struct OperationInfo {
    #[prost(string, tag = "1")]
    pub response_type: String,
    #[prost(string, tag = "2")]
    pub metadata_type: String,
}

/// `google.api.HttpRule`
#[derive(Clone, PartialEq, Message)]
pub struct HttpRule {
    #[prost(string, optional, tag = "2")]
    pub get: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub put: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub post: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub delete: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub patch: Option<String>,
    #[prost(string, tag = "7")]
    pub body: String,
    #[prost(message, optional, tag = "8")]
    pub custom: Option<CustomPattern>,
    #[prost(message, repeated, tag = "11")]
    pub additional_bindings: Vec<HttpRule>,
    #[prost(string, tag = "12")]
    pub response_body: String,
}

/// `google.api.CustomHttpPattern`
#[derive(Clone, PartialEq, Message)]
pub struct CustomPattern {
    #[prost(string, tag = "1")]
    pub kind: String,
    #[prost(string, tag = "2")]
    pub path: String,
}

/// `google.api.RoutingRule`
#[derive(Clone, PartialEq, Message)]
pub struct RoutingRule {
    #[prost(message, repeated, tag = "2")]
    pub routing_parameters: Vec<RoutingParameter>,
}

/// `google.api.RoutingParameter`
#[derive(Clone, PartialEq, Message)]
pub struct RoutingParameter {
    #[prost(string, tag = "1")]
    pub field: String,
    #[prost(string, tag = "2")]
    pub path_template: String,
}

impl FileSet {
    /// The services of all files, as far as retries depend on them.
    pub fn services(&self) -> impl Iterator<Item = ServiceDescription> {
        let services =
            self.file.iter().flat_map(|file| file.service.iter().map(move |service| (file, service)));
        services.map(|(file, service)| {
            let description = ServiceDescription::new(full_name(file.package(), service.name()));
            service.method.iter().map(Method::description).fold(description, ServiceDescription::with_method)
        })
    }
}

impl Method {
    /// The method, as far as retries depend on it.
    pub fn description(&self) -> MethodDescription {
        let kind = match (self.client_streaming(), self.server_streaming()) {
            (false, false) => MethodKind::Unary,
            (false, true) => MethodKind::ServerStreaming,
            (true, false) => MethodKind::ClientStreaming,
            (true, true) => MethodKind::BidiStreaming,
        };
        let mut description = MethodDescription::new(self.name(), kind);
        if self.output_type() == ".google.longrunning.Operation" {
            description = description.returning_operation();
        }
        if let Some(options) = &self.options {
            description = description.with_idempotency(options.idempotency());
            if let Some((verb, _)) = options.http_pattern() {
                description = description.with_http_verb(verb);
            }
        }
        description
    }
}

impl MethodOptions {
    /// Returns whether the method starts long-running operations.
    #[must_use]
    pub fn is_long_running(&self) -> bool {
        self.operation_info.is_some() || self.operation_service.is_some()
    }

    /// Returns whether it may be carried out twice.
    #[must_use]
    pub fn idempotency(&self) -> IdempotencyLevel {
        IdempotencyLevel::from_number(self.idempotency_level())
    }

    /// The verb and the path of the main binding of `google.api.http`.
    #[must_use]
    pub fn http_pattern(&self) -> Option<(&str, &str)> {
        self.http.as_ref()?.pattern()
    }

    /// What requests are routed by: `google.api.routing` or, without it, for a service of Google's `google.api.http`.
    ///
    /// # Errors
    ///
    /// The annotation doesn't fit the request.
    pub fn routed_by(
        &self,
        is_of_google: bool,
        request: &str,
        fields: &impl MessageFields,
    ) -> Result<Vec<RequestParam>, RoutingError> {
        match (&self.routing, self.http_pattern().filter(|_| is_of_google)) {
            (Some(routing), _) => routing_params(routing.fields(), request, fields),
            (None, Some((_, path))) => http_params(path, request, fields),
            (None, None) => Ok(Vec::new()),
        }
    }
}

impl RoutingRule {
    /// The fields with their templates.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.routing_parameters.iter().map(|parameter| (&*parameter.field, &*parameter.path_template))
    }
}

impl HttpRule {
    /// A rule with any verb.
    #[must_use]
    pub fn new(verb: &str, path: &str) -> Self {
        let mut rule = Self::default();
        let path = path.to_owned();
        match verb {
            "GET" => rule.get = Some(path),
            "PUT" => rule.put = Some(path),
            "POST" => rule.post = Some(path),
            "DELETE" => rule.delete = Some(path),
            "PATCH" => rule.patch = Some(path),
            verb => rule.custom = Some(CustomPattern { kind: verb.to_owned(), path }),
        }
        rule
    }

    /// The verb and the path of the main binding.
    #[must_use]
    pub fn pattern(&self) -> Option<(&str, &str)> {
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

    /// Checks that requests can be made by the rule and its additional bindings, given the names of the messages.
    ///
    /// # Errors
    ///
    /// The messages don't fit the rule.
    pub fn check(
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

/// A name in a package.
#[must_use]
pub fn full_name(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}
