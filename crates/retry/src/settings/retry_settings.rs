//! The limits and back-off of one RPC.

use super::RpcTimeout;
use crate::CodeSet;
use std::time::Duration;

/// The limits and the back-off of an RPC: how many attempts it makes, how long they may take, and the waits between
/// them.
///
/// An *operation* is one call by the user, with one or more *attempts*. A field that is not set is `None`, never
/// zero.
///
/// # Defaults
///
/// | setting | default | meaning of the default |
/// | --- | --- | --- |
/// | `total_timeout` | unset | the operation has no limit by time |
/// | `initial_retry_delay` | unset | 100 ms, or `max_retry_delay` if that is shorter |
/// | `retry_delay_multiplier` | unset | 1.3; a constant delay is written as 1.0 |
/// | `max_retry_delay` | unset | 60 s, or the initial delay if that is longer |
/// | `max_server_delay` | unset | `max_retry_delay` if that is set and longer than 60 s, else 60 s |
/// | `only_with_server_delay` | none | every retryable code counts, whether the server asks for a delay or not |
/// | `max_attempts` | unset | no limit by count; the first attempt counts |
/// | `jittered` | true | a wait is drawn from [1 ms, delay] |
/// | `initial_rpc_timeout` | unset | an attempt may use all that is left of the total |
/// | `rpc_timeout_multiplier` | 1.0 | every attempt has the same timeout |
/// | `max_rpc_timeout` | unset | RPC timeouts have no cap |
///
/// With neither a total timeout nor a number of attempts, an RPC is never retried. Each delay that is not set has the
/// default of this table, whatever the others are: only an initial delay of `Duration::ZERO` retries immediately. The
/// names and their meaning are those of gax-java's `RetrySettings`.
///
/// With the feature `serde` they are stored and read with the field names of tables in TOML: durations are strings such as `"1500ms"` or
/// `"1h30m"`, absent fields are unset, unknown fields are rejected, and the result is checked as by
/// [`build`](crate::RetrySettingsBuilder::build). `timeout` is [one limit](crate::RetrySettingsBuilder::timeout) for the operation and each
/// of its attempts, as in a table.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::RetrySettings;
/// use std::time::Duration;
///
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_millis(200))
///     .retry_delay_multiplier(2.0)
///     .max_retry_delay(Duration::from_millis(500))
///     .initial_rpc_timeout(Duration::from_millis(1500))
///     .rpc_timeout_multiplier(2.0)
///     .max_rpc_timeout(Duration::from_millis(3000))
///     .total_timeout(Duration::from_millis(5000))
///     .build()?;
/// assert_eq!(settings.total_timeout(), Some(Duration::from_secs(5)));
/// assert_eq!(settings.max_attempts(), None);
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct RetrySettings {
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) initial_retry_delay: Option<Duration>,
    pub(crate) retry_delay_multiplier: Option<f64>,
    pub(crate) max_retry_delay: Option<Duration>,
    pub(crate) max_server_delay: Option<Duration>,
    pub(crate) only_with_server_delay: CodeSet,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) jittered: bool,
    pub(crate) initial_rpc_timeout: RpcTimeout,
    pub(crate) rpc_timeout_multiplier: f64,
    pub(crate) max_rpc_timeout: RpcTimeout,
}

impl RetrySettings {
    /// The defaults.
    pub(crate) const UNSET: Self = Self {
        total_timeout: None,
        initial_retry_delay: None,
        retry_delay_multiplier: None,
        max_retry_delay: None,
        max_server_delay: None,
        only_with_server_delay: CodeSet::EMPTY,
        max_attempts: None,
        jittered: true,
        initial_rpc_timeout: RpcTimeout::UNSET,
        rpc_timeout_multiplier: 1.0,
        max_rpc_timeout: RpcTimeout::UNSET,
    };

    /// One attempt that may take the whole timeout.
    ///
    /// The documentation's `setLogicalTimeout`: total timeout and RPC timeout are the given one, and no second
    /// attempt is made. (gax-java's own method limits the time only, so that a quick failure is retried without any
    /// delay; see [`Compatibility::GaxJava`](crate::Compatibility::GaxJava).) With a timeout of zero there is no time
    /// left: every call ends immediately, and nothing is sent.
    #[must_use]
    pub fn logical_timeout(timeout: Duration) -> Self {
        Self::default().with_logical_timeout(timeout)
    }

    /// These delays, and one attempt that may take the whole timeout: see
    /// [`logical_timeout`](Self::logical_timeout).
    #[must_use]
    pub fn with_logical_timeout(self, timeout: Duration) -> Self {
        Self { max_attempts: Some(1), rpc_timeout_multiplier: 1.0, ..self.with_timeout(Some(timeout)) }
    }

    pub(super) const fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.total_timeout = timeout;
        self.initial_rpc_timeout = RpcTimeout::of_total(timeout);
        self.max_rpc_timeout = RpcTimeout::of_total(timeout);
        self
    }

    /// One attempt with that timeout, never retried: gax-java's `setSimpleTimeoutNoRetries`.
    ///
    /// With a timeout of zero there is no time left: every call ends immediately, and nothing is sent.
    #[must_use]
    pub fn no_retry(timeout: Duration) -> Self {
        Self::logical_timeout(timeout)
    }

    gax_text::getters! {
        /// The time that all attempts and waits of an operation may take together.
        total_timeout: Option<Duration>;

        /// The delay before the second attempt, if set; [`retry_delays`](Self::retry_delays) has the resulting delay.
        initial_retry_delay: Option<Duration>;

        /// The factor from one delay to the next, if set.
        retry_delay_multiplier: Option<f64>;

        /// The longest delay, if set.
        max_retry_delay: Option<Duration>;

        /// The longest delay that a server may ask for (`Retry-After`) if no total timeout bounds the operation, if set.
        max_server_delay: Option<Duration>;

        /// The retryable codes that are only retried if the server asks for a delay.
        only_with_server_delay: CodeSet;

        /// The number of attempts, the first one included.
        max_attempts: Option<u32>;

        /// Returns whether waits are drawn at random below their delay.
        jittered: bool;

        /// The factor from one attempt's timeout to the next one's.
        rpc_timeout_multiplier: f64;
    }

    gax_text::getters! { self:
        /// The timeout of the first attempt. Settings with [one timeout](crate::RetrySettingsBuilder::timeout) have the total timeout.
        pub initial_rpc_timeout: Option<Duration> = self.initial_rpc_timeout.with_total(self.total_timeout);

        /// The longest timeout of an attempt. Settings with [one timeout](crate::RetrySettingsBuilder::timeout) have the total timeout.
        pub max_rpc_timeout: Option<Duration> = self.max_rpc_timeout.with_total(self.total_timeout);
    }

    /// Returns whether the timeout of the first attempt, and the longest one, are nothing but the total timeout.
    #[doc(hidden)]
    #[must_use]
    pub fn rpc_timeouts_are_total(&self) -> [bool; 2] {
        [self.initial_rpc_timeout.is_of_total(), self.max_rpc_timeout.is_of_total()]
    }

    /// These settings for an operation whose caller allows at most `timeout`: the shorter of the two total timeouts
    /// applies. Zero: no time is left.
    #[must_use]
    pub fn bounded_by(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(self.total_timeout.map_or(timeout, |total| total.min(timeout)));
        self
    }
}

// Short: fields with their default are left out.
gax_text::set_debug! {
    self: RetrySettings {
        total_timeout: self.total_timeout,
        initial_retry_delay: self.initial_retry_delay,
        retry_delay_multiplier: self.retry_delay_multiplier,
        max_retry_delay: self.max_retry_delay,
        max_server_delay: self.max_server_delay,
        only_with_server_delay: Some(self.only_with_server_delay).filter(|codes| !codes.is_empty()),
        max_attempts: self.max_attempts,
        jittered: Some(self.jittered).filter(|jittered| !jittered),
        initial_rpc_timeout: self.initial_rpc_timeout(),
        rpc_timeout_multiplier: Some(self.rpc_timeout_multiplier).filter(|growth| growth.to_bits() != 1.0_f64.to_bits()),
        max_rpc_timeout: self.max_rpc_timeout()
    }
}

impl Default for RetrySettings {
    /// The defaults of the table above: no limit, and therefore no retry.
    fn default() -> Self {
        Self::UNSET
    }
}
