//! The kinds of methods, and whether they are idempotent, from compiled descriptors.

use crate::google::MethodAnnotations;
use crate::grpc::methods::annotations::annotations;
use crate::grpc::methods::descriptor_error::{DescriptorError, Problem};
use gax_retry::MethodKind;
use gax_table::descriptors::{FileSet, Method, full_name};
use prost::Message;
use std::collections::HashMap;
use std::sync::Arc;

/// The facts that descriptors have of a method.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) kind: MethodKind,
    pub(crate) is_idempotent: bool,
    pub(crate) is_read_only: bool,
    /// Google's annotations, where headers follow from them.
    pub(crate) annotations: Option<Arc<MethodAnnotations>>,
}

/// The methods that descriptors were given for, by path without the leading slash.
pub(crate) type Descriptions = HashMap<Box<str>, Described>;

/// The methods in an encoded `FileDescriptorSet`.
pub(crate) fn descriptions(encoded: &[u8]) -> Result<Descriptions, DescriptorError> {
    let set = FileSet::decode(encoded).map_err(Problem::Bytes)?;
    let mut annotations = annotations(&set, encoded)?;
    let mut descriptions = Descriptions::new();
    for file in &set.file {
        for service in &file.service {
            let service_name = full_name(file.package(), service.name());
            for method in &service.method {
                let path = format!("{service_name}/{}", method.name());
                let annotations = annotations.remove(&path).map(Arc::new);
                descriptions.insert(path.into_boxed_str(), Described { annotations, ..described(method) });
            }
        }
    }
    Ok(descriptions)
}

fn described(method: &Method) -> Described {
    let description = method.description();
    Described {
        kind: description.kind(),
        is_idempotent: description.is_idempotent(),
        is_read_only: description.is_read_only(),
        annotations: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_table::descriptors::{File, HttpRule, MethodOptions, Service};

    #[test]
    fn the_four_kinds_are_distinguished() {
        let method = |name: &str, client: Option<bool>, server: Option<bool>| Method {
            name: Some(name.to_owned()),
            client_streaming: client,
            server_streaming: server,
            ..Method::default()
        };
        let service = Service {
            name: Some("Talk".to_owned()),
            method: vec![
                method("Ask", None, None),
                method("Listen", None, Some(true)),
                method("Tell", Some(true), Some(false)),
                method("Chat", Some(true), Some(true)),
            ],
            options: None,
        };
        let file = File { package: Some("pkg.v1".to_owned()), service: vec![service.clone()] };
        let bare = File { package: None, service: vec![service] };
        let found = descriptions(&FileSet { file: vec![file, bare] }.encode_to_vec()).unwrap();
        assert_eq!(found.len(), 8);
        assert_eq!(found["pkg.v1.Talk/Ask"].kind, MethodKind::Unary);
        assert_eq!(found["pkg.v1.Talk/Listen"].kind, MethodKind::ServerStreaming);
        assert_eq!(found["Talk/Tell"].kind, MethodKind::ClientStreaming);
        assert_eq!(found["Talk/Chat"].kind, MethodKind::BidiStreaming);
        assert!(found.values().all(|method| !method.is_idempotent));
    }

    #[test]
    fn idempotent_methods_are_those_whose_options_say_so() {
        let path = || Some("/v1/books".to_owned());
        let rule = |get, put, delete| Some(HttpRule { get, put, delete, ..HttpRule::default() });
        let options = |idempotency_level, http| {
            Some(MethodOptions { idempotency_level, http, ..MethodOptions::default() })
        };
        for (options, returns, expected) in [
            (None, "Book", false),
            (options(None, None), "Book", false),
            (options(Some(1), None), "Book", true),
            (options(Some(2), None), "google.longrunning.Operation", true),
            (options(Some(0), rule(path(), None, None)), "Book", true),
            (options(None, rule(None, path(), None)), "Book", true),
            (options(None, rule(None, None, path())), "Book", true),
            (options(None, rule(None, None, path())), "google.longrunning.Operation", false),
            // A POST or PATCH.
            (options(None, rule(None, None, None)), "Book", false),
        ] {
            let output_type = Some(format!(".{returns}"));
            let method = Method { output_type, options: options.clone(), ..Method::default() };
            assert_eq!(described(&method).is_idempotent, expected, "{options:?} {returns}");
        }
    }

    #[test]
    fn other_bytes_are_an_error() {
        assert!(descriptions(b"\xff\xff").is_err());
        assert!(descriptions(b"").unwrap().is_empty());
    }
}
