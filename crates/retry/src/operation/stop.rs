//! The end of an operation without a reply. Only this folder makes one: protocols pass facts.

use crate::StopReason;
use std::num::NonZeroU32;
use std::time::Duration;

/// Why an operation failed, and what it would have done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    reason: StopReason,
    attempt: Option<NonZeroU32>,
    not_attempted: Option<NotAttempted>,
    at_deadline: bool,
    may_be_repetition: bool,
}

impl Stop {
    pub(super) fn new(reason: StopReason, attempt: Option<NonZeroU32>) -> Self {
        Self { reason, attempt, not_attempted: None, at_deadline: false, may_be_repetition: false }
    }

    gax_text::setters! { self:
        pub(super) before(not_attempted: Option<NotAttempted>) => self.not_attempted = not_attempted;

        pub(super) at_deadline(at_deadline: bool) => self.at_deadline = at_deadline;

        pub(super) by_repetition(may_be_repetition: bool) => self.may_be_repetition = may_be_repetition;
    }

    gax_text::getters! { move self:
        /// Why.
        pub reason: StopReason = self.reason;

        /// The attempt whose error the operation ends with; `None` if none was made.
        pub attempt: Option<u32> = self.attempt.map(NonZeroU32::get);

        /// The attempt that was planned but not made because of a limit.
        pub not_attempted: Option<NotAttempted> = self.not_attempted;

        /// Returns whether the operation ends as `DEADLINE_EXCEEDED`, with the last attempt's error behind it, instead of that
        /// error: gRPC waits for the deadline, by every other rules the operation ends before.
        pub is_at_deadline: bool = self.at_deadline;

        /// Returns whether the error can come of another attempt that was carried out, whose reply was lost or not awaited: a condition
        /// that does not hold may have held for that one.
        pub may_be_repetition: bool = self.may_be_repetition;
    }
}

/// An attempt that a limit kept from being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAttempted {
    attempt: u32,
    delay: Duration,
}

impl NotAttempted {
    pub(super) fn new(attempt: u32, delay: Duration) -> Self {
        Self { attempt, delay }
    }

    /// One that was stored.
    #[cfg(feature = "serde")]
    pub(crate) fn stored(attempt: u32, delay: Duration) -> Self {
        Self::new(attempt, delay)
    }

    gax_text::getters! { move self:
        /// The number it would have had.
        pub attempt: u32 = self.attempt;

        /// The wait that would have come before it.
        pub delay: Duration = self.delay;
    }
}
