//! The services that clients are made for, with what is mixed into them.

use super::ServiceYaml;
use crate::{Finding, MethodDescription, ServiceDescription, Severity};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The services that can be mixed in.
const MIXINS: [&str; 3] =
    ["google.longrunning.Operations", "google.cloud.location.Locations", "google.iam.v1.IAMPolicy"];

impl ServiceYaml {
    /// The services that Google's Java generator makes clients for, given all services of the protos that
    /// it is run on.
    ///
    /// The methods of a mixin go to the end of every other service, if the YAML names both the mixin (`apis`) and the
    /// method (`http.rules`) and no service has a method of that name; the mixin gets no separate client then. If the
    /// YAML selects methods, only those are left. A service without its own methods has no client.
    #[must_use]
    pub fn mix_in(&self, services: Vec<ServiceDescription>) -> Vec<ServiceDescription> {
        let all_are_mixins = services.iter().all(|service| MIXINS.contains(&service.name()));
        let (mut mixins, own): (Vec<_>, Vec<_>) =
            services.into_iter().partition(|service| !all_are_mixins && MIXINS.contains(&service.name()));
        mixins.retain(|mixin| self.apis.contains(mixin.name()));
        mixins.sort_by_key(|mixin| Reverse(mixin.name().rsplit('.').next().map(str::to_owned)));
        let is_own =
            |method: &str| own.iter().flat_map(ServiceDescription::methods).any(|m| m.name() == method);
        let mixed: Vec<MethodDescription> = mixins
            .iter()
            .flat_map(|mixin| mixin.methods().iter().map(move |method| (mixin.name(), method)))
            .filter(|(mixin, method)| self.selectors.contains(&format!("{mixin}.{}", method.name())))
            .filter(|(_, method)| !is_own(method.name()))
            .map(|(mixin, method)| method.clone().mixed_in_from(mixin))
            .collect();
        let own = own.into_iter().map(|service| self.selection(service));
        own.filter(|service| !service.methods().is_empty())
            .map(|service| mixed.iter().cloned().fold(service, ServiceDescription::with_method))
            .collect()
    }

    /// The mixins of which the YAML names methods and which are not among these services, though some are that would get them.
    #[must_use]
    pub fn missing_mixins(&self, services: &[ServiceDescription]) -> Vec<MissingMixin> {
        let is_there = |mixin: &str| services.iter().any(|service| service.name() == mixin);
        let have_hosts = services.iter().any(|service| !MIXINS.contains(&service.name()));
        let missing =
            MIXINS.into_iter().filter(|mixin| have_hosts && self.apis.contains(*mixin) && !is_there(mixin));
        let named = missing.map(|service| {
            let methods =
                self.selectors.iter().filter_map(|name| name.strip_prefix(service)?.strip_prefix('.'));
            MissingMixin { service, methods: methods.map(str::to_owned).collect() }
        });
        named.filter(|mixin| !mixin.methods.is_empty()).collect()
    }

    /// The service with the methods that are selected.
    fn selection(&self, service: ServiceDescription) -> ServiceDescription {
        let package = service.name().rsplit_once('.').map_or("", |(package, _)| package);
        let Some(selection) = self.selected.as_ref().filter(|selection| selection.package == package) else {
            return service;
        };
        let methods = service.methods().iter().filter(|method| {
            let name = format!("{}.{}", service.name(), method.name());
            selection.methods.contains(&name)
        });
        methods.cloned().fold(ServiceDescription::new(service.name()), ServiceDescription::with_method)
    }
}

/// A service whose methods a service YAML mixes into others, and whose proto was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingMixin {
    service: &'static str,
    methods: BTreeSet<String>,
}

impl MissingMixin {
    /// A warning that names the methods, the service and the proto to add.
    pub fn finding(&self) -> Finding {
        let file = match self.service {
            "google.longrunning.Operations" => "google/longrunning/operations.proto",
            "google.cloud.location.Locations" => "google/cloud/location/locations.proto",
            _ => "google/iam/v1/iam_policy.proto",
        };
        let methods: Vec<&str> = self.methods.iter().map(String::as_str).collect();
        let message = format!(
            "the service YAML mixes in {} of {}, whose proto is not compiled, so that clients don't have them",
            methods.join(", "),
            self.service
        );
        Finding::new("missing-mixin", Severity::Warning, message)
            .with_help(format!("add {file} to the protos"))
    }

    /// Returns whether a table's name is unknown because this is missing.
    #[must_use]
    pub fn explains(&self, unknown: &Finding) -> bool {
        let Some((service, method)) = unknown.name().and_then(|name| name.rsplit_once('/')) else {
            return false;
        };
        unknown.rule().starts_with("unknown-")
            && (service == self.service || unknown.rule() == "unknown-method")
            && self.methods.contains(method)
    }
}
