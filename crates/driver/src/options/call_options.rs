//! The settings of one call.

use gax_retry::settings::{Override, SettingsOverrides};
use gax_retry::{CodeSet, IntoCodes, ParseCodeError, Policy, RetrySettings};
use std::fmt::Debug;
use std::time::Duration;

/// Settings of a single call, in the request's extensions. Use them for a call that needs another timeout, other codes or no retries.
///
/// An option that is not set keeps the value that the client or layer has for the method. The order of the setters makes no
/// difference: single fields replace those of [`retry_settings`](Self::retry_settings) if you call that, and otherwise those of the
/// method. There are two timeouts: `timeout` limits the whole operation, `attempt_timeout` one attempt.
///
/// # Defaults
///
/// Nothing is set.
///
/// # Errors
///
/// Invalid options end the call with `INVALID_ARGUMENT`, and nothing is sent. The status says what is wrong, and its
/// [`OperationError`](crate::OperationError) has the reason [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions).
/// Invalid are zero attempts, a multiplier that is below 1 or not finite, a longest delay below the first one, and a number that
/// isn't a code.
///
/// Codes without any limit are not an error: with neither a total timeout, a number of attempts nor a deadline of the caller, the
/// call makes one attempt ([`StopReason::NoLimits`](crate::StopReason::NoLimits)).
///
/// # Stored
///
/// With the feature `serde` they can be read from a program's configuration. The names are those of the setters, with `codes` for
/// `retryable_codes`. `without_timeout = true`, `without_attempt_timeout` and `without_max_attempts` remove a limit. Unknown names, both of
/// `timeout` and `without_timeout`, a timeout of zero, and invalid options are errors.
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
#[non_exhaustive]
pub struct CallOptions {
    #[doc(hidden)]
    pub retry_settings: Option<RetrySettings>,
    #[doc(hidden)]
    pub overrides: SettingsOverrides,
    #[doc(hidden)]
    pub retryable_codes: Option<Result<CodeSet, ParseCodeError>>,
    #[doc(hidden)]
    pub report: Option<bool>,
    /// The call is an attempt of another operation.
    #[doc(hidden)]
    pub is_attempt: bool,
}

// Short: what is not set is left out.
gax_text::set_debug! {
    self: CallOptions {
        retry_settings: self.retry_settings.as_ref(),
        overrides: Some(self.overrides).filter(|overrides| !overrides.is_empty()),
        retryable_codes: self.retryable_codes.as_ref().map(|codes| match codes {
            Ok(codes) => codes as &dyn Debug,
            Err(error) => error,
        }),
        report: self.report,
        is_attempt: Some(self.is_attempt).filter(|is_attempt| *is_attempt)
    }
}

impl CallOptions {
    /// Options that are all unset.
    pub fn new() -> Self {
        Self::default()
    }

    /// For a call that is an attempt of another operation: it is made once, without its own limits, and only that
    /// operation reports it. For programs that retry calls of a client that retries, too.
    pub fn attempt() -> Self {
        Self { is_attempt: true, ..Self::default() }
    }

    gax_text::setters! { self:
        /// Replaces all settings of the method for this call. Single fields that are also set replace those of `settings`.
        pub retry_settings(settings: RetrySettings) => self.retry_settings = Some(settings);

        /// Sets whether the response has an [`OperationReport`](crate::OperationReport) in its extensions even if the first attempt
        /// succeeded. After a retry, it always has one.
        pub report(report: bool) => self.report = Some(report);
    }

    /// Replaces the method's retryable codes for this call: codes of this crate, of tonic, or their numbers. For no codes, use
    /// [`CodeSet::EMPTY`].
    ///
    /// By gax-java's rules, codes alone don't turn on retries of a method without retries: also set a number of attempts, a delay or
    /// whole settings.
    pub fn retryable_codes<K>(mut self, codes: impl IntoCodes<K>) -> Self {
        self.retryable_codes = Some(codes.into_codes());
        self
    }

    /// Limits the whole operation, attempts and waits, instead of the settings' total timeout. It can be longer or shorter. A
    /// `grpc-timeout` of the request and the deadline of the request that is being served still apply: the shortest of the
    /// three limits the operation.
    ///
    /// No attempt outlives it, with any [compatibility](crate::Compatibility). Zero means that no time is left: the call fails
    /// immediately, and nothing is sent.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|overrides| overrides.with_total_timeout(Override::Set(timeout)))
    }

    /// Removes the settings' total timeout. A `grpc-timeout` of the request, the deadline of the request that is being served, and
    /// the timeouts of attempts still apply.
    pub fn without_timeout(self) -> Self {
        self.with(|overrides| overrides.with_total_timeout(Override::Disabled))
    }

    /// Gives every attempt this timeout, instead of the settings' initial and maximum RPC timeouts and their multiplier. It is
    /// limited to the remaining time of the operation (by gax-java's rules, to that of the caller's deadlines). It does not
    /// apply to streams. Zero means that no time is left: the call fails immediately, and nothing is sent.
    pub fn attempt_timeout(self, timeout: Duration) -> Self {
        self.with(|overrides| overrides.with_rpc_timeout(Override::Set(timeout)))
    }

    /// Lets every attempt use the remaining time of the operation, instead of the RPC timeouts of the settings. (By gax-java's
    /// rules, only the caller's deadline then limits an attempt.)
    pub fn without_attempt_timeout(self) -> Self {
        self.with(|overrides| overrides.with_rpc_timeout(Override::Disabled))
    }

    /// Sets the number of attempts, including the first, instead of the settings'. At least 1.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with(|overrides| overrides.with_max_attempts(Override::Set(attempts)))
    }

    /// Removes the settings' limit on the number of attempts. (gRPC's rules still allow at most five.)
    pub fn without_max_attempts(self) -> Self {
        self.with(|overrides| overrides.with_max_attempts(Override::Disabled))
    }

    /// Makes one attempt: the same as [`max_attempts(1)`](Self::max_attempts). A request that was certainly not sent is still sent
    /// again.
    pub fn without_retries(self) -> Self {
        self.max_attempts(1)
    }

    /// The delay before the second attempt, instead of the settings'. Zero: immediately. A longest delay that isn't
    /// set is [at least as long](gax_retry::settings::RetryDelays).
    pub fn initial_retry_delay(self, delay: Duration) -> Self {
        self.with(|overrides| overrides.with_initial_retry_delay(delay))
    }

    /// Sets the factor between two delays, instead of the settings'. At least 1.
    pub fn retry_delay_multiplier(self, multiplier: f64) -> Self {
        self.with(|overrides| overrides.with_retry_delay_multiplier(multiplier))
    }

    /// Sets the longest delay, instead of the settings'. It must not be below the first delay, if the call or the settings set
    /// one.
    pub fn max_retry_delay(self, delay: Duration) -> Self {
        self.with(|overrides| overrides.with_max_retry_delay(delay))
    }

    fn with(mut self, change: impl FnOnce(SettingsOverrides) -> SettingsOverrides) -> Self {
        self.overrides = change(self.overrides);
        self
    }

    /// Returns whether they change the settings of the method at all.
    #[must_use]
    pub fn changes_settings(&self) -> bool {
        self.retry_settings.is_some()
            || self.replaces_codes()
            || !self.overrides.is_empty()
            || self.is_attempt
    }

    gax_text::getters! { self:
        /// Returns whether they name retryable codes, instead of those of the method.
        pub replaces_codes: bool = self.retryable_codes.is_some();

        /// The total timeout that they set; `None`: they set none, or turn that of the method off.
        pub deadline: Option<Duration> = self.overrides.total_timeout().over(None);
    }

    /// The policy of a call with these options, whose method has that one.
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
