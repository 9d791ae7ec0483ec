//! The settings of the long-running operations that an RPC starts.

use crate::settings::call_settings::CallSettings;
use gax_retry::RetrySettings;

/// How an RPC's long-running operations are started, and how they are polled until they are done.
///
/// Generated `StubSettings` builders have one of these for each RPC that starts operations, in addition to the
/// [`CallSettings`] of the RPC itself. Its initial values come from GAPIC YAML or, if that has none, are the defaults
/// of Google's generators: polls after 5 s, 7.5 s, .. up to 45 s, for 5 min in all.
///
/// # Examples
///
/// ```
/// use gax_client::CallSettings;
/// use tonic_gax::{CodeSet, RetrySettings};
/// use gax_client::OperationCallSettings;
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
    /// `true` if the first call's settings are its own, `false` if they are those of the RPC.
    is_own: bool,
    polling: RetrySettings,
    server_waits: bool,
    cancels_on_timeout: bool,
}

impl OperationCallSettings {
    /// Settings of the call that starts an operation, and of the polls that follow.
    #[must_use]
    pub fn new(initial_call: CallSettings, polling: RetrySettings) -> Self {
        let first = Self::of_table(initial_call, polling);
        Self { is_own: true, ..first }
    }

    /// The settings that the table has for an RPC, whose first calls are like its others.
    pub(super) fn of_table(initial_call: CallSettings, polling: RetrySettings) -> Self {
        Self { initial_call, is_own: false, polling, server_waits: false, cancels_on_timeout: false }
    }

    /// Those settings, to be changed: from now on they are the operations' own, and start from the table's. A call of the RPC
    /// by itself keeps its settings.
    pub fn initial_call_settings_mut(&mut self) -> &mut CallSettings {
        self.is_own = true;
        &mut self.initial_call
    }

    /// The settings of the RPC, for operations that have none of their own for the first call.
    pub(super) fn follow(&mut self, call: impl FnOnce() -> CallSettings) {
        if !self.is_own {
            self.initial_call = call();
        }
    }

    gax_text::getters! { self:
        /// Returns whether the first call has its own settings.
        pub(super) is_own: bool = self.is_own;

        /// When an operation is polled: the delays between polls, and the time for all of them.
        pub polling_settings: &RetrySettings = &self.polling;

        /// The settings of the call that starts an operation: those that were set for the RPC by name, unless they were
        /// [changed](Self::initial_call_settings_mut) here. Settings that are applied to all unary RPCs of a service only affect
        /// plain calls. (In gax-java, operations always have separate settings.)
        pub initial_call_settings: &CallSettings = &self.initial_call;

        /// Returns whether polls ask the server to wait until the operation is done.
        pub server_waits: bool = self.server_waits;

        /// Returns whether an operation is cancelled when its polling time has passed.
        pub cancels_on_timeout: bool = self.cancels_on_timeout;
    }

    /// Replaces the delays between polls and the limits of all of them: the total timeout, which starts with the first
    /// call, and the number of polls. The RPC timeout, if set, limits one poll with all its retries.
    ///
    /// By gax-java's rules the number of attempts counts the first call too, and RPC timeouts grow from poll to poll.
    pub fn set_polling_settings(&mut self, settings: RetrySettings) -> &mut Self {
        self.polling = settings;
        self
    }

    /// Polls with `WaitOperation`, which replies once the operation is done or a minute is over, instead of `GetOperation`.
    /// If the server waited for a second or more, the next poll follows immediately. Otherwise it follows after the polling
    /// delay, and only such polls count towards the number of polls. Not every server implements it. Default: no.
    pub fn set_server_waits(&mut self, waits: bool) -> &mut Self {
        self.server_waits = waits;
        self
    }

    /// Asks the server to cancel an operation that is not done when the polling time has passed, and then polls it again, for at most
    /// a minute. By then it may have ended with an error or with a response. Default: no, the operation continues.
    pub fn set_cancels_on_timeout(&mut self, cancels: bool) -> &mut Self {
        self.cancels_on_timeout = cancels;
        self
    }
}
