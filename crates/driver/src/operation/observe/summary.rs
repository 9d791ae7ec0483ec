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

    gax_text::getters! { self:
        /// The code that the caller got; `OK` after a success, `CANCELLED` if the caller dropped it.
        pub code: Code = self.code;

        /// Why no further attempt was made; `None` after a success.
        pub stop_reason: Option<StopReason> = self.stop_reason;

        /// The attempt that was planned and not made, because it could only have started too late.
        pub not_attempted: Option<NotAttempted> = self.not_attempted;

        /// How long it took; a stream until its end.
        pub elapsed: Duration = self.elapsed;

        /// How many attempts were made.
        pub attempts: u32 = self.attempts;

        /// How many of them were retries: all but the first, and the hedges.
        pub retries: u32 = self.attempts.saturating_sub(1).saturating_sub(self.hedges);

        /// How many of them were hedges.
        pub hedges: u32 = self.hedges;

        /// How often a request that no server had seen was sent again immediately.
        pub transparent_retries: u32 = self.transparent_retries;

        /// The tokens left in the retry budget when the operation ended, as
        /// [`RetryBudget::available`](gax_retry::RetryBudget::available) returns them; `None`: there is no budget.
        pub retry_budget: Option<f64> = self.retry_budget;

        /// The time, after the first attempt, in which none was in flight.
        pub retry_delay: Duration = self.retry_delay;
    }
}
