//! The settings of one method.

use crate::settings::SettingsProblem;
use crate::{CodeSet, Compatibility, Hedging, IntoCodes, ParseCodeError, Policy, RetrySettings};
use std::time::Duration;

/// The settings of the calls of one method, of a service or of everything, as plain data.
///
/// # Examples
///
/// ```
/// use gax_retry::{Code, CodeSet, Hedging, MethodSettings, RetrySettings};
/// use std::time::Duration;
///
/// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
/// let retried = MethodSettings::new(settings.clone(), [Code::Unavailable]);
/// let hedged = MethodSettings::new(settings, CodeSet::EMPTY).hedging(Hedging::new(2).delay(Duration::from_millis(50)));
/// # drop((retried, hedged));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct MethodSettings {
    retry_settings: RetrySettings,
    codes: Result<CodeSet, ParseCodeError>,
    hedging: Option<Hedging>,
    wait_for_ready: Option<bool>,
    wait_timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
}

/// No limits, and nothing is retried.
impl Default for MethodSettings {
    fn default() -> Self {
        Self::new(RetrySettings::default(), CodeSet::EMPTY)
    }
}

impl From<&MethodSettings> for MethodSettings {
    fn from(settings: &MethodSettings) -> Self {
        settings.clone()
    }
}

impl MethodSettings {
    /// Settings with these limits and this back-off, by which these codes are retried.
    ///
    /// If a number among the codes isn't a code, each operation ends with
    /// [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions).
    pub fn new<K>(retry_settings: RetrySettings, codes: impl IntoCodes<K>) -> Self {
        Self {
            retry_settings,
            codes: codes.into_codes(),
            hedging: None,
            wait_for_ready: None,
            wait_timeout: None,
            idle_timeout: None,
        }
    }

    gax_text::setters! { self:
        /// Hedges calls instead of retrying them. Default: `None`, they are retried.
        pub hedging(hedging: impl Into<Option<Hedging>>) => self.hedging = hedging.into();

        /// Sets whether calls wait for a connection. Default: `None`, the connection decides.
        pub wait_for_ready(waits: impl Into<Option<bool>>) => self.wait_for_ready = waits.into();
    }

    /// Sets the timeouts of streams of responses: the longest that a caller waits for a message, and the longest that it may leave the
    /// stream alone. Default: `None`, no limits. `gax-streams` applies them. A timeout of zero ends each operation with
    /// [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions).
    pub fn stream_timeouts(
        self,
        wait: impl Into<Option<Duration>>,
        idle: impl Into<Option<Duration>>,
    ) -> Self {
        Self { wait_timeout: wait.into(), idle_timeout: idle.into(), ..self }
    }

    gax_text::getters! { self:
        /// Returns the limits and the back-off.
        pub retry_settings: &RetrySettings = &self.retry_settings;

        /// Returns the codes that are retried.
        ///
        /// # Errors
        ///
        /// A number that was given as a code and isn't one.
        pub codes: Result<CodeSet, ParseCodeError> = self.codes.clone();

        /// Returns how calls are hedged.
        pub own_hedging: Option<Hedging> = self.hedging;

        /// Returns whether calls wait for a connection.
        pub waits_for_ready: Option<bool> = self.wait_for_ready;

        /// Returns the longest that the caller of a stream waits for a message.
        pub wait_timeout: Option<Duration> = self.wait_timeout;

        /// Returns the longest that the caller of a stream may leave it alone.
        pub idle_timeout: Option<Duration> = self.idle_timeout;
    }

    /// Returns the timeouts of streams that can't work, whatever the method.
    #[must_use]
    pub fn stream_problems(&self) -> Vec<SettingsProblem> {
        const ZERO: &str = "must be longer than zero (leave it unset for no limit)";
        let timeouts = [("wait_timeout", self.wait_timeout), ("idle_timeout", self.idle_timeout)];
        let zeros = timeouts.into_iter().filter(|(_, timeout)| timeout.is_some_and(|time| time.is_zero()));
        zeros.map(|(name, _)| SettingsProblem::new(name, "0ms", ZERO)).collect()
    }

    /// Returns the policy that operations run by, with that compatibility.
    pub fn to_policy(&self, compatibility: Compatibility) -> Policy {
        Policy::with_compatibility(&self.retry_settings, self.codes(), compatibility)
            .with_hedging(self.hedging)
            .unusable(self.stream_problems())
    }
}
