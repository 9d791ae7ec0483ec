//! Google's annotations, as far as the headers of methods follow from them.

use super::options::MethodOptions;
use super::place::place_of;
use crate::descriptors::full_name;
use gax_table::descriptors::MessageTypes;
use gax_table::{Finding, RequestParam, RoutingError, Severity};
use prost_types::FileDescriptorSet;
use std::collections::HashMap;

/// Google's annotations of services and methods, as far as headers follow from them.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    hosts: HashMap<String, String>,
    versions: HashMap<String, String>,
    /// By service and method.
    params: HashMap<(String, String), Vec<RequestParam>>,
}

/// The number of `google.api.http` among a method's options, and that of `google.api.routing`.
pub(super) const HTTP: i32 = 72_295_728;
const ROUTING: i32 = 72_295_729;

impl Annotations {
    /// The annotations of the methods that are wanted, by service and name.
    pub(crate) fn read(
        set: &FileDescriptorSet,
        options: &MethodOptions,
        types: &MessageTypes,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> (Self, Vec<Finding>) {
        let (mut annotations, mut unusable) = (Self::default(), Vec::new());
        for file in &set.file {
            for (place, service) in file.service.iter().enumerate() {
                let name = full_name(file.package(), service.name());
                let of_service = options.of_service(&name).cloned().unwrap_or_default();
                let is_of_google = of_service.default_host.is_some();
                annotations.hosts.extend(of_service.default_host.map(|host| (name.clone(), host)));
                annotations.versions.extend(of_service.api_version.map(|version| (name.clone(), version)));
                for (index, method) in service.method.iter().enumerate() {
                    let of_method = options.of(&name, method.name());
                    let Some(of_method) = of_method.filter(|_| is_wanted(&name, method.name())) else {
                        continue;
                    };
                    match of_method.routed_by(is_of_google, method.input_type(), types) {
                        Ok(params) if params.is_empty() => {}
                        Ok(params) => {
                            annotations.params.insert((name.clone(), method.name().to_owned()), params);
                        }
                        Err(error) => {
                            let option = if of_method.routing.is_some() { ROUTING } else { HTTP };
                            let place = place_of(file, [place, index], option);
                            let method = format!("{name}.{}", method.name());
                            unusable.push(unusable_annotation(
                                &place,
                                &method,
                                &error,
                                "its requests have no header for routing",
                            ));
                        }
                    }
                }
            }
        }
        (annotations, unusable)
    }

    /// Where the service is, by `google.api.default_host`.
    pub(crate) fn host(&self, service: &str) -> Option<&str> {
        self.hosts.get(service).map(String::as_str)
    }

    /// The version of its API, by `google.api.api_version`.
    pub(crate) fn version(&self, service: &str) -> Option<&str> {
        self.versions.get(service).map(String::as_str)
    }

    /// The parameters that its requests are routed by.
    pub(crate) fn params(&self, service: &str, method: &str) -> &[RequestParam] {
        let params = self.params.get(&(service.to_owned(), method.to_owned()));
        params.map(Vec::as_slice).unwrap_or_default()
    }
}

/// A warning of an annotation that can't be used, and what its method does without.
pub(super) fn unusable_annotation(place: &str, method: &str, error: &RoutingError, without: &str) -> Finding {
    let message = format!("{place}: {method}: {error}, so that {without}");
    Finding::new("unusable-annotation", Severity::Warning, message).with_help(error.help().to_owned())
}
