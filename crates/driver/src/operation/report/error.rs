//! The error of an operation.

use crate::operation::report::operation_report::OperationReport;
use gax_retry::{Delivery, StopReason};
use std::error::Error;
use std::sync::Arc;
use std::{fmt, iter};

/// Why an operation failed: the source of the [`tonic::Status`] that the caller gets.
///
/// The status itself keeps the last attempt's code, message, details and metadata.
///
/// # Examples
///
/// ```
/// use gax_driver::{OperationError, StopReason};
///
/// fn gave_up(status: &tonic::Status) -> Option<StopReason> {
///     OperationError::of(status).and_then(|error| error.report().stop_reason())
/// }
/// # assert_eq!(gave_up(&tonic::Status::unavailable("")), None);
/// ```
#[derive(Clone)]
pub struct OperationError {
    report: Box<OperationReport>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl OperationError {
    /// The error of an operation with that report, which failed by that cause: a protocol's own error has it as a source, so that
    /// [`of`](Self::of) finds it.
    #[must_use]
    pub fn new(report: OperationReport, cause: Option<Arc<dyn Error + Send + Sync>>) -> Self {
        Self { report: Box::new(report), cause }
    }

    /// The operation's error behind another one, such as a [`tonic::Status`]: that error itself, or the first among its sources.
    #[must_use]
    pub fn of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        iter::successors(Some(error), |error| (*error).source()).find_map(<dyn Error>::downcast_ref)
    }

    gax_text::getters! { self:
        /// The report of the operation.
        pub report: &OperationReport = &self.report;

        /// How far the request got, over all attempts.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_driver::OperationError;
        /// use gax_driver::report::Delivery;
        ///
        /// fn is_safe_to_repeat(status: &tonic::Status) -> bool {
        ///     OperationError::of(status).is_some_and(|error| error.delivery() < Delivery::Unknown)
        /// }
        /// # assert!(!is_safe_to_repeat(&tonic::Status::unavailable("")));
        /// ```
        pub delivery: Delivery = self.report.delivery();

        /// Why no further attempt was made.
        pub stop_reason: Option<StopReason> = self.report.stop_reason();
    }

    /// Returns whether the server may have carried the request out, although the operation failed: an attempt was sent, and
    /// no server said that it had not processed it.
    #[must_use]
    pub fn may_have_been_applied(&self) -> bool {
        self.delivery() == Delivery::Unknown
    }
}

/// One line: tonic prints a status with the debug form of its source.
impl fmt::Debug for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OperationError").field(&format_args!("{self}")).finish()
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.write_outcome(f)
    }
}

impl Error for OperationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}
