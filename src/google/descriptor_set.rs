//! The services of an encoded `FileDescriptorSet`.
//!
//! Only the fields that matter here are read: a whole descriptor library would be a large thing to link for a few messages.

use prost::Message;

/// `google.protobuf.FileDescriptorSet`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FileSet {
    #[prost(message, repeated, tag = "1")]
    pub(crate) file: Vec<File>,
}

/// `google.protobuf.FileDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct File {
    #[prost(string, optional, tag = "2")]
    pub(crate) package: Option<String>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) service: Vec<Service>,
}

/// `google.protobuf.ServiceDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Service {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) method: Vec<Method>,
    #[prost(message, optional, tag = "3")]
    pub(crate) options: Option<ServiceOptions>,
}

/// `google.protobuf.ServiceOptions`, with the extensions of Google's APIs.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ServiceOptions {
    /// `google.api.default_host`
    #[prost(string, optional, tag = "1049")]
    pub(crate) default_host: Option<String>,
    /// `google.api.api_version`
    #[prost(string, optional, tag = "525000001")]
    pub(crate) api_version: Option<String>,
}

/// `google.protobuf.MethodDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Method {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) input_type: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(crate) output_type: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub(crate) options: Option<MethodOptions>,
    #[prost(bool, optional, tag = "5")]
    pub(crate) client_streaming: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub(crate) server_streaming: Option<bool>,
}

/// `google.protobuf.MethodOptions`, with the extensions of Google's APIs.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MethodOptions {
    #[prost(int32, optional, tag = "34")]
    pub(crate) idempotency_level: Option<i32>,
    /// `google.api.http`
    #[prost(message, optional, tag = "72295728")]
    pub(crate) http: Option<HttpRule>,
    /// `google.api.routing`
    #[prost(message, optional, tag = "72295729")]
    pub(crate) routing: Option<RoutingRule>,
}

/// `google.api.HttpRule`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HttpRule {
    #[prost(string, optional, tag = "2")]
    pub(crate) get: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(crate) put: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(crate) post: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(crate) delete: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub(crate) patch: Option<String>,
    #[prost(string, tag = "7")]
    pub(crate) body: String,
    #[prost(message, optional, tag = "8")]
    pub(crate) custom: Option<CustomPattern>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) additional_bindings: Vec<HttpRule>,
    #[prost(string, tag = "12")]
    pub(crate) response_body: String,
}

/// `google.api.CustomHttpPattern`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CustomPattern {
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    #[prost(string, tag = "2")]
    pub(crate) path: String,
}

/// `google.api.RoutingRule`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RoutingRule {
    #[prost(message, repeated, tag = "2")]
    pub(crate) routing_parameters: Vec<RoutingParameter>,
}

/// `google.api.RoutingParameter`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RoutingParameter {
    #[prost(string, tag = "1")]
    pub(crate) field: String,
    #[prost(string, tag = "2")]
    pub(crate) path_template: String,
}

impl HttpRule {
    /// The verb and the path of the main binding.
    pub(crate) fn pattern(&self) -> Option<(&str, &str)> {
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
}

/// A name in a package.
pub(crate) fn full_name(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}
