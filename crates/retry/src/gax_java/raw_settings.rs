//! Settings with whatever numbers they were given.

use crate::settings::RpcTimeout;
use crate::{Compatibility, RetrySettings};
use std::time::Duration;

/// Settings as gax-java's `RetrySettings` hold them: any number, in microseconds, 0 for "not set".
///
/// Nothing is checked until [`validate`](Self::validate) is asked, and policies can be made of
/// invalid settings too. Where numbers come from a person or a table, use
/// [`RetrySettings`](crate::RetrySettings) instead.
///
/// # Defaults
///
/// Those of the Java class: every duration and `max_attempts` 0, both multipliers 1.0, jitter on.
///
/// # Examples
///
/// ```
/// use gax_retry::gax_java::RawSettings;
///
/// let mut settings = RawSettings::default();
/// settings.total_timeout_us = 5_000_000;
/// settings.retry_delay_multiplier = 0.5;
/// settings.max_attempts = -1;
/// let error = settings.validate().unwrap_err();
/// assert_eq!(error.to_string(), "retry delay multiplier must be at least 1");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RawSettings {
    /// The time that all attempts and waits may take together.
    pub total_timeout_us: i64,
    /// The delay before the second attempt.
    pub initial_retry_delay_us: i64,
    /// The factor from one delay to the next.
    pub retry_delay_multiplier: f64,
    /// The longest delay; 0 is a cap of zero, from the third attempt on.
    pub max_retry_delay_us: i64,
    /// The number of attempts, the first one included.
    pub max_attempts: i32,
    /// `true` if waits are drawn at random below their delay.
    pub jittered: bool,
    /// The timeout of the first attempt.
    pub initial_rpc_timeout_us: i64,
    /// The factor from one attempt's timeout to the next one's.
    pub rpc_timeout_multiplier: f64,
    /// The longest timeout of an attempt after the first; 0 leaves those without a deadline.
    pub max_rpc_timeout_us: i64,
}

impl RawSettings {
    /// Java's `setSimpleTimeoutNoRetries`: one attempt that may take the whole timeout.
    ///
    /// The retryable codes, which that method clears as well, are not part of the settings.
    #[must_use]
    pub fn simple_timeout_no_retries(timeout_us: i64) -> Self {
        Self {
            total_timeout_us: timeout_us,
            max_attempts: 1,
            initial_rpc_timeout_us: timeout_us,
            max_rpc_timeout_us: timeout_us,
            ..Self::default()
        }
    }

    /// Java's `setLogicalTimeout`: total timeout and RPC timeouts are the given one.
    ///
    /// The fields of the delay and `max_attempts` stay as they are, so retries are *not* turned off:
    /// an attempt that fails early is followed by another one, by default without any delay, until the
    /// time is gone. [`RetrySettings::logical_timeout`] makes one attempt, as documented.
    pub fn set_logical_timeout(&mut self, timeout_us: i64) {
        self.total_timeout_us = timeout_us;
        self.initial_rpc_timeout_us = timeout_us;
        self.rpc_timeout_multiplier = 1.0;
        self.max_rpc_timeout_us = timeout_us;
    }

    /// These settings, where a field that is not set, or below zero, is `None`.
    pub(crate) fn as_set(&self) -> RetrySettings {
        let duration = |us: i64| u64::try_from(us).ok().filter(|us| *us > 0).map(Duration::from_micros);
        RetrySettings {
            total_timeout: duration(self.total_timeout_us),
            initial_retry_delay: duration(self.initial_retry_delay_us),
            retry_delay_multiplier: Some(self.retry_delay_multiplier),
            max_retry_delay: duration(self.max_retry_delay_us),
            max_attempts: u32::try_from(self.max_attempts).ok().filter(|attempts| *attempts > 0),
            jittered: self.jittered,
            initial_rpc_timeout: RpcTimeout::written(duration(self.initial_rpc_timeout_us)),
            rpc_timeout_multiplier: self.rpc_timeout_multiplier,
            max_rpc_timeout: RpcTimeout::written(duration(self.max_rpc_timeout_us)),
            ..RetrySettings::default()
        }
    }

    /// Checks the fields as Java's `build()` does.
    ///
    /// Signs are checked on whole milliseconds, cut towards zero, so that -0.999 ms passes (as on Java
    /// 9 and later); NaN and infinite multipliers pass too.
    ///
    /// # Errors
    ///
    /// The first thing found, in Java's order and words.
    pub fn validate(&self) -> Result<(), InvalidRawSettings> {
        let negative = |us: i64| us / 1000 < 0;
        let checks = [
            (negative(self.total_timeout_us), "total timeout must not be negative"),
            (negative(self.initial_retry_delay_us), "initial retry delay must not be negative"),
            (self.retry_delay_multiplier < 1.0, "retry delay multiplier must be at least 1"),
            (
                self.max_retry_delay_us < self.initial_retry_delay_us,
                "max retry delay must not be shorter than initial delay",
            ),
            (self.max_attempts < 0, "max attempts must be non-negative"),
            (negative(self.initial_rpc_timeout_us), "initial rpc timeout must not be negative"),
            (
                self.max_rpc_timeout_us < self.initial_rpc_timeout_us,
                "max rpc timeout must not be shorter than initial timeout",
            ),
            (self.rpc_timeout_multiplier < 1.0, "rpc timeout multiplier must be at least 1"),
        ];
        match checks.into_iter().find(|(wrong, _)| *wrong) {
            Some((_, message)) => Err(InvalidRawSettings { message }),
            None => Ok(()),
        }
    }
}

impl Default for RawSettings {
    fn default() -> Self {
        Self {
            total_timeout_us: 0,
            initial_retry_delay_us: 0,
            retry_delay_multiplier: 1.0,
            max_retry_delay_us: 0,
            max_attempts: 0,
            jittered: true,
            initial_rpc_timeout_us: 0,
            rpc_timeout_multiplier: 1.0,
            max_rpc_timeout_us: 0,
        }
    }
}

impl From<&RetrySettings> for RawSettings {
    /// An unset field becomes 0, except for a maximum whose initial value is set: Java has no unset maximum, and what
    /// comes nearest is the greatest one. What is set stays set, however short.
    fn from(settings: &RetrySettings) -> Self {
        let initial_rpc_timeout_us = micros(settings.initial_rpc_timeout.as_given());
        let delays = settings.retry_delays(Compatibility::GaxJava);
        let initial_retry_delay_us = micros(Some(delays.initial()));
        Self {
            total_timeout_us: settings.total_timeout.map_or(0, |total| micros(Some(total)).max(1)),
            initial_retry_delay_us,
            retry_delay_multiplier: delays.multiplier(),
            max_retry_delay_us: cap(delays.max(), initial_retry_delay_us),
            max_attempts: settings.max_attempts.map_or(0, |most| i32::try_from(most).unwrap_or(i32::MAX)),
            jittered: settings.jittered,
            initial_rpc_timeout_us,
            rpc_timeout_multiplier: settings.rpc_timeout_multiplier,
            max_rpc_timeout_us: cap(settings.max_rpc_timeout.as_given(), initial_rpc_timeout_us),
        }
    }
}

fn cap(cap: Option<Duration>, initial_us: i64) -> i64 {
    match cap {
        Some(_) => micros(cap),
        None if initial_us == 0 => 0,
        None => i64::MAX,
    }
}

/// The duration in microseconds; less than one, but not zero, is treated as one, since 0 would unset it.
fn micros(duration: Option<Duration>) -> i64 {
    let duration = duration.unwrap_or_default();
    let least = i64::from(!duration.is_zero());
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX).max(least)
}

/// Settings that Java's `build()` refuses, with the message of its exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRawSettings {
    message: &'static str,
}

gax_text::error_text! { InvalidRawSettings { message }, "{message}" }
