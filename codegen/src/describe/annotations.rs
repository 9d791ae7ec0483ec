//! Google's annotations, as far as the headers of methods follow from them.

use super::options::MethodOptions;
use super::rpcs::{HTTP, ROUTING, rpcs};
use gax_table::descriptors::MessageTypes;
use gax_table::{Finding, RequestParam};
use prost_types::FileDescriptorSet;
use std::collections::HashMap;

/// Google's annotations of services and methods, as far as headers follow from them.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    options: MethodOptions,
    /// By service and method.
    params: HashMap<(String, String), Vec<RequestParam>>,
}

impl Annotations {
    /// The annotations of the methods that are wanted, by service and name.
    pub(crate) fn read(
        set: &FileDescriptorSet,
        options: &MethodOptions,
        types: &MessageTypes,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> (Self, Vec<Finding>) {
        let mut annotations = Self { options: options.clone(), params: HashMap::new() };
        let mut unusable = Vec::new();
        for rpc in rpcs(set).filter(|rpc| is_wanted(&rpc.service, rpc.method.name())) {
            let Some(own) = options.of(&rpc.service, rpc.method.name()) else { continue };
            let is_of_google = annotations.host(&rpc.service).is_some();
            match own.routed_by(is_of_google, rpc.method.input_type(), types) {
                Ok(params) if params.is_empty() => {}
                Ok(params) => drop(annotations.params.insert(rpc.key(), params)),
                Err(error) => {
                    let place = rpc.place_of(if own.routing.is_some() { ROUTING } else { HTTP });
                    unusable.push(rpc.unusable(&place, &error, "its requests have no header for routing"));
                }
            }
        }
        (annotations, unusable)
    }

    /// The default host of a service; `None`: it is none of Google's.
    pub(crate) fn host(&self, service: &str) -> Option<&str> {
        self.options.of_service(service)?.default_host.as_deref()
    }

    pub(crate) fn version(&self, service: &str) -> Option<&str> {
        self.options.of_service(service)?.api_version.as_deref()
    }

    /// The parameters that requests of a method are routed by.
    pub(crate) fn params(&self, service: &str, method: &str) -> &[RequestParam] {
        let params = self.params.get(&(service.to_owned(), method.to_owned()));
        params.map(Vec::as_slice).unwrap_or_default()
    }
}
