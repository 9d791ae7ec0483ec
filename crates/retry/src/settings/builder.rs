//! Collects the fields of [`RetrySettings`] and checks them all at once.

use super::{RetrySettings, RpcTimeout, SettingsError, SettingsProblem};
use crate::{IntoCodes, ParseCodeError};
use std::time::Duration;

/// Makes [`RetrySettings`]; see there for the defaults.
///
/// A setter that takes `impl Into<Option<..>>` also takes `None`, which unsets the field.
#[derive(Debug, Clone, Default)]
#[must_use = "settings come from build()"]
pub struct RetrySettingsBuilder {
    settings: RetrySettings,
    /// The number that was given for a code and is none.
    no_code: Option<ParseCodeError>,
}

impl RetrySettings {
    /// Starts from the defaults.
    pub fn builder() -> RetrySettingsBuilder {
        RetrySettingsBuilder::default()
    }

    /// Starts from these settings, to change some of them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry as tonic_gax;
    /// use tonic_gax::RetrySettings;
    /// use std::time::Duration;
    ///
    /// let patient = RetrySettings::no_retry(Duration::from_secs(5))
    ///     .to_builder()
    ///     .max_attempts(3)
    ///     .build()?;
    /// assert_eq!(patient.total_timeout(), Some(Duration::from_secs(5)));
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn to_builder(&self) -> RetrySettingsBuilder {
        RetrySettingsBuilder::from(self.clone())
    }
}

impl RetrySettingsBuilder {
    gax_text::setters! { self:
        /// The time that all attempts and waits of an operation may take together. Must not be zero.
        pub total_timeout(timeout: impl Into<Option<Duration>>) => self.settings.total_timeout = timeout.into();

        /// One time limit, as tables have it: the total timeout, all of which each attempt may use. It replaces the RPC timeouts.
        /// Must not be zero.
        ///
        /// If the total timeout is changed later, here or by a call, attempts may use all of the new one.
        /// ([`Compatibility::GaxJava`](crate::Compatibility::GaxJava) keeps this value as their RPC timeout, as gax-java does.)
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_retry::RetrySettings;
        /// use std::time::Duration;
        ///
        /// let minute = RetrySettings::builder().timeout(Duration::from_secs(60)).build()?;
        /// let longer = minute.to_builder().total_timeout(Duration::from_secs(120)).build()?;
        /// assert_eq!(longer.initial_rpc_timeout(), Some(Duration::from_secs(120)));
        /// # Ok::<(), gax_retry::SettingsError>(())
        /// ```
        pub timeout(timeout: impl Into<Option<Duration>>) => self.settings = self.settings.with_timeout(timeout.into());
    }

    /// The timeouts as files have them: one, and in its place those of the operation, of the first attempt, and of the longest
    /// attempt that are written separately.
    #[doc(hidden)]
    pub fn timeouts(self, timeout: Option<Duration>, [total, initial, max]: [Option<Duration>; 3]) -> Self {
        let mut builder = match total {
            // The one is that of the attempts.
            Some(_) => self.total_timeout(total).initial_rpc_timeout(timeout).max_rpc_timeout(timeout),
            None if timeout.is_some() => self.timeout(timeout),
            None => self,
        };
        builder = if initial.is_some() { builder.initial_rpc_timeout(initial) } else { builder };
        if max.is_some() { builder.max_rpc_timeout(max) } else { builder }
    }

    gax_text::setters! { self:
        /// The delay before the second attempt. Zero: immediately.
        pub initial_retry_delay(delay: impl Into<Option<Duration>>) => self.settings.initial_retry_delay = delay.into();

        /// The factor from one delay to the next. At least 1.
        pub retry_delay_multiplier(multiplier: impl Into<Option<f64>>) =>
            self.settings.retry_delay_multiplier = multiplier.into();

        /// The longest delay. Not below the initial one, if that is set.
        pub max_retry_delay(delay: impl Into<Option<Duration>>) => self.settings.max_retry_delay = delay.into();

        /// The longest delay that a server may ask for (`Retry-After`) if no total timeout and no deadline of the caller
        /// bounds the operation. If a server asks for more, the operation ends
        /// ([`StopReason::ServerDelayExceedsTotalTimeout`](crate::StopReason::ServerDelayExceedsTotalTimeout)).
        pub max_server_delay(delay: impl Into<Option<Duration>>) => self.settings.max_server_delay = delay.into();
    }

    /// Retryable codes that are only retried if the server asks for a delay, by pushback, `RetryInfo` or
    /// `Retry-After`, and the delay is applied. They must also be among the retryable codes. OTLP requires this for
    /// `RESOURCE_EXHAUSTED`: without a delay, trying again doesn't help.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Code, NoJitter, Policy, RetrySettings, ServerDelay};
    /// use gax_retry::operation::AttemptResult;
    /// use gax_retry::plan::Simulation;
    /// use std::time::Duration;
    ///
    /// let settings = RetrySettings::builder().max_attempts(3).only_with_server_delay(Code::ResourceExhausted).build()?;
    /// let policy = Policy::new(&settings, [Code::Unavailable, Code::ResourceExhausted]);
    /// let attempts = |result| Simulation::new(&policy, &mut NoJitter).run(|_| (Some(Duration::ZERO), result)).0.len();
    /// let refused = AttemptResult::failed(Code::ResourceExhausted);
    /// assert_eq!(attempts(refused), 1);
    /// assert_eq!(attempts(refused.with_server_delay(ServerDelay::AtLeast(Duration::from_secs(1)))), 3);
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn only_with_server_delay<K>(mut self, codes: impl IntoCodes<K>) -> Self {
        match codes.into_codes() {
            Ok(codes) => self.settings.only_with_server_delay = codes,
            Err(error) => self.no_code = Some(error),
        }
        self
    }

    gax_text::setters! { self:
        /// The number of attempts, the first one included. At least 1.
        pub max_attempts(attempts: impl Into<Option<u32>>) => self.settings.max_attempts = attempts.into();

        /// Sets whether waits are drawn at random below their delay. Turn it off in tests only: clients that
        /// were knocked out together must not come back together.
        pub jittered(jittered: bool) => self.settings.jittered = jittered;

        /// The timeout of the first attempt. Must not be zero.
        pub initial_rpc_timeout(timeout: impl Into<Option<Duration>>) =>
            self.settings.initial_rpc_timeout = RpcTimeout::written(timeout.into());

        /// The factor from one attempt's timeout to the next one's. At least 1.
        pub rpc_timeout_multiplier(multiplier: f64) => self.settings.rpc_timeout_multiplier = multiplier;

        /// The longest timeout of an attempt. Not below the initial one.
        pub max_rpc_timeout(timeout: impl Into<Option<Duration>>) =>
            self.settings.max_rpc_timeout = RpcTimeout::written(timeout.into());

        /// One attempt that may take the whole timeout; see [`RetrySettings::logical_timeout`]. The fields
        /// of the delay stay as they are. Must not be zero.
        pub logical_timeout(timeout: Duration) => self.settings = self.settings.with_logical_timeout(timeout);
    }

    /// Checks the fields.
    ///
    /// # Errors
    ///
    /// One error that names every field that is wrong, with its value and what it must be: a multiplier
    /// that is below 1, infinite or not a number; a maximum below its initial value; a timeout or a
    /// number of attempts that is zero.
    pub fn build(self) -> Result<RetrySettings, SettingsError> {
        let settings = &self.settings;
        let delays = [
            settings
                .retry_delay_multiplier
                .and_then(|value| SettingsProblem::of_multiplier("retry_delay_multiplier", value)),
            SettingsProblem::of_cap(
                ("max_retry_delay", settings.max_retry_delay),
                ("initial_retry_delay", settings.initial_retry_delay),
            ),
        ];
        self.checked(delays)
    }

    /// The fields without checks, for code that has checked them or only stores them as a table has them.
    #[must_use]
    pub fn build_unchecked(self) -> RetrySettings {
        self.settings
    }

    /// Checks the fields as gRPC does, for settings that [`Compatibility::Grpc`](crate::Compatibility::Grpc)
    /// runs: delays may shrink, since their multiplier only has to be above zero, and the longest delay may
    /// be shorter than the initial one, which it then replaces.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), except for these two fields.
    pub fn build_for_grpc(self) -> Result<RetrySettings, SettingsError> {
        let multiplier =
            self.settings.retry_delay_multiplier.filter(|value| !(value.is_finite() && *value > 0.0));
        let problem = multiplier.map(|value| {
            let reason = "must be a finite number above 0";
            SettingsProblem::new("retry_delay_multiplier", value.to_string(), reason)
        });
        self.checked([problem, None])
    }

    /// The settings, unless there is a problem with the delays or any other field.
    fn checked(self, delays: [Option<SettingsProblem>; 2]) -> Result<RetrySettings, SettingsError> {
        let settings = self.settings;
        let problems: Vec<SettingsProblem> = [not_zero("total_timeout", settings.total_timeout)]
            .into_iter()
            .chain(delays)
            .chain([
                self.no_code.map(|error| {
                    let reason = "gRPC status codes are numbered from 0 to 16";
                    SettingsProblem::new("only_with_server_delay", error.text(), reason)
                }),
                SettingsProblem::of_attempts(settings.max_attempts),
                not_zero("initial_rpc_timeout", settings.initial_rpc_timeout.own()),
                SettingsProblem::of_multiplier("rpc_timeout_multiplier", settings.rpc_timeout_multiplier),
                not_zero("max_rpc_timeout", settings.max_rpc_timeout.own()),
                SettingsProblem::of_cap(
                    ("max_rpc_timeout", settings.max_rpc_timeout.own()),
                    ("initial_rpc_timeout", settings.initial_rpc_timeout.own()),
                ),
            ])
            .flatten()
            .collect();
        if problems.is_empty() { Ok(settings) } else { Err(SettingsError::new(problems)) }
    }
}

impl From<RetrySettings> for RetrySettingsBuilder {
    fn from(settings: RetrySettings) -> Self {
        Self { settings, no_code: None }
    }
}

fn not_zero(field: &'static str, timeout: Option<Duration>) -> Option<SettingsProblem> {
    timeout
        .filter(Duration::is_zero)
        .map(|_| SettingsProblem::new(field, "0ms", "must be longer than zero (leave it unset for no limit)"))
}
