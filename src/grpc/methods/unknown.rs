//! Names in a table that descriptors don't have.

use super::descriptors::Descriptions;
use gax_table::{Finding, MethodDescription, RetryTable, ServiceDescription};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// The names of a table that no method of these has; of none where there are no descriptors.
pub(crate) fn unknown_names(table: &RetryTable, described: &Descriptions) -> Vec<Finding> {
    if described.is_empty() {
        return Vec::new();
    }
    let mut services: BTreeMap<&str, ServiceDescription> = BTreeMap::new();
    for (path, found) in described {
        if let Some((service, method)) = path.split_once('/') {
            let known = services.remove(service).unwrap_or_else(|| ServiceDescription::new(service));
            services.insert(service, known.with_method(MethodDescription::new(method, found.kind)));
        }
    }
    table.unknown_names(&services.into_values().collect::<Vec<_>>())
}

/// An error, if the table names what descriptors don't have.
pub(crate) fn known_methods(table: &RetryTable, described: &Descriptions) -> Result<(), UnknownMethodsError> {
    let findings = unknown_names(table, described);
    if findings.is_empty() { Ok(()) } else { Err(UnknownMethodsError { findings }) }
}

/// A table names services or methods that the descriptors don't have.
///
/// It prints one line a name, each with its place and, where one is close, a suggestion.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMethodsError {
    findings: Vec<Finding>,
}

impl UnknownMethodsError {
    /// A finding for each name.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl fmt::Display for UnknownMethodsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the table names what the descriptors don't have")?;
        self.findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

impl Error for UnknownMethodsError {}
