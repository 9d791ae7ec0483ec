//! The result of an operation, in numbers.

use gax_retry::{Code, NotAttempted, StopReason};
use std::time::Duration;

/// The result of an operation that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationSummary {
    pub(super) code: Code,
    pub(super) stop_reason: Option<StopReason>,
    pub(super) not_attempted: Option<NotAttempted>,
    pub(super) elapsed: Duration,
    pub(super) attempts: u32,
    pub(super) hedges: u32,
    pub(super) transparent_retries: u32,
    pub(super) retry_delay: Duration,
    pub(super) retry_budget: Option<f64>,
}

impl OperationSummary {
    /// The summary of an operation that has just begun.
    pub(super) fn begun() -> Self {
        Self {
            code: Code::Ok,
            stop_reason: None,
            not_attempted: None,
            elapsed: Duration::ZERO,
            attempts: 0,
            hedges: 0,
            transparent_retries: 0,
            retry_delay: Duration::ZERO,
            retry_budget: None,
        }
    }

    /// The code that the caller got; `OK` after a success, `CANCELLED` if the caller dropped it.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Why no further attempt was made; `None` after a success.
    #[must_use]
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason
    }

    /// The attempt that was planned and not made, because it could only have started too late.
    #[must_use]
    pub fn not_attempted(&self) -> Option<NotAttempted> {
        self.not_attempted
    }

    /// How long it took; a stream until its end.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// How many attempts were made.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// How many of them were retries: all but the first, and the hedges.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.attempts.saturating_sub(1).saturating_sub(self.hedges)
    }

    /// How many of them were hedges.
    #[must_use]
    pub fn hedges(&self) -> u32 {
        self.hedges
    }

    /// How often a request that no server had seen was sent again immediately.
    #[must_use]
    pub fn transparent_retries(&self) -> u32 {
        self.transparent_retries
    }

    /// The tokens left in the retry budget when the operation ended, as
    /// [`RetryBudget::available`](gax_retry::RetryBudget::available) returns them; `None`: there is no budget.
    #[must_use]
    pub fn retry_budget(&self) -> Option<f64> {
        self.retry_budget
    }

    /// The time, after the first attempt, in which none was in flight.
    #[must_use]
    pub fn retry_delay(&self) -> Duration {
        self.retry_delay
    }
}
