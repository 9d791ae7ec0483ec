//! Settings, alone and with what else an RPC has.

use super::duration::DurationText;
use super::numbers::{Attempts, Multiplier, Timeout};
use crate::{BatchingSettings, CodeSet, Hedging, RetrySettings, SettingsError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// A struct with the fields of settings, and others beside them. serde can't refuse unknown fields of a flattened one.
macro_rules! with_settings {
    ($(#[$outer:meta])* $visibility:vis struct $name:ident { $($(#[$inner:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        $visibility struct $name {
            /// Total timeout and RPC timeouts in one, as a service config has it.
            #[serde(skip_serializing)]
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
            $($(#[$inner])* $field: $kind,)*
        }

        impl $name {
            fn of(settings: &RetrySettings) -> Self {
                let (delay, time) = (|delay: Option<Duration>| delay.map(DurationText), |time: Option<Duration>| time.map(Timeout));
                let growth = settings.rpc_timeout_multiplier;
                Self {
                    total_timeout: time(settings.total_timeout),
                    initial_retry_delay: delay(settings.initial_retry_delay),
                    retry_delay_multiplier: settings.retry_delay_multiplier.map(Multiplier),
                    max_retry_delay: delay(settings.max_retry_delay),
                    max_server_delay: delay(settings.max_server_delay),
                    only_with_server_delay: Some(settings.only_with_server_delay).filter(|codes| !codes.is_empty()),
                    max_attempts: settings.max_attempts.map(Attempts),
                    jittered: (!settings.jittered).then_some(false),
                    initial_rpc_timeout: time(settings.initial_rpc_timeout),
                    rpc_timeout_multiplier: (growth.to_bits() != 1.0_f64.to_bits()).then_some(Multiplier(growth)),
                    max_rpc_timeout: time(settings.max_rpc_timeout),
                    ..Self::default()
                }
            }

            fn settings(&self) -> Result<RetrySettings, SettingsError> {
                let delay = |delay: Option<DurationText>| delay.map(|DurationText(delay)| delay);
                let time = |time: Option<Timeout>| time.map(|Timeout(time)| time);
                let factor = |factor: Option<Multiplier>| factor.map(|Multiplier(factor)| factor);
                RetrySettings::builder()
                    .total_timeout(time(self.total_timeout.or(self.timeout)))
                    .initial_retry_delay(delay(self.initial_retry_delay))
                    .retry_delay_multiplier(factor(self.retry_delay_multiplier))
                    .max_retry_delay(delay(self.max_retry_delay))
                    .max_server_delay(delay(self.max_server_delay))
                    .only_with_server_delay(self.only_with_server_delay.unwrap_or_default())
                    .max_attempts(self.max_attempts.map(|Attempts(attempts)| attempts))
                    .jittered(self.jittered.unwrap_or(true))
                    .initial_rpc_timeout(time(self.initial_rpc_timeout.or(self.timeout)))
                    .rpc_timeout_multiplier(factor(self.rpc_timeout_multiplier).unwrap_or(1.0))
                    .max_rpc_timeout(time(self.max_rpc_timeout.or(self.timeout)))
                    .build()
            }
        }
    };
}

with_settings! {
    struct SettingsFields {}
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

with_settings! {
    struct CallFields {
        codes: CodeSet,
        #[serde(skip_serializing_if = "Option::is_none")]
        hedging: Option<Hedging>,
        #[serde(skip_serializing_if = "Option::is_none")]
        batching: Option<BatchingSettings>,
    }
}

/// All that an RPC's settings say.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart where it is read")]
pub struct StoredCall {
    /// Limits and back-off.
    pub settings: RetrySettings,
    /// The retryable codes.
    pub codes: CodeSet,
    /// How calls are hedged.
    pub hedging: Option<Hedging>,
    /// How requests are batched.
    pub batching: Option<BatchingSettings>,
}

impl Serialize for StoredCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { settings, codes, hedging, batching } = self;
        let fields = CallFields::of(settings);
        CallFields { codes: *codes, hedging: *hedging, batching: batching.clone(), ..fields }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = CallFields::deserialize(deserializer)?;
        let settings = fields.settings().map_err(D::Error::custom)?;
        let CallFields { codes, hedging, batching, .. } = fields;
        Ok(Self { settings, codes, hedging, batching })
    }
}
