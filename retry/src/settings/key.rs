//! Settings as the key of a map.

use super::RetrySettings;
use crate::CodeSet;
use std::time::Duration;

/// All that settings say: equal settings have equal keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SettingsKey {
    times: [Option<Duration>; 6],
    multipliers: [Option<u64>; 2],
    only_with_server_delay: CodeSet,
    max_attempts: Option<u32>,
    jittered: bool,
}

impl From<&RetrySettings> for SettingsKey {
    fn from(settings: &RetrySettings) -> Self {
        // Every field has to be here.
        let RetrySettings {
            total_timeout,
            initial_retry_delay,
            retry_delay_multiplier,
            max_retry_delay,
            max_server_delay,
            only_with_server_delay,
            max_attempts,
            jittered,
            initial_rpc_timeout,
            rpc_timeout_multiplier,
            max_rpc_timeout,
        } = *settings;
        Self {
            times: [
                total_timeout,
                initial_retry_delay,
                max_retry_delay,
                max_server_delay,
                initial_rpc_timeout,
                max_rpc_timeout,
            ],
            multipliers: [retry_delay_multiplier, Some(rpc_timeout_multiplier)]
                .map(|multiplier| multiplier.map(f64::to_bits)),
            only_with_server_delay,
            max_attempts,
            jittered,
        }
    }
}
