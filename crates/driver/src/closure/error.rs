//! The error of an operation over a closure.

use crate::operation::OperationReport;
use gax_retry::StopReason;
use gax_text::Escaped;
use std::error::Error;
use std::fmt;

/// The error of an operation over a closure: the closure's last error, and the report of all attempts.
///
/// It prints as one line, which says how the operation ended and contains the closure's last error, if that implements `Display`.
/// If it doesn't, print the [`report`](Self::report). [`source`](Error::source) is the source of the closure's error.
///
/// # Examples
///
/// ```
/// use std::io;
/// use gax_driver::{RetrySettings, Retryer};
///
/// let settings = RetrySettings::builder().max_attempts(1).build()?;
/// let retryer = Retryer::new(&settings, |_: &io::Error| true).named("read");
/// let error = retryer.run_blocking(|_| Err::<(), _>(io::Error::other("the disk is gone"))).unwrap_err();
/// assert!(error.to_string().ends_with(" (MAX_ATTEMPTS): the disk is gone"));
/// # Ok::<(), gax_driver::SettingsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RetryError<E> {
    last: Option<E>,
    report: Box<OperationReport>,
}

impl<E> RetryError<E> {
    pub(super) fn new(last: Option<E>, report: OperationReport) -> Self {
        Self { last, report: Box::new(report) }
    }

    gax_text::getters! { self:
        /// The last error that the closure returned; `None` if every attempt ran into its RPC timeout, or there was
        /// no time for one.
        pub last: Option<&E> = self.last.as_ref();

        /// The report of the operation.
        pub report: &OperationReport = &self.report;

        /// Why no further attempt was made.
        pub stop_reason: Option<StopReason> = self.report.stop_reason();
    }

    /// The last error, by value.
    #[must_use]
    pub fn into_last(self) -> Option<E> {
        self.last
    }
}

impl<E: fmt::Display> fmt::Display for RetryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.write_outcome(f)?;
        match &self.last {
            Some(last) => write!(f, ": {}", Escaped(&last.to_string())),
            None => Ok(()),
        }
    }
}

impl<E: Error + 'static> Error for RetryError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The error itself is in the text.
        self.last.as_ref().and_then(Error::source)
    }
}
