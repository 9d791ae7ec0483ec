//! A success, and what it took.

use crate::operation::OperationReport;

/// The value of a closure that succeeded, and the report of its attempts.
#[derive(Debug, Clone)]
pub struct RetryOutcome<T> {
    value: T,
    report: OperationReport,
}

impl<T> RetryOutcome<T> {
    pub(super) fn new(value: T, report: OperationReport) -> Self {
        Self { value, report }
    }

    /// The value that the closure returned.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// That value, by value.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// The report of the operation.
    #[must_use]
    pub fn report(&self) -> &OperationReport {
        &self.report
    }
}
