//! What a single call sets.

use super::duration::DurationText;
use super::numbers::{Attempts, Multiplier, Timeout};
use super::override_words::{read_override, write_override};
use crate::{CodeSet, RetrySettings, SettingsError, SettingsOverrides};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names are those of the setters, and those of settings.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OptionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_timeout: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_attempt_timeout: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<Attempts>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_max_attempts: bool,
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

/// All that the options of a call say.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart where it is read")]
pub struct StoredOptions {
    /// Settings in place of the method's.
    pub retry_settings: Option<RetrySettings>,
    /// Single fields over those.
    pub overrides: SettingsOverrides,
    /// Codes in place of the method's.
    pub codes: Option<CodeSet>,
    /// Whether the response has the report in any case.
    pub report: Option<bool>,
}

impl Serialize for StoredOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let overrides = &self.overrides;
        let (timeout, no_timeout) = write_override(overrides.total_timeout());
        let (attempt_timeout, no_attempt_timeout) = write_override(overrides.rpc_timeout());
        let (max_attempts, no_max_attempts) = write_override(overrides.max_attempts());
        let fields = OptionFields {
            timeout: timeout.map(Timeout),
            no_timeout,
            attempt_timeout: attempt_timeout.map(Timeout),
            no_attempt_timeout,
            max_attempts: max_attempts.map(Attempts),
            no_max_attempts,
            initial_retry_delay: overrides.initial_retry_delay().map(DurationText),
            retry_delay_multiplier: overrides.retry_delay_multiplier().map(Multiplier),
            max_retry_delay: overrides.max_retry_delay().map(DurationText),
            codes: self.codes,
            report: self.report,
            retry_settings: self.retry_settings.clone(),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = OptionFields::deserialize(deserializer)?;
        let time = |time: Option<Timeout>| time.map(|Timeout(time)| time);
        let attempts = fields.max_attempts.map(|Attempts(attempts)| attempts);
        let mut overrides = SettingsOverrides::default()
            .with_total_timeout(read_override(
                ["timeout", "no_timeout"],
                time(fields.timeout),
                fields.no_timeout,
            )?)
            .with_rpc_timeout(read_override(
                ["attempt_timeout", "no_attempt_timeout"],
                time(fields.attempt_timeout),
                fields.no_attempt_timeout,
            )?)
            .with_max_attempts(read_override(
                ["max_attempts", "no_max_attempts"],
                attempts,
                fields.no_max_attempts,
            )?);
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
        let problems = overrides.problems(initial, below.and_then(RetrySettings::max_retry_delay));
        if !problems.is_empty() {
            return Err(D::Error::custom(SettingsError::new(problems)));
        }
        let OptionFields { codes, report, retry_settings, .. } = fields;
        Ok(Self { retry_settings, overrides, codes, report })
    }
}
