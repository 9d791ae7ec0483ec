//! Names in a table that descriptors don't have.

use crate::grpc::methods::descriptors::Descriptions;
use gax_driver::__house::check_names;
use gax_driver::live::UnknownMethodsError;
use gax_table::{Finding, MethodDescription, RetryTable, ServiceDescription};
use std::collections::BTreeMap;

/// The services of descriptors.
pub(crate) fn services(described: &Descriptions) -> Vec<ServiceDescription> {
    let mut services: BTreeMap<&str, ServiceDescription> = BTreeMap::new();
    for (path, found) in described {
        if let Some((service, method)) = path.split_once('/') {
            let known = services.remove(service).unwrap_or_else(|| ServiceDescription::new(service));
            services.insert(service, known.with_method(MethodDescription::new(method, found.kind)));
        }
    }
    services.into_values().collect()
}

/// The names of a table that no method of these has; of none if there are no descriptors.
pub(crate) fn unknown_names(table: &RetryTable, described: &Descriptions) -> Vec<Finding> {
    gax_driver::__house::unknown_names(table, &services(described))
}

/// An error, if the table names what descriptors don't have.
pub(crate) fn known_methods(table: &RetryTable, described: &Descriptions) -> Result<(), UnknownMethodsError> {
    check_names("the descriptors don't", table, &services(described))
}
