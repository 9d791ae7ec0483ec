//! Settings as the key of a map.

use gax_retry::{CodeSet, RetrySettings};
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
        Self {
            times: [
                settings.total_timeout(),
                settings.initial_retry_delay(),
                settings.max_retry_delay(),
                settings.max_server_delay(),
                settings.initial_rpc_timeout(),
                settings.max_rpc_timeout(),
            ],
            multipliers: [settings.retry_delay_multiplier(), Some(settings.rpc_timeout_multiplier())]
                .map(|multiplier| multiplier.map(f64::to_bits)),
            only_with_server_delay: settings.only_with_server_delay(),
            max_attempts: settings.max_attempts(),
            jittered: settings.jittered(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{Code, RetrySettingsBuilder};
    use std::collections::HashSet;

    const SECOND: Duration = Duration::from_secs(1);

    /// Each setter of the builder: a field that has a setter and no place in the key makes two keys one.
    #[test]
    fn a_field_that_differs_makes_another_key() {
        let setters: [fn(RetrySettingsBuilder) -> RetrySettingsBuilder; 11] = [
            |settings| settings.total_timeout(SECOND),
            |settings| settings.initial_retry_delay(SECOND),
            |settings| settings.retry_delay_multiplier(2.0),
            |settings| settings.max_retry_delay(SECOND),
            |settings| settings.max_server_delay(SECOND),
            |settings| settings.only_with_server_delay(Code::Aborted),
            |settings| settings.max_attempts(3),
            |settings| settings.jittered(false),
            |settings| settings.initial_rpc_timeout(SECOND),
            |settings| settings.rpc_timeout_multiplier(2.0),
            |settings| settings.max_rpc_timeout(SECOND),
        ];
        let key = |settings: RetrySettingsBuilder| SettingsKey::from(&settings.build_unchecked());
        let none = key(RetrySettings::builder());
        let keys: HashSet<_> = setters.iter().map(|set| key(set(RetrySettings::builder()))).collect();
        assert_eq!(keys.len(), setters.len());
        assert!(!keys.contains(&none));
        assert_eq!(key(RetrySettings::builder()), none);
        // A new field of settings has to be here and in the key: their text names every field that is set.
        let all = setters.iter().fold(RetrySettings::builder(), |settings, set| set(settings));
        let text = format!("{:?}", all.build_unchecked());
        assert_eq!(text.matches(": ").count(), setters.len(), "{text}");
    }
}
