//! The services of an encoded `FileDescriptorSet`.
//!
//! Only the fields that matter here are read: a whole descriptor library would be a large thing to link for a few messages.

use prost::Message;

/// `google.protobuf.FileDescriptorSet`
#[derive(Clone, PartialEq, Message)]
pub(super) struct FileSet {
    #[prost(message, repeated, tag = "1")]
    pub(super) file: Vec<File>,
}

/// `google.protobuf.FileDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub(super) struct File {
    #[prost(string, optional, tag = "2")]
    pub(super) package: Option<String>,
    #[prost(message, repeated, tag = "6")]
    pub(super) service: Vec<Service>,
}

/// `google.protobuf.ServiceDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Service {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) method: Vec<Method>,
    #[prost(message, optional, tag = "3")]
    pub(super) options: Option<ServiceOptions>,
}

/// `google.protobuf.ServiceOptions`, with the extensions of Google's APIs.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ServiceOptions {
    /// `google.api.default_host`
    #[prost(string, optional, tag = "1049")]
    pub(super) default_host: Option<String>,
    /// `google.api.api_version`
    #[prost(string, optional, tag = "525000001")]
    pub(super) api_version: Option<String>,
}

/// `google.protobuf.MethodDescriptorProto`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Method {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) input_type: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) output_type: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub(super) options: Option<MethodOptions>,
    #[prost(bool, optional, tag = "5")]
    pub(super) client_streaming: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub(super) server_streaming: Option<bool>,
}

/// `google.protobuf.MethodOptions`, with the extensions of Google's APIs.
#[derive(Clone, PartialEq, Message)]
pub(super) struct MethodOptions {
    #[prost(int32, optional, tag = "34")]
    pub(super) idempotency_level: Option<i32>,
    /// `google.api.http`
    #[prost(message, optional, tag = "72295728")]
    pub(super) http: Option<HttpRule>,
    /// `google.api.routing`
    #[prost(message, optional, tag = "72295729")]
    pub(super) routing: Option<RoutingRule>,
}

/// `google.api.HttpRule`
#[derive(Clone, PartialEq, Message)]
pub(super) struct HttpRule {
    #[prost(string, optional, tag = "2")]
    pub(super) get: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) put: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) post: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(super) delete: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) patch: Option<String>,
    #[prost(message, optional, tag = "8")]
    pub(super) custom: Option<CustomPattern>,
}

/// `google.api.CustomHttpPattern`
#[derive(Clone, PartialEq, Message)]
pub(super) struct CustomPattern {
    #[prost(string, tag = "2")]
    pub(super) path: String,
}

/// `google.api.RoutingRule`
#[derive(Clone, PartialEq, Message)]
pub(super) struct RoutingRule {
    #[prost(message, repeated, tag = "2")]
    pub(super) routing_parameters: Vec<RoutingParameter>,
}

/// `google.api.RoutingParameter`
#[derive(Clone, PartialEq, Message)]
pub(super) struct RoutingParameter {
    #[prost(string, tag = "1")]
    pub(super) field: String,
    #[prost(string, tag = "2")]
    pub(super) path_template: String,
}

impl HttpRule {
    /// The path of the main binding.
    pub(super) fn path(&self) -> Option<&str> {
        let paths = [&self.get, &self.put, &self.post, &self.delete, &self.patch];
        let path = paths.into_iter().find_map(Option::as_deref);
        path.or(self.custom.as_ref().map(|custom| custom.path.as_str()))
    }
}

/// A name in a package.
pub(super) fn full_name(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}
