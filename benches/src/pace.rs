//! Settings in the words of every contender.

use crate::measure::moment;
use gax_retry::{Code, CodeSet, RetrySettings};
use gax_table::RetryTable;
use std::time::Duration;
use tokio::time::Instant;

/// How long an attempt may take: long, since nothing here is meant to run into it.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long all attempts of a call may take, with the delays between them.
pub const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);

/// The time of the next attempt of a call that has begun then: that of an attempt, or what is left of the call's.
#[must_use]
pub fn attempt_timeout(start: Instant) -> Duration {
    ATTEMPT_TIMEOUT.min(TOTAL_TIMEOUT.saturating_sub(moment() - start))
}

/// How often and how fast a call is tried again.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain pair of numbers")]
pub struct Pace {
    /// The delay between attempts, always the same.
    pub delay: Duration,
    /// The most attempts.
    pub attempts: u32,
}

impl Pace {
    /// Five attempts without a delay.
    pub const AT_ONCE: Self = Self { delay: Duration::ZERO, attempts: 5 };

    /// A delay that nobody waits for the end of.
    pub const PARKED: Self = Self { delay: Duration::from_secs(30), attempts: 5 };

    /// How many attempts can follow the first one.
    #[must_use]
    pub fn retries(self) -> usize {
        usize::try_from(self.attempts).unwrap_or(usize::MAX).saturating_sub(1)
    }

    /// The delay in milliseconds.
    #[must_use]
    pub fn millis(self) -> u64 {
        u64::try_from(self.delay.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns whether the loops of other libraries retry a status.
    #[must_use]
    pub fn retries_status(status: &tonic::Status) -> bool {
        status.code() == tonic::Code::Unavailable
    }

    /// The codes that are retried.
    #[must_use]
    pub fn codes() -> CodeSet {
        CodeSet::from_iter([Code::Unavailable])
    }

    /// As settings of this workspace.
    ///
    /// # Panics
    ///
    /// Never: they are valid.
    #[must_use]
    pub fn settings(self) -> RetrySettings {
        RetrySettings::builder()
            .initial_retry_delay(self.delay)
            .max_retry_delay(self.delay)
            .max_attempts(self.attempts)
            .initial_rpc_timeout(ATTEMPT_TIMEOUT)
            .max_rpc_timeout(ATTEMPT_TIMEOUT)
            .total_timeout(TOTAL_TIMEOUT)
            .jittered(false)
            .build()
            .expect("they are valid")
    }

    /// As a table for the layer.
    ///
    /// # Panics
    ///
    /// Never: the path is one.
    #[must_use]
    pub fn table(self) -> RetryTable {
        RetryTable::builder()
            .method(crate::message::PATH, self.settings(), Self::codes())
            .build()
            .expect("the path is one")
    }
}
