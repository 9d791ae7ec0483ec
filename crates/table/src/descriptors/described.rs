//! The methods that compiled descriptors have.

use super::{FileSet, full_name};
use gax_retry::MethodFacts;
use prost::Message;

/// The methods of compiled descriptors: by their paths, which sides of a call stream, and whether they are idempotent.
///
/// `RetryLayer::facts` takes a reference to it, [`deny_unknown_methods`](crate::RetryTable::deny_unknown_methods) its
/// [paths](Self::paths).
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
/// use gax_table::descriptors::Descriptors;
/// use tonic_gax::RetryLayer;
///
/// # fn example(table: RetryTable, encoded: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
/// let descriptors = Descriptors::decode(encoded)?;
/// table.deny_unknown_methods(descriptors.paths())?;
/// let layer = RetryLayer::new(table).facts(&descriptors);
/// # drop(layer);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Descriptors {
    methods: Vec<(String, MethodFacts)>,
}

impl Descriptors {
    /// Reads an encoded `FileDescriptorSet`, as tonic-build and protoc write it.
    ///
    /// # Errors
    ///
    /// The bytes are something else.
    pub fn decode(encoded: &[u8]) -> Result<Self, DescriptorError> {
        let set = FileSet::decode(encoded).map_err(DescriptorError)?;
        let mut methods = Vec::new();
        for file in &set.file {
            for service in &file.service {
                let service_name = full_name(file.package(), service.name());
                methods.extend(service.method.iter().map(|method| {
                    let description = method.description();
                    let facts = MethodFacts::new(description.kind())
                        .read_only(description.is_read_only())
                        .idempotent(description.is_idempotent());
                    (format!("{service_name}/{}", method.name()), facts)
                }));
            }
        }
        Ok(Self { methods })
    }

    /// Returns the methods: their paths, without the leading slash, and the facts of each.
    #[must_use]
    pub fn iter(&self) -> std::vec::IntoIter<(&str, MethodFacts)> {
        let methods: Vec<_> = self.methods.iter().map(|(path, facts)| (&**path, *facts)).collect();
        methods.into_iter()
    }

    /// Returns the paths of the methods, without the leading slash.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().map(|(path, _)| &**path)
    }
}

impl<'a> IntoIterator for &'a Descriptors {
    type Item = (&'a str, MethodFacts);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Bytes that are not an encoded `FileDescriptorSet`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescriptorError(prost::DecodeError);

gax_text::error_text! {
    self: DescriptorError => Some(&self.0),
    "the bytes are not an encoded google.protobuf.FileDescriptorSet"
}

#[cfg(test)]
mod tests {
    use super::super::{File, HttpRule, Method, MethodOptions, Service};
    use super::*;
    use gax_retry::MethodKind;

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
        let found = Descriptors::decode(&FileSet { file: vec![file, bare] }.encode_to_vec()).unwrap();
        assert_eq!(found.paths().count(), 8);
        let kind = |path| found.into_iter().find(|(own, _)| *own == path).map(|(_, facts)| facts.kind());
        assert_eq!(kind("pkg.v1.Talk/Ask"), Some(MethodKind::Unary));
        assert_eq!(kind("pkg.v1.Talk/Listen"), Some(MethodKind::ServerStreaming));
        assert_eq!(kind("Talk/Tell"), Some(MethodKind::ClientStreaming));
        assert_eq!(kind("Talk/Chat"), Some(MethodKind::BidiStreaming));
        assert!(found.into_iter().all(|(_, facts)| !facts.is_idempotent()));
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
            let service = Service { name: Some("A".to_owned()), method: vec![method], options: None };
            let set = FileSet { file: vec![File { package: None, service: vec![service] }] };
            let found = Descriptors::decode(&set.encode_to_vec()).unwrap();
            let is_idempotent = found.into_iter().next().unwrap().1.is_idempotent();
            assert_eq!(is_idempotent, expected, "{options:?} {returns}");
        }
    }

    #[test]
    fn other_bytes_are_an_error() {
        assert!(Descriptors::decode(b"\xff\xff").is_err());
        assert_eq!(Descriptors::decode(b"").unwrap().paths().count(), 0);
    }
}
