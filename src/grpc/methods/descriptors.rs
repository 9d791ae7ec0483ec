//! The kinds of methods, from compiled descriptors.
//!
//! Only the fields that tell a method's kind are read: a whole descriptor library would be a large thing
//! to link for four messages.

use super::table::Kinds;
use gax_retry::MethodKind;
use prost::Message;

/// `google.protobuf.FileDescriptorSet`.
#[derive(Clone, PartialEq, Message)]
struct FileSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<File>,
}

/// `google.protobuf.FileDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, optional, tag = "2")]
    package: Option<String>,
    #[prost(message, repeated, tag = "6")]
    service: Vec<Service>,
}

/// `google.protobuf.ServiceDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    method: Vec<Method>,
}

/// `google.protobuf.MethodDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Method {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(bool, optional, tag = "5")]
    client_streaming: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    server_streaming: Option<bool>,
}

/// The kind of every method in an encoded `FileDescriptorSet`.
pub(crate) fn kinds(encoded: &[u8]) -> Result<Kinds, DescriptorError> {
    let set = FileSet::decode(encoded).map_err(DescriptorError)?;
    let mut kinds = Kinds::new();
    for file in &set.file {
        let package = file.package();
        for service in &file.service {
            let dot = if package.is_empty() { "" } else { "." };
            for method in &service.method {
                let path = format!("{package}{dot}{}/{}", service.name(), method.name());
                kinds.insert(path.into_boxed_str(), kind(method));
            }
        }
    }
    Ok(kinds)
}

fn kind(method: &Method) -> MethodKind {
    match (method.client_streaming(), method.server_streaming()) {
        (false, false) => MethodKind::Unary,
        (false, true) => MethodKind::ServerStreaming,
        (true, false) => MethodKind::ClientStreaming,
        (true, true) => MethodKind::BidiStreaming,
    }
}

/// Bytes that are no `FileDescriptorSet`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescriptorError(prost::DecodeError);

impl std::fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the bytes are no encoded google.protobuf.FileDescriptorSet")
    }
}

impl std::error::Error for DescriptorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_kinds_are_told_apart() {
        let method = |name: &str, client: Option<bool>, server: Option<bool>| Method {
            name: Some(name.to_owned()),
            client_streaming: client,
            server_streaming: server,
        };
        let service = Service {
            name: Some("Talk".to_owned()),
            method: vec![
                method("Ask", None, None),
                method("Listen", None, Some(true)),
                method("Tell", Some(true), Some(false)),
                method("Chat", Some(true), Some(true)),
            ],
        };
        let file = File { package: Some("pkg.v1".to_owned()), service: vec![service.clone()] };
        let bare = File { package: None, service: vec![service] };
        let kinds = kinds(&FileSet { file: vec![file, bare] }.encode_to_vec()).unwrap();
        assert_eq!(kinds.len(), 8);
        assert_eq!(kinds["pkg.v1.Talk/Ask"], MethodKind::Unary);
        assert_eq!(kinds["pkg.v1.Talk/Listen"], MethodKind::ServerStreaming);
        assert_eq!(kinds["Talk/Tell"], MethodKind::ClientStreaming);
        assert_eq!(kinds["Talk/Chat"], MethodKind::BidiStreaming);
    }

    #[test]
    fn other_bytes_are_an_error() {
        assert!(kinds(b"\xff\xff").is_err());
        assert!(kinds(b"").unwrap().is_empty());
    }
}
