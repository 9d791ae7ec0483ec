//! A line for the log at each retry.

use crate::operation::observe::info::OperationInfo;
use crate::operation::observe::observer::OperationObserver;
use gax_retry::Attempt;
use gax_text::{Escaped, Human};
use std::fmt;
use std::time::Duration;

/// An attempt that failed and is followed by another one. Prints as a line for a log.
#[derive(Debug, Clone, Copy)]
pub struct Retry<'a> {
    operation: &'a OperationInfo,
    attempt: &'a Attempt,
    delay: Duration,
}

impl Retry<'_> {
    gax_text::getters! { self:
        /// Which operation it is.
        pub operation: &OperationInfo = self.operation;

        /// The attempt that failed.
        pub attempt: &Attempt = self.attempt;

        /// The wait before the next one.
        pub delay: Duration = self.delay;
    }
}

impl fmt::Display for Retry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempt = self.attempt;
        let took = attempt.end().saturating_sub(attempt.start());
        let method = Escaped(self.operation.full_method());
        let (number, code) = (attempt.number(), attempt.code());
        let (took, delay) = (Human(took), Human(self.delay));
        write!(
            f,
            "{method}: attempt {number} failed with {code} after {took}; the next one follows in {delay}"
        )
    }
}

/// Calls a closure at each retry.
pub(crate) struct OnRetry<F>(pub(super) F);

impl<F: Fn(&Retry<'_>) + Send + Sync + 'static> OperationObserver for OnRetry<F> {
    fn attempt_failed(&self, operation: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {
        if let Some(delay) = delay {
            (self.0)(&Retry { operation, attempt, delay });
        }
    }
}
