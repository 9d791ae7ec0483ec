//! Names in a table that no client knows.

use gax_table::{Finding, RetryTable, ServiceDescription};
use std::error::Error;
use std::fmt;

/// A table names services or methods that the descriptors of a layer, or a generated client, don't have.
///
/// It prints one line a name, each with its place and, if one is close, a suggestion.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMethodsError {
    /// Who doesn't have them.
    owner: &'static str,
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
        write!(f, "the table names what {} have", self.owner)?;
        self.findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

impl Error for UnknownMethodsError {}

/// The error, if the table names what these services don't have.
///
/// # Errors
///
/// It does: the error names its `owner`, and a verb.
pub fn check_names(
    owner: &'static str,
    table: &RetryTable,
    services: &[ServiceDescription],
) -> Result<(), UnknownMethodsError> {
    let findings = unknown_names(table, services);
    if findings.is_empty() { Ok(()) } else { Err(UnknownMethodsError { owner, findings }) }
}

/// The names of a table that none of these services has; of none if no service is known.
#[must_use]
pub fn unknown_names(table: &RetryTable, services: &[ServiceDescription]) -> Vec<Finding> {
    if services.is_empty() { Vec::new() } else { table.unknown_names(services) }
}
