//! The RPCs of descriptors, each with its binding to HTTP.

use crate::http_rule::HttpRule;
use crate::messages::add_error_details;
use crate::options::Encoded;
use crate::problem::RestError;
use crate::request::Binding;
use gax_table::descriptors::{FileSet, full_name};
use http::Uri;
use prost::Message;
use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};
use prost_types::FileDescriptorProto;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The RPCs of descriptors, by their gRPC path without the leading slash.
#[derive(Debug, Clone)]
pub(super) struct Methods {
    by_path: Arc<HashMap<Box<str>, Arc<RestMethod>>>,
    pool: DescriptorPool,
}

/// An RPC.
#[derive(Debug, Clone)]
pub(crate) struct RestMethod {
    /// Such as `google.cloud.asset.v1.AssetService.ListAssets`.
    pub(super) name: String,
    pub(super) input: MessageDescriptor,
    pub(super) output: MessageDescriptor,
    pub(super) streams_requests: bool,
    pub(super) streams_responses: bool,
    /// Where the service is, if the protos say it: it is one of Google's.
    pub(super) default_origin: Option<Uri>,
    /// The first that fits counts; none: the proto has no rule.
    pub(super) bindings: Vec<Binding>,
}

impl Methods {
    /// The RPCs of an encoded `FileDescriptorSet`. Others have more messages.
    pub(super) fn new(encoded: &[u8], others: &[Encoded]) -> Result<Self, RestError> {
        let wrong = |error: &dyn std::fmt::Display| {
            RestError::new(format!("the descriptors are not a FileDescriptorSet with all imports: {error}"))
        };
        let options = FileSet::decode(encoded).map_err(|error| wrong(&error))?;
        let mut files: Vec<FileDescriptorProto> = DescriptorPool::global()
            .files()
            .filter(|file| file.name().starts_with("google/protobuf/"))
            .map(|file| file.file_descriptor_proto().clone())
            .collect();
        let mut known: HashSet<String> = files.iter().map(|file| file.name().to_owned()).collect();
        for encoded in std::iter::once(encoded).chain(others.iter().map(|other| &*other.0)) {
            let set = prost_types::FileDescriptorSet::decode(encoded).map_err(|error| wrong(&error))?;
            files.extend(set.file.into_iter().filter(|file| known.insert(file.name().to_owned())));
        }
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(files).map_err(|error| wrong(&error))?;
        add_error_details(&mut pool).map_err(|error| wrong(&error))?;
        let mut by_path = HashMap::new();
        for file in &options.file {
            for service in &file.service {
                let service_name = full_name(file.package(), service.name());
                let host = service.options.as_ref().and_then(|options| options.default_host.as_deref());
                let origin = host.and_then(|host| format!("https://{host}").parse().ok());
                let Some(described) = pool.get_service_by_name(&service_name) else { continue };
                for method in described.methods() {
                    let own = service.method.iter().find(|own| own.name() == method.name());
                    let rule = own.and_then(|own| own.options.as_ref()?.http.as_ref());
                    let rule = rule.and_then(HttpRule::of);
                    let method = RestMethod::new(&method, origin.clone(), rule.as_ref())?;
                    let path = format!("{service_name}/{}", described_name(&method));
                    by_path.insert(path.into(), Arc::new(method));
                }
            }
        }
        Ok(Self { by_path: Arc::new(by_path), pool })
    }

    /// The RPC of a gRPC path without the leading slash.
    pub(super) fn get(&self, path: &str) -> Option<&Arc<RestMethod>> {
        self.by_path.get(path)
    }

    /// Puts these rules instead of those that the protos have.
    pub(super) fn with_rules(mut self, rules: &[(String, HttpRule)]) -> Result<Self, RestError> {
        if rules.is_empty() {
            return Ok(self);
        }
        let by_path = Arc::make_mut(&mut self.by_path);
        for (name, rule) in rules {
            let path = name.rsplit_once('.').map(|(service, method)| format!("{service}/{method}"));
            let method = path.and_then(|path| by_path.get_mut(path.as_str()));
            let Some(method) = method else {
                return Err(RestError::of_rule(name, "the descriptors have no RPC of that name"));
            };
            let bindings = bindings(&method.name, rule, &method.input, &method.output)?;
            Arc::make_mut(method).bindings = bindings;
        }
        Ok(self)
    }

    /// The descriptors of all messages.
    pub(super) fn pool(&self) -> &DescriptorPool {
        &self.pool
    }
}

impl RestMethod {
    fn new(
        method: &MethodDescriptor,
        default_origin: Option<Uri>,
        rule: Option<&HttpRule>,
    ) -> Result<Self, RestError> {
        let (name, input, output) = (method.full_name().to_owned(), method.input(), method.output());
        let bindings = rule.map(|rule| bindings(&name, rule, &input, &output)).transpose()?;
        Ok(Self {
            bindings: bindings.unwrap_or_default(),
            name,
            input,
            output,
            streams_requests: method.is_client_streaming(),
            streams_responses: method.is_server_streaming(),
            default_origin,
        })
    }

    /// Returns whether a request by its first binding may be hedged: it is a read to HTTP.
    pub(super) fn is_hedged_by_verb(&self) -> bool {
        let verb = self.bindings.first().map(|binding| binding.verb().as_str());
        matches!(verb, Some("GET" | "HEAD" | "OPTIONS"))
    }
}

/// The name without that of the service.
fn described_name(method: &RestMethod) -> &str {
    method.name.rsplit('.').next().unwrap_or_default()
}

fn bindings(
    name: &str,
    rule: &HttpRule,
    input: &MessageDescriptor,
    output: &MessageDescriptor,
) -> Result<Vec<Binding>, RestError> {
    if rule.additional.iter().any(|rule| !rule.additional.is_empty()) {
        let problem = "an additional binding has additional bindings, which google.api.http does not allow";
        return Err(RestError::of_rule(name, problem));
    }
    let all = std::iter::once(rule).chain(&rule.additional);
    let binding = |rule| Binding::new(rule, input, output);
    all.map(binding).collect::<Result<_, _>>().map_err(|problem| RestError::of_rule(name, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additional_bindings_have_none_of_their_own() {
        let message = DescriptorPool::global().get_message_by_name("google.protobuf.Duration").unwrap();
        let count = |rule| bindings("a.B.C", &rule, &message, &message).map(|bindings| bindings.len());
        let rule = || HttpRule::get("/v1/a").or(HttpRule::get("/v1/b"));
        assert_eq!(count(rule().or(rule())), Ok(4));
        // As descriptors may have it.
        let nested = HttpRule { additional: vec![rule()], ..HttpRule::get("/v1/c") };
        let error = count(nested).unwrap_err().to_string();
        let expected = "the google.api.http rule of a.B.C can't be used: an additional binding has additional bindings, which \
                        google.api.http does not allow";
        assert_eq!(error, expected);
    }
}
