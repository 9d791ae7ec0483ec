//! The settings of one call.

use gax_retry::settings::{Override, SettingsOverrides};
use gax_retry::{CodeSet, IntoCodes, ParseCodeError, Policy, RetrySettings};
use std::fmt;
use std::time::Duration;

/// Settings of a single call, put into the request's extensions.
///
/// An option that is not set comes from the settings that the client or layer has for the method. The order of the calls below
/// makes no difference: single fields go over [`retry_settings`](Self::retry_settings) if that is given, else over
/// the method's own. The two timeouts have two names, never one: `timeout` is the whole operation, `attempt_timeout`
/// one attempt.
///
/// # Defaults
///
/// Nothing is set.
///
/// # Errors
///
/// Options that can't work end the call with `INVALID_ARGUMENT`, and nothing is sent. The status says what is wrong;
/// its [`OperationError`](crate::OperationError) has the reason
/// [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions). That is: no attempts, a multiplier that is
/// below 1 or not finite, a longest delay below the first one, a number that isn't a code.
///
/// Codes without any limit are no error: with neither a total timeout nor a number of attempts, nor a deadline of the
/// caller's, a call is one attempt ([`StopReason::NoLimits`](crate::StopReason::NoLimits)).
///
/// # Stored
///
/// With the feature `serde` they are read from a program's own configuration. The names are those of the setters,
/// `codes` in place of `retryable_codes` as in a table, and `no_timeout = true` and its like turn a limit off.
/// Unknown names, both of `timeout` and `no_timeout`, a timeout of zero and what can't work are errors.
///
/// # Examples
///
/// ```
/// use gax_driver::{CallOptions, Code};
/// use tonic_gax::RequestExt;
/// use std::time::Duration;
///
/// let mut request = tonic::Request::new(());
/// request.extensions_mut().insert(CallOptions::new().timeout(Duration::from_secs(2)));
/// // or, the same with more:
/// let request = tonic::Request::new(()).with_call_options(
///     CallOptions::new().timeout(Duration::from_secs(2)).max_attempts(3).retryable_codes([Code::Aborted]),
/// );
/// # let _ = request;
/// ```
#[derive(Clone, Default, PartialEq)]
#[must_use = "call options do nothing until they are in a request"]
pub struct CallOptions {
    #[doc(hidden)]
    pub retry_settings: Option<RetrySettings>,
    #[doc(hidden)]
    pub overrides: SettingsOverrides,
    #[doc(hidden)]
    pub retryable_codes: Option<Result<CodeSet, ParseCodeError>>,
    #[doc(hidden)]
    pub report: Option<bool>,
    /// The call is an attempt of an operation that somebody else makes.
    #[doc(hidden)]
    pub is_attempt: bool,
}

/// Short: what is not set is left out.
impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { retry_settings, overrides, retryable_codes, report, is_attempt } = self;
        let mut text = f.debug_struct("CallOptions");
        if let Some(settings) = retry_settings {
            text.field("retry_settings", settings);
        }
        if !overrides.is_empty() {
            text.field("overrides", overrides);
        }
        match retryable_codes {
            Some(Ok(codes)) => {
                text.field("retryable_codes", codes);
            }
            Some(Err(error)) => {
                text.field("retryable_codes", error);
            }
            None => {}
        }
        if let Some(report) = report {
            text.field("report", report);
        }
        if *is_attempt {
            text.field("is_attempt", is_attempt);
        }
        text.finish()
    }
}

impl CallOptions {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// For a call that is an attempt of somebody else's operation: it is made once, without limits of its own, and nobody but
    /// that operation reports it.
    #[doc(hidden)]
    pub fn attempt() -> Self {
        Self { is_attempt: true, ..Self::default() }
    }

    /// Replaces the method's settings whole, for this call. Single fields that are set besides go over these.
    pub fn retry_settings(mut self, settings: RetrySettings) -> Self {
        self.retry_settings = Some(settings);
        self
    }

    /// Replaces the method's retryable codes, for this call: codes of this crate, of tonic, or their numbers. For none
    /// give [`CodeSet::EMPTY`].
    ///
    /// By gax-java's rules they don't turn retries on where the method has none: that takes settings, or a number of
    /// attempts, as well.
    pub fn retryable_codes<K>(mut self, codes: impl IntoCodes<K>) -> Self {
        self.retryable_codes = Some(codes.into_codes());
        self
    }

    /// The time of the whole operation, attempts and waits, in place of the settings' total timeout, be it longer or
    /// shorter. A `grpc-timeout` that the request carries and the deadline of the request that is being served bound
    /// the operation besides: the shortest of the three counts.
    ///
    /// It is the caller's deadline: no attempt outlives it, whatever the [compatibility](crate::Compatibility). Zero:
    /// no time is left, the call ends at once and nothing is sent.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|overrides| overrides.with_total_timeout(Override::Set(timeout)))
    }

    /// Lifts the settings' total timeout. A `grpc-timeout` that the request carries and the deadline of the request
    /// that is being served stay, and so do the timeouts of attempts.
    pub fn no_timeout(self) -> Self {
        self.with(|overrides| overrides.with_total_timeout(Override::Disabled))
    }

    /// Gives every attempt this timeout, in place of the settings' initial and maximum RPC timeouts and their
    /// multiplier. It is clamped to what is left of the operation (by gax-java's rules to what the caller's own
    /// deadlines leave). It does not apply to streams. Zero: no time is left, the call ends at once and nothing is
    /// sent.
    pub fn attempt_timeout(self, timeout: Duration) -> Self {
        self.with(|overrides| overrides.with_rpc_timeout(Override::Set(timeout)))
    }

    /// Lets every attempt use all that is left of the operation, whatever RPC timeouts the settings have. (By
    /// gax-java's rules an attempt has no deadline then but the caller's own.)
    pub fn no_attempt_timeout(self) -> Self {
        self.with(|overrides| overrides.with_rpc_timeout(Override::Disabled))
    }

    /// The number of attempts, the first included, in place of the settings'. At least 1.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with(|overrides| overrides.with_max_attempts(Override::Set(attempts)))
    }

    /// Lifts the settings' limit to the number of attempts. (gRPC's rules make no more than five all the same.)
    pub fn no_max_attempts(self) -> Self {
        self.with(|overrides| overrides.with_max_attempts(Override::Disabled))
    }

    /// One attempt: the same as [`max_attempts(1)`](Self::max_attempts). A request that provably was not sent is still
    /// sent again.
    pub fn no_retries(self) -> Self {
        self.max_attempts(1)
    }

    /// The delay before the second attempt, in place of the settings'. Zero: at once. A longest delay that nobody
    /// has set is [no shorter](gax_retry::settings::RetryDelays).
    pub fn initial_retry_delay(self, delay: Duration) -> Self {
        self.with(|overrides| overrides.with_initial_retry_delay(delay))
    }

    /// The factor by which a delay is multiplied to give the next one, in place of the settings'. At least 1.
    pub fn retry_delay_multiplier(self, multiplier: f64) -> Self {
        self.with(|overrides| overrides.with_retry_delay_multiplier(multiplier))
    }

    /// The longest delay, in place of the settings'. Not below the first delay, if that is set, by the call or by the
    /// settings.
    pub fn max_retry_delay(self, delay: Duration) -> Self {
        self.with(|overrides| overrides.with_max_retry_delay(delay))
    }

    /// Whether the response's extensions have the [`OperationReport`](crate::OperationReport) even where one attempt
    /// was enough, whatever the client or layer says. After a retry it is there in any case.
    pub fn report(mut self, report: bool) -> Self {
        self.report = Some(report);
        self
    }

    fn with(mut self, change: impl FnOnce(SettingsOverrides) -> SettingsOverrides) -> Self {
        self.overrides = change(self.overrides);
        self
    }

    /// Whether the settings of the method are changed at all.
    #[doc(hidden)]
    pub fn changes_settings(&self) -> bool {
        self.retry_settings.is_some()
            || self.replaces_codes()
            || !self.overrides.is_empty()
            || self.is_attempt
    }

    /// Whether the call says itself what is retried.
    #[doc(hidden)]
    pub fn replaces_codes(&self) -> bool {
        self.retryable_codes.is_some()
    }

    /// The time that the call gives all its attempts.
    #[doc(hidden)]
    pub fn deadline(&self) -> Option<Duration> {
        self.overrides.total_timeout().over(None)
    }

    /// The policy of the call, of that of its method.
    #[doc(hidden)]
    pub fn applied_to(&self, mut policy: Policy) -> Policy {
        if let Some(settings) = &self.retry_settings {
            policy = policy.with_retry_settings(settings);
        }
        policy = policy.with_overrides(&self.overrides);
        match &self.retryable_codes {
            Some(codes) => policy.with_retryable_codes(codes.clone()),
            None => policy,
        }
    }
}
