//! The part of a report that only HTTP requests have.

use gax_driver::__private::FirstAndLast;
use gax_retry::http::{Classification, HttpFailure, IdempotencyStrategy};
use gax_text::Escaped;
use std::fmt;

/// Why an HTTP request was retried, or was not: part of its
/// [`OperationReport`](crate::OperationReport).
///
/// # Examples
///
/// ```
/// use gax_http::OperationReport;
/// use gax_http::HttpReport;
///
/// fn may_have_happened_twice(report: &OperationReport) -> bool {
///     report.detail::<HttpReport>().is_some_and(|http| !http.is_safe()) && report.attempt_count() > 1
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReport {
    pub(crate) classification: Classification,
    pub(crate) strategy: IdempotencyStrategy,
    pub(crate) failures: FirstAndLast<HttpFailure>,
}

impl HttpReport {
    pub(crate) fn new(classification: Classification, strategy: IdempotencyStrategy) -> Self {
        Self { classification, strategy, failures: FirstAndLast::default() }
    }

    gax_text::getters! { self:
        /// How the idempotency table classifies the request, and by which rule.
        pub idempotency: &Classification = &self.classification;

        /// How far that table counted.
        pub strategy: IdempotencyStrategy = self.strategy;
    }

    /// Returns whether the request is safe to retry, by the table and the strategy.
    #[must_use]
    pub fn may_be_sent_again(&self) -> bool {
        self.classification.permits(self.strategy)
    }

    /// Returns whether the strategy retries anything at all.
    pub(crate) fn may_be_retried(&self) -> bool {
        self.strategy != IdempotencyStrategy::Never
    }

    /// Returns whether the request is safe to retry by the table alone, whatever the strategy.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        IdempotencyStrategy::Conditional.permits(self.classification.idempotency())
    }

    /// How the attempts failed, in their order. A failure that is neither a response nor the transport's
    /// (the request's own body failed, say) is left out. Of more than 64 these are the first 32 and the last 32.
    #[must_use]
    pub fn failures(&self) -> &[HttpFailure] {
        self.failures.as_slice()
    }
}

impl fmt::Display for HttpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let may = if self.may_be_sent_again() { "may" } else { "must not" };
        write!(f, "idempotency {}", Escaped(&self.classification))?;
        if let Some(rule) = self.classification.rule() {
            write!(f, " ({})", Escaped(rule))?;
        }
        write!(f, "; strategy {}: {may} be sent again", self.strategy)?;
        let mut failures = self.failures();
        let mut before = "; failed with ";
        while let [failure, ..] = failures {
            let count = failures.iter().take_while(|other| *other == failure).count();
            write!(f, "{before}{failure}")?;
            if count > 1 {
                write!(f, " ({count} times)")?;
            }
            failures = failures.get(count..).unwrap_or_default();
            before = ", ";
        }
        Ok(())
    }
}
