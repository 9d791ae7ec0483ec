//! Settings in the words of every contender.

use gax_retry::{Code, CodeSet, RetrySettings};
use gax_table::RetryTable;
use std::time::Duration;

/// How long an attempt may take: long, since nothing here is meant to run into it.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

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
    pub const PARKED: Self = Self { delay: Duration::from_secs(3600), attempts: 5 };

    /// How many attempts can follow the first one.
    #[must_use]
    pub fn retries(self) -> usize {
        usize::try_from(self.attempts).unwrap_or(usize::MAX).saturating_sub(1)
    }

    /// Whether the loops of other libraries retry a status.
    #[must_use]
    pub fn retries_status(status: &tonic::Status) -> bool {
        matches!(status.code(), tonic::Code::Unavailable | tonic::Code::DeadlineExceeded)
    }

    /// The codes that are retried.
    #[must_use]
    pub fn codes() -> CodeSet {
        CodeSet::from_iter([Code::Unavailable, Code::DeadlineExceeded])
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
