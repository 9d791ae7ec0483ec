//! What generated code and the other crates of this project make settings with. Not for people: it may change in
//! any release.

use crate::{
    BatchingSettings, LimitExceeded, ParseCodeError, RetrySettings, RetrySettingsBuilder, SettingsError,
    SettingsProblem,
};
use std::time::Duration;

/// Settings from all their fields, unchecked: the generator has checked them.
#[must_use]
#[expect(clippy::too_many_arguments, reason = "written by the generator, one argument a field")]
pub const fn retry_settings(
    total_timeout: Option<Duration>,
    initial_retry_delay: Option<Duration>,
    retry_delay_multiplier: Option<f64>,
    max_retry_delay: Option<Duration>,
    max_attempts: Option<u32>,
    jittered: bool,
    initial_rpc_timeout: Option<Duration>,
    rpc_timeout_multiplier: f64,
    max_rpc_timeout: Option<Duration>,
) -> RetrySettings {
    RetrySettings {
        total_timeout,
        initial_retry_delay,
        retry_delay_multiplier,
        max_retry_delay,
        max_server_delay: None,
        max_attempts,
        jittered,
        initial_rpc_timeout,
        rpc_timeout_multiplier,
        max_rpc_timeout,
    }
}

/// Settings as they are, for whoever has checked them, or writes them down as a table has them.
#[must_use]
pub const fn unchecked(builder: RetrySettingsBuilder) -> RetrySettings {
    builder.unchecked()
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

/// How requests are gathered, from all its fields.
#[must_use]
pub const fn batching_settings(
    element_count_threshold: u64,
    request_byte_threshold: u64,
    delay_threshold: Duration,
    max_outstanding_elements: Option<u64>,
    max_outstanding_bytes: Option<u64>,
    limit_exceeded: LimitExceeded,
) -> BatchingSettings {
    BatchingSettings {
        element_count_threshold,
        request_byte_threshold,
        delay_threshold,
        max_outstanding_elements,
        max_outstanding_bytes,
        limit_exceeded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_lands_in_its_field() {
        const MS: Duration = Duration::from_millis(1);
        static SETTINGS: RetrySettings = retry_settings(
            Some(Duration::from_secs(60)),
            Some(Duration::from_millis(100)),
            Some(1.3),
            Some(Duration::from_secs(10)),
            Some(5),
            false,
            Some(Duration::from_secs(20)),
            1.5,
            Some(Duration::from_secs(30)),
        );
        let built = RetrySettings::builder()
            .total_timeout(60_000 * MS)
            .initial_retry_delay(100 * MS)
            .retry_delay_multiplier(1.3)
            .max_retry_delay(10_000 * MS)
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
