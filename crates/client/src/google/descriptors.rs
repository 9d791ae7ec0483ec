//! Google's annotations in compiled descriptors, as far as the headers of methods follow from them.

use crate::google::google_headers::GoogleHeaders;
use crate::google::method_headers::{ClientHeaders, MethodAnnotations};
use crate::google::request_param::RequestParam;
use gax_table::RoutingError;
use gax_table::descriptors::{FileSet, MessageTypes, full_name};
use prost::Message;
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use tonic_gax::headers::MethodHeaders;

impl GoogleHeaders {
    /// Returns these headers for [`RetryLayer::headers`](tonic_gax::RetryLayer::headers), with what requests are routed by and the version of the
    /// API as far as compiled descriptors have Google's annotations (an encoded `FileDescriptorSet`, as tonic-build and protoc write
    /// it; it may be empty). Generated clients always send them.
    ///
    /// The routing header can't be derived from a request that tonic has compressed, so don't compress requests.
    ///
    /// # Errors
    ///
    /// The bytes are not a `FileDescriptorSet`, or `google.api.routing` or, in a service with a `google.api.default_host`,
    /// `google.api.http` of a method can't be used: its path template does not parse, or names a field that is not there.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_client::google::GoogleHeaders;
    /// use tonic_gax::{MethodPolicies, RetryLayer};
    ///
    /// # fn example(policies: MethodPolicies, descriptors: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    /// let headers = GoogleHeaders::new().quota_project("billed-project")?;
    /// let layer = RetryLayer::new(policies).headers(headers.for_descriptors(descriptors)?);
    /// # drop(layer);
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_descriptors(
        &self,
        encoded: &[u8],
    ) -> Result<impl Fn(&str) -> Option<MethodHeaders> + Send + Sync + use<>, AnnotationError> {
        let set = FileSet::decode(encoded).map_err(Problem::Bytes)?;
        let annotations = annotations(&set, encoded)?;
        let headers = ClientHeaders::new(self, None);
        Ok(move |path: &str| Some(headers.of_method(annotations.get(path))))
    }
}

/// The annotations of methods, by path without the leading slash; of methods without any there is nothing. `encoded` are the same
/// descriptors, of which the messages are read where an annotation needs them.
fn annotations(services: &FileSet, encoded: &[u8]) -> Result<HashMap<String, MethodAnnotations>, Problem> {
    let mut types = None;
    let mut found = HashMap::new();
    for file in &services.file {
        for service in &file.service {
            let options = service.options.clone().unwrap_or_default();
            let service_name = full_name(file.package(), service.name());
            for method in &service.method {
                let path = format!("{service_name}/{}", method.name());
                let rule = method.options.as_ref().filter(|rule| {
                    rule.routing.is_some() || (options.default_host.is_some() && rule.http.is_some())
                });
                let params = match rule {
                    None => Vec::new(),
                    Some(rule) => {
                        if types.is_none() {
                            types = Some(MessageTypes::decode(encoded).map_err(Problem::Bytes)?);
                        }
                        let fields = types.get_or_insert_default();
                        let params =
                            rule.routed_by(options.default_host.is_some(), method.input_type(), fields);
                        let params =
                            params.map_err(|error| Problem::Annotation { method: path.clone(), error })?;
                        params.into_iter().map(RequestParam::from).collect()
                    }
                };
                let annotations = MethodAnnotations::read(params, options.api_version.clone());
                if !annotations.is_empty() {
                    found.insert(path, annotations);
                }
            }
        }
    }
    Ok(found)
}

/// Bytes that are no `FileDescriptorSet`, or a method in them whose annotations can't be used.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationError(Problem);

#[derive(Debug, Clone, PartialEq)]
enum Problem {
    Bytes(prost::DecodeError),
    Annotation { method: String, error: RoutingError },
}

impl From<Problem> for AnnotationError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl fmt::Display for AnnotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::Bytes(_) => {
                f.write_str("the bytes are not an encoded google.protobuf.FileDescriptorSet")
            }
            Problem::Annotation { method, error } => write!(f, "{method}: {error}; {}", error.help()),
        }
    }
}

impl Error for AnnotationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Problem::Bytes(error) => Some(error),
            Problem::Annotation { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_table::descriptors::{
        EnumType, EnumValue, Field, File, HttpRule, MessageFile, MessageSet, MessageType, Method,
        MethodOptions, RoutingParameter, RoutingRule, Service, ServiceOptions,
    };

    /// The descriptors of `a.v1.A`, whose method `Get` has that path and that routing parameter, and of its request.
    fn encoded(host: Option<&str>, path: Option<&str>, routing: Option<(&str, &str)>) -> Vec<u8> {
        let text = |text: &str| Some(text.to_owned());
        let routing = routing.map(|(field, path_template)| RoutingRule {
            routing_parameters: vec![RoutingParameter {
                field: field.to_owned(),
                path_template: path_template.to_owned(),
            }],
        });
        let http = path.map(|path| HttpRule { get: text(path), ..HttpRule::default() });
        let method = Method {
            name: text("Get"),
            input_type: text(".a.v1.Request"),
            options: Some(MethodOptions { http, routing, ..MethodOptions::default() }),
            ..Method::default()
        };
        let options = ServiceOptions { default_host: host.map(str::to_owned), api_version: None };
        let service = Service { name: text("A"), method: vec![method], options: Some(options) };
        let services = FileSet { file: vec![File { package: text("a.v1"), service: vec![service] }] };
        let field = |name, number, kind: i32, type_name: &str| Field {
            name: text(name),
            number: Some(number),
            label: Some(1),
            kind: Some(kind),
            type_name: text(type_name),
            ..Field::default()
        };
        let value = |name, number| EnumValue { name: text(name), number: Some(number) };
        let request = MessageType {
            name: text("Request"),
            field: vec![
                field("name", 1, 9, ""),
                field("level", 2, 14, ".a.v1.Request.Level"),
                Field { default_value: text("HIGH"), ..field("other", 3, 14, ".a.v1.Request.Level") },
            ],
            nested_type: Vec::new(),
            enum_type: vec![EnumType { name: text("Level"), value: vec![value("LOW", 3), value("HIGH", 7)] }],
        };
        let file = MessageFile { package: text("a.v1"), message_type: vec![request], enum_type: Vec::new() };
        [services.encode_to_vec(), MessageSet { file: vec![file] }.encode_to_vec()].concat()
    }

    fn params(host: Option<&str>, path: Option<&str>, routing: Option<(&str, &str)>) -> String {
        let encoded = encoded(host, path, routing);
        match annotations(&FileSet::decode(&*encoded).unwrap(), &encoded) {
            Ok(found) => found.get("a.v1.A/Get").map_or_else(
                || "-".to_owned(),
                |annotations| {
                    let value = crate::google::request_param::request_params(&annotations.params, b"");
                    value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
                },
            ),
            Err(problem) => AnnotationError::from(problem).to_string(),
        }
    }

    #[test]
    fn paths_count_for_services_of_google_and_routing_for_all() {
        let host = Some("a.googleapis.com");
        let path = Some("/v1/{level}/{other}/{name=**}");
        assert_eq!(params(host, path, None), "level=3&other=7");
        assert_eq!(params(None, path, None), "-");
        assert_eq!(params(None, path, Some(("name", ""))), "");
        assert_eq!(params(host, path, Some(("name", "{id=**}"))), "");
        assert_eq!(params(host, Some("/v1/all"), None), "-");
        assert_eq!(params(host, None, None), "-");
    }

    #[test]
    fn an_annotation_that_cannot_be_used_names_its_method() {
        assert_eq!(
            params(Some("a"), Some("/v1/{nam}"), None),
            "a.v1.A/Get: a.v1.Request has no field \"nam\", which \"nam\" names; name a field of the request, with dots \
             between messages"
        );
        assert_eq!(params(None, Some("/v1/{nam}"), None), "-");
        assert!(
            params(None, None, Some(("name", "a")))
                .starts_with("a.v1.A/Get: the path template \"a\" has 0 variables")
        );
    }
}
