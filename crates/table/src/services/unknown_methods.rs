//! Names in a table that are denied.

use super::service::{MethodDescription, ServiceDescription};
use crate::{Finding, RetryTable};
use gax_retry::MethodKind;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// A table names services or methods that descriptors, or generated clients, don't have.
///
/// It prints one line a name, each with its place and, if one is close, a suggestion.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMethodsError {
    findings: Vec<Finding>,
}

impl UnknownMethodsError {
    /// A finding for each name.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl fmt::Display for UnknownMethodsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the table names methods or services that are not known")?;
        self.findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

impl Error for UnknownMethodsError {}

impl RetryTable {
    /// Checks the names of the table against the paths of all methods, as descriptors or a generated client's settings return them.
    /// Without any path, nothing is unknown.
    ///
    /// # Errors
    ///
    /// The table names a service or a method that is not among them: a typo, as a rule.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::RetryTable;
    ///
    /// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.Libary"}], "timeout": "5s"}]}"#)?;
    /// let error = table.deny_unknown_methods(["a.Library/GetBook"]).unwrap_err();
    /// assert_eq!(error.findings()[0].rule(), "unknown-service");
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn deny_unknown_methods<P: AsRef<str>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), UnknownMethodsError> {
        let services = services_of(paths);
        let findings = if services.is_empty() { Vec::new() } else { self.unknown_names(&services) };
        if findings.is_empty() { Ok(()) } else { Err(UnknownMethodsError { findings }) }
    }
}

/// The services with methods at these paths, whatever their kind is.
pub(crate) fn services_of<P: AsRef<str>>(paths: impl IntoIterator<Item = P>) -> Vec<ServiceDescription> {
    let mut services: BTreeMap<String, ServiceDescription> = BTreeMap::new();
    for path in paths {
        let path = path.as_ref();
        if let Some((service, method)) = path.strip_prefix('/').unwrap_or(path).split_once('/') {
            let known = services.remove(service).unwrap_or_else(|| ServiceDescription::new(service));
            let known = known.with_method(MethodDescription::new(method, MethodKind::Unary));
            services.insert(service.to_owned(), known);
        }
    }
    services.into_values().collect()
}
