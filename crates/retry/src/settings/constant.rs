//! Settings in a `static`.

use super::{RetrySettings, RpcTimeout};
use crate::CodeSet;
use std::time::Duration;

/// Makes [`RetrySettings`] in a `static`, field by field and unchecked: for generated code, whose generator has checked
/// them.
///
/// # Defaults
///
/// Those of [`RetrySettings`]: nothing is set.
///
/// # Examples
///
/// ```
/// use gax_retry::{RetrySettings, settings::ConstSettings};
/// use std::time::Duration;
///
/// static SETTINGS: RetrySettings = ConstSettings::new().total_timeout(Duration::from_secs(60)).max_attempts(3).build();
/// assert_eq!(SETTINGS.max_attempts(), Some(3));
/// ```
#[derive(Debug)]
#[must_use = "settings come from build()"]
pub struct ConstSettings(RetrySettings);

impl ConstSettings {
    /// Nothing is set yet.
    #[expect(clippy::new_without_default, reason = "a `static` can't call it")]
    pub const fn new() -> Self {
        Self(RetrySettings::UNSET)
    }

    gax_text::setters! { const self:
        /// The total timeout.
        pub total_timeout(timeout: Duration) => self.0.total_timeout = Some(timeout);
        /// The delay before the second attempt.
        pub initial_retry_delay(delay: Duration) => self.0.initial_retry_delay = Some(delay);
        /// The factor between delays.
        pub retry_delay_multiplier(multiplier: f64) => self.0.retry_delay_multiplier = Some(multiplier);
        /// The longest delay.
        pub max_retry_delay(delay: Duration) => self.0.max_retry_delay = Some(delay);
        /// The longest delay that a server may ask for.
        pub max_server_delay(delay: Duration) => self.0.max_server_delay = Some(delay);
        /// The codes that are only retried with a server's delay.
        pub only_with_server_delay(codes: CodeSet) => self.0.only_with_server_delay = codes;
        /// The number of attempts.
        pub max_attempts(attempts: u32) => self.0.max_attempts = Some(attempts);
        /// Sets whether waits are drawn at random.
        pub jittered(jittered: bool) => self.0.jittered = jittered;
        /// The first attempt's timeout.
        pub initial_rpc_timeout(timeout: Duration) => self.0.initial_rpc_timeout = RpcTimeout::written(Some(timeout));
        /// The factor between RPC timeouts.
        pub rpc_timeout_multiplier(multiplier: f64) => self.0.rpc_timeout_multiplier = multiplier;
        /// The longest RPC timeout.
        pub max_rpc_timeout(timeout: Duration) => self.0.max_rpc_timeout = RpcTimeout::written(Some(timeout));
    }

    /// One limit for the operation and each of its attempts.
    pub const fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.with_timeout(Some(timeout)))
    }

    /// The settings.
    #[must_use]
    pub const fn build(self) -> RetrySettings {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_lands_in_its_place() {
        const MS: Duration = Duration::from_millis(1);
        static SETTINGS: RetrySettings = ConstSettings::new()
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
