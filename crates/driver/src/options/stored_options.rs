//! Options of a call as programs store them (feature `serde`).

use crate::options::call_options::CallOptions;
use gax_retry::settings::{Override, SettingsOverrides};
use gax_retry::stored::{Attempts, DurationText, Multiplier, Timeout};
use gax_retry::{CodeSet, RetrySettings, SettingsError};
use serde::de::Error;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names are those of the setters, and those of settings.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OptionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_timeout: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_attempt_timeout: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<Attempts>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_max_attempts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_retry_delay: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_delay_multiplier: Option<Multiplier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_retry_delay: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codes: Option<CodeSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_settings: Option<RetrySettings>,
}

/// A number that isn't a code can't be stored.
impl Serialize for CallOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let overrides = &self.overrides;
        let (timeout, without_timeout) = write_override(overrides.total_timeout());
        let (attempt_timeout, without_attempt_timeout) = write_override(overrides.rpc_timeout());
        let (max_attempts, without_max_attempts) = write_override(overrides.max_attempts());
        let fields = OptionFields {
            timeout: timeout.map(Timeout),
            without_timeout,
            attempt_timeout: attempt_timeout.map(Timeout),
            without_attempt_timeout,
            max_attempts: max_attempts.map(Attempts),
            without_max_attempts,
            initial_retry_delay: overrides.initial_retry_delay().map(DurationText),
            retry_delay_multiplier: overrides.retry_delay_multiplier().map(Multiplier),
            max_retry_delay: overrides.max_retry_delay().map(DurationText),
            codes: self.retryable_codes.clone().transpose().map_err(S::Error::custom)?,
            report: self.report,
            retry_settings: self.retry_settings.clone(),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CallOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = OptionFields::deserialize(deserializer)?;
        let time = |time: Option<Timeout>| time.map(|Timeout(time)| time);
        let attempts = fields.max_attempts.map(|Attempts(attempts)| attempts);
        let names = ["timeout", "without_timeout"];
        let total_timeout = read_override(names, time(fields.timeout), fields.without_timeout)?;
        let names = ["attempt_timeout", "without_attempt_timeout"];
        let rpc_timeout = read_override(names, time(fields.attempt_timeout), fields.without_attempt_timeout)?;
        let names = ["max_attempts", "without_max_attempts"];
        let max_attempts = read_override(names, attempts, fields.without_max_attempts)?;
        let mut overrides = SettingsOverrides::default()
            .with_total_timeout(total_timeout)
            .with_rpc_timeout(rpc_timeout)
            .with_max_attempts(max_attempts);
        if let Some(DurationText(delay)) = fields.initial_retry_delay {
            overrides = overrides.with_initial_retry_delay(delay);
        }
        if let Some(Multiplier(multiplier)) = fields.retry_delay_multiplier {
            overrides = overrides.with_retry_delay_multiplier(multiplier);
        }
        if let Some(DurationText(delay)) = fields.max_retry_delay {
            overrides = overrides.with_max_retry_delay(delay);
        }
        let below = fields.retry_settings.as_ref();
        let initial = below.and_then(RetrySettings::initial_retry_delay);
        let max = below.and_then(RetrySettings::max_retry_delay);
        SettingsError::check(overrides.problems(initial, max)).map_err(D::Error::custom)?;
        let OptionFields { codes, report, retry_settings, .. } = fields;
        let retryable_codes = codes.map(Ok);
        Ok(Self { retry_settings, overrides, retryable_codes, report, ..Self::default() })
    }
}

/// The option, from its value and from the word that turns it off.
///
/// # Errors
///
/// Both are there.
pub fn read_override<T, E: Error>(
    [name, off]: [&str; 2],
    value: Option<T>,
    is_disabled: bool,
) -> Result<Override<T>, E> {
    match (value, is_disabled) {
        (None, false) => Ok(Override::Unset),
        (Some(value), false) => Ok(Override::Set(value)),
        (None, true) => Ok(Override::Disabled),
        (Some(_), true) => Err(E::custom(format_args!("{name} and {off} exclude each other; leave one out"))),
    }
}

/// The value, and whether the option is turned off.
pub fn write_override<T>(option: Override<T>) -> (Option<T>, bool) {
    match option {
        Override::Unset => (None, false),
        Override::Set(value) => (Some(value), false),
        Override::Disabled => (None, true),
    }
}
