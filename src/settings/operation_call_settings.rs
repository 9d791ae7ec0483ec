//! The settings of the long-running operations that an RPC starts.

use crate::settings::call_settings::CallSettings;
use gax_retry::RetrySettings;

/// How an RPC's long-running operations are started, and how they are polled until they are done.
///
/// Generated `StubSettings` builders hand out one of these for each RPC that starts operations, beside the
/// [`CallSettings`] of the RPC itself. What it starts with is what GAPIC YAML says or, where that says nothing,
/// what Google's generators take: polls after 5 s, 7.5 s, .. up to 45 s, for 5 min in all.
///
/// # Examples
///
/// ```
/// use tonic_gax::{CallSettings, CodeSet, OperationCallSettings, RetrySettings};
/// use std::time::Duration;
///
/// let start = CallSettings::new(RetrySettings::no_retry(Duration::from_secs(60)), CodeSet::EMPTY);
/// let polling = RetrySettings::builder().initial_retry_delay(Duration::from_secs(1));
/// let mut operation = OperationCallSettings::new(start, polling.clone().build()?);
/// operation.set_polling_settings(polling.total_timeout(Duration::from_secs(3600)).build()?);
/// assert_eq!(operation.polling_settings().total_timeout(), Some(Duration::from_secs(3600)));
/// # Ok::<(), tonic_gax::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OperationCallSettings {
    initial_call: CallSettings,
    polling: RetrySettings,
}

impl OperationCallSettings {
    /// Settings of the call that starts an operation, and of the polls that follow.
    #[must_use]
    pub fn new(initial_call: CallSettings, polling: RetrySettings) -> Self {
        Self { initial_call, polling }
    }

    /// The settings of the call that starts an operation.
    #[must_use]
    pub fn initial_call_settings(&self) -> &CallSettings {
        &self.initial_call
    }

    /// Those settings, to be changed. A call of the RPC by itself has settings of its own.
    pub fn initial_call_settings_mut(&mut self) -> &mut CallSettings {
        &mut self.initial_call
    }

    /// When an operation is polled: the delays between polls, and the time for all of them.
    #[must_use]
    pub fn polling_settings(&self) -> &RetrySettings {
        &self.polling
    }

    /// Replaces the delays between polls and the time for all of them.
    pub fn set_polling_settings(&mut self, settings: RetrySettings) -> &mut Self {
        self.polling = settings;
        self
    }
}
