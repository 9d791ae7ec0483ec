//! What generated code and the other crates of this project make settings with. Not for people: it may change in
//! any release.

use crate::{
    BatchingSettings, CodeSet, LimitExceeded, ParseCodeError, RetrySettings, RetrySettingsBuilder,
    SettingsError, SettingsProblem,
};
use std::time::Duration;

/// Settings of generated code: nothing is set yet.
pub const fn settings() -> ConstSettings {
    ConstSettings(RetrySettings::UNSET)
}

/// Makes [`RetrySettings`] in a `static`, field by field and unchecked: the generator has checked them.
#[derive(Debug)]
#[must_use = "settings come from build()"]
pub struct ConstSettings(RetrySettings);

impl ConstSettings {
    /// The total timeout.
    pub const fn total_timeout(mut self, timeout: Duration) -> Self {
        self.0.total_timeout = Some(timeout);
        self
    }

    /// The delay before the second attempt.
    pub const fn initial_retry_delay(mut self, delay: Duration) -> Self {
        self.0.initial_retry_delay = Some(delay);
        self
    }

    /// The factor between delays.
    pub const fn retry_delay_multiplier(mut self, multiplier: f64) -> Self {
        self.0.retry_delay_multiplier = Some(multiplier);
        self
    }

    /// The longest delay.
    pub const fn max_retry_delay(mut self, delay: Duration) -> Self {
        self.0.max_retry_delay = Some(delay);
        self
    }

    /// The longest delay that a server may ask for.
    pub const fn max_server_delay(mut self, delay: Duration) -> Self {
        self.0.max_server_delay = Some(delay);
        self
    }

    /// The codes that count only with a delay of the server's.
    pub const fn only_with_server_delay(mut self, codes: CodeSet) -> Self {
        self.0.only_with_server_delay = codes;
        self
    }

    /// The number of attempts.
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.0.max_attempts = Some(attempts);
        self
    }

    /// Whether waits are drawn at random.
    pub const fn jittered(mut self, jittered: bool) -> Self {
        self.0.jittered = jittered;
        self
    }

    /// The first attempt's timeout.
    pub const fn initial_rpc_timeout(mut self, timeout: Duration) -> Self {
        self.0.initial_rpc_timeout = Some(timeout);
        self
    }

    /// The factor between RPC timeouts.
    pub const fn rpc_timeout_multiplier(mut self, multiplier: f64) -> Self {
        self.0.rpc_timeout_multiplier = multiplier;
        self
    }

    /// The longest RPC timeout.
    pub const fn max_rpc_timeout(mut self, timeout: Duration) -> Self {
        self.0.max_rpc_timeout = Some(timeout);
        self
    }

    /// The settings.
    #[must_use]
    pub const fn build(self) -> RetrySettings {
        self.0
    }
}

/// Settings as they are, for whoever has checked them, or writes them down as a table has them.
#[must_use]
pub fn unchecked(builder: RetrySettingsBuilder) -> RetrySettings {
    builder.unchecked()
}

/// A problem in the settings of one RPC among several.
#[must_use]
pub fn of_rpc(rpc: &'static str, problem: SettingsProblem) -> SettingsProblem {
    problem.of_rpc(rpc)
}

/// The problems of several RPCs as one error.
///
/// # Errors
///
/// There is a problem.
pub fn no_problems(problems: Vec<SettingsProblem>) -> Result<(), SettingsError> {
    if problems.is_empty() { Ok(()) } else { Err(SettingsError::new(problems)) }
}

/// A problem of an RPC.
#[must_use]
pub fn rpc_problem(
    rpc: &'static str,
    field: &'static str,
    value: String,
    reason: &'static str,
) -> SettingsProblem {
    SettingsProblem::new(field, value, reason).of_rpc(rpc)
}

/// A retryable code of an RPC that is none.
#[must_use]
pub fn code_problem(rpc: &'static str, error: &ParseCodeError) -> SettingsProblem {
    SettingsProblem::of_code(error).of_rpc(rpc)
}

/// How requests are batched, in generated code and by readers of tables: nothing is set yet.
pub const fn batching() -> ConstBatching {
    ConstBatching(BatchingSettings {
        element_count_threshold: 1,
        request_byte_threshold: 1,
        delay_threshold: Duration::ZERO,
        max_outstanding_elements: None,
        max_outstanding_bytes: None,
        limit_exceeded: LimitExceeded::Ignore,
    })
}

/// Makes [`BatchingSettings`], also in a `static`, field by field.
#[derive(Debug)]
#[must_use = "settings come from build()"]
pub struct ConstBatching(BatchingSettings);

impl ConstBatching {
    /// A batch with this many elements is sent.
    pub const fn element_count_threshold(mut self, elements: u64) -> Self {
        self.0.element_count_threshold = elements;
        self
    }

    /// A batch with this many bytes is sent.
    pub const fn request_byte_threshold(mut self, bytes: u64) -> Self {
        self.0.request_byte_threshold = bytes;
        self
    }

    /// A batch whose first element is this old is sent.
    pub const fn delay_threshold(mut self, delay: Duration) -> Self {
        self.0.delay_threshold = delay;
        self
    }

    /// How many elements may be waiting for their reply.
    pub const fn max_outstanding_elements(mut self, elements: u64) -> Self {
        self.0.max_outstanding_elements = Some(elements);
        self
    }

    /// How many bytes may be waiting for their reply.
    pub const fn max_outstanding_bytes(mut self, bytes: u64) -> Self {
        self.0.max_outstanding_bytes = Some(bytes);
        self
    }

    /// What happens to an element beyond these limits.
    pub const fn limit_exceeded(mut self, limit: LimitExceeded) -> Self {
        self.0.limit_exceeded = limit;
        self
    }

    /// The settings.
    #[must_use]
    pub const fn build(self) -> BatchingSettings {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_lands_in_its_place() {
        const MS: Duration = Duration::from_millis(1);
        static SETTINGS: RetrySettings = settings()
            .total_timeout(Duration::from_secs(60))
            .initial_retry_delay(Duration::from_millis(100))
            .retry_delay_multiplier(1.3)
            .max_retry_delay(Duration::from_secs(10))
            .max_server_delay(Duration::from_secs(70))
            .only_with_server_delay(CodeSet::EMPTY.with(crate::Code::ResourceExhausted))
            .max_attempts(5)
            .jittered(false)
            .initial_rpc_timeout(Duration::from_secs(20))
            .rpc_timeout_multiplier(1.5)
            .max_rpc_timeout(Duration::from_secs(30))
            .build();
        let built = RetrySettings::builder()
            .total_timeout(60_000 * MS)
            .initial_retry_delay(100 * MS)
            .retry_delay_multiplier(1.3)
            .max_retry_delay(10_000 * MS)
            .max_server_delay(70_000 * MS)
            .only_with_server_delay(crate::Code::ResourceExhausted)
            .max_attempts(5)
            .jittered(false)
            .initial_rpc_timeout(20_000 * MS)
            .rpc_timeout_multiplier(1.5)
            .max_rpc_timeout(30_000 * MS)
            .build()
            .unwrap();
        assert_eq!(SETTINGS, built);
    }
}
