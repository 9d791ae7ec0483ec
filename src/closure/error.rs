//! The error of an operation over a closure.

use crate::operation::OperationReport;
use gax_retry::StopReason;
use std::error::Error;
use std::fmt;

/// An operation over a closure that failed: the closure's last error, and the report.
#[derive(Debug, Clone)]
pub struct RetryError<E> {
    last: Option<E>,
    report: Box<OperationReport>,
}

impl<E> RetryError<E> {
    pub(super) fn new(last: Option<E>, report: OperationReport) -> Self {
        Self { last, report: Box::new(report) }
    }

    /// The last error that the closure returned; `None` if every attempt ran into its RPC timeout, or there was
    /// no time for one.
    #[must_use]
    pub fn last(&self) -> Option<&E> {
        self.last.as_ref()
    }

    /// The same, by value.
    #[must_use]
    pub fn into_last(self) -> Option<E> {
        self.last
    }

    /// What the operation did.
    #[must_use]
    pub fn report(&self) -> &OperationReport {
        &self.report
    }

    /// Why no further attempt was made.
    #[must_use]
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.report.stop_reason()
    }
}

impl<E> fmt::Display for RetryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.write_outcome(f)
    }
}

impl<E: Error + 'static> Error for RetryError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.last.as_ref().map(|last| last as &(dyn Error + 'static))
    }
}
