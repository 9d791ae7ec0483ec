//! Settings, in the words of tables.

use super::checked::{Attempts, Multiplier, Timeout};
use super::duration::DurationText;
use crate::{CodeSet, RetrySettings, SettingsError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SettingsFields {
    /// Total timeout and RPC timeouts in one, as a service config has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_retry_delay: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_delay_multiplier: Option<Multiplier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_retry_delay: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_server_delay: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_with_server_delay: Option<CodeSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<Attempts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jittered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_rpc_timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rpc_timeout_multiplier: Option<Multiplier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_rpc_timeout: Option<Timeout>,
}

impl SettingsFields {
    fn of(settings: &RetrySettings) -> Self {
        let (delay, time) =
            (|delay: Option<Duration>| delay.map(DurationText), |time: Option<Duration>| time.map(Timeout));
        let growth = settings.rpc_timeout_multiplier;
        let is_one = settings.rpc_timeouts_are_total().contains(&true);
        Self {
            timeout: time(settings.total_timeout.filter(|_| is_one)),
            total_timeout: time(settings.total_timeout.filter(|_| !is_one)),
            initial_retry_delay: delay(settings.initial_retry_delay),
            retry_delay_multiplier: settings.retry_delay_multiplier.map(Multiplier),
            max_retry_delay: delay(settings.max_retry_delay),
            max_server_delay: delay(settings.max_server_delay),
            only_with_server_delay: Some(settings.only_with_server_delay).filter(|codes| !codes.is_empty()),
            max_attempts: settings.max_attempts.map(Attempts),
            jittered: (!settings.jittered).then_some(false),
            initial_rpc_timeout: time(settings.initial_rpc_timeout.own()),
            rpc_timeout_multiplier: (growth.to_bits() != 1.0_f64.to_bits()).then_some(Multiplier(growth)),
            max_rpc_timeout: time(settings.max_rpc_timeout.own()),
        }
    }

    fn settings(&self) -> Result<RetrySettings, SettingsError> {
        let delay = |delay: Option<DurationText>| delay.map(|DurationText(delay)| delay);
        let time = |time: Option<Timeout>| time.map(|Timeout(time)| time);
        let factor = |factor: Option<Multiplier>| factor.map(|Multiplier(factor)| factor);
        RetrySettings::builder()
            .timeouts(
                time(self.timeout),
                [self.total_timeout, self.initial_rpc_timeout, self.max_rpc_timeout].map(time),
            )
            .initial_retry_delay(delay(self.initial_retry_delay))
            .retry_delay_multiplier(factor(self.retry_delay_multiplier))
            .max_retry_delay(delay(self.max_retry_delay))
            .max_server_delay(delay(self.max_server_delay))
            .only_with_server_delay(self.only_with_server_delay.unwrap_or_default())
            .max_attempts(self.max_attempts.map(|Attempts(attempts)| attempts))
            .jittered(self.jittered.unwrap_or(true))
            .rpc_timeout_multiplier(factor(self.rpc_timeout_multiplier).unwrap_or(1.0))
            .build()
    }
}

impl Serialize for RetrySettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SettingsFields::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RetrySettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SettingsFields::deserialize(deserializer)?.settings().map_err(D::Error::custom)
    }
}
