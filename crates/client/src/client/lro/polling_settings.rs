//! How an operation is polled over any client.

use crate::client::lro::protocol::BoxCall;
use crate::settings::CallSettings;
use gax_driver::OperationOptions;
use gax_retry::{Code, RetrySettings};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tonic::Status;

/// A call that notifies the server of something about an operation, by its name.
pub(super) type Notify = Arc<dyn Fn(String) -> BoxCall<()> + Send + Sync>;

/// How an operation is polled over any client: see [`poll`](crate::longrunning::poll). (Generated clients have
/// [`OperationCallSettings`](crate::settings::OperationCallSettings).)
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`polling`](Self::polling) | immediately, then after 5 s, 7.5 s, .. up to 45 s, for 300 s in all |
/// | [`each_poll`](Self::each_poll) | `UNAVAILABLE` and `DEADLINE_EXCEEDED` are retried after 100 ms, 130 ms, .. up to 60 s, 90 s for each attempt |
/// | [`cancel_on_timeout`](Self::cancel_on_timeout) | no |
/// | [`options`](Self::options) | nothing is set |
/// | [`named`](Self::named) | "long-running operation" |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tonic_gax::RetrySettings;
/// use gax_client::longrunning::PollingSettings;
///
/// let hourly = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_secs(10))
///     .max_retry_delay(Duration::from_secs(60))
///     .total_timeout(Duration::from_secs(3600))
///     .build()?;
/// let settings = PollingSettings::new().polling(hourly).cancel_on_timeout(true).named("backup");
/// # let _ = settings;
/// # Ok::<(), tonic_gax::SettingsError>(())
/// ```
#[derive(Clone)]
#[must_use = "settings do nothing until something is polled by them"]
pub struct PollingSettings {
    pub(super) polling: RetrySettings,
    pub(super) each_poll: CallSettings,
    pub(super) cancels: bool,
    pub(super) options: OperationOptions,
    pub(super) name: Cow<'static, str>,
    pub(super) cancel: Option<Notify>,
    pub(super) delete: Option<Notify>,
}

impl Default for PollingSettings {
    fn default() -> Self {
        Self::new()
    }
}

impl PollingSettings {
    /// The defaults.
    pub fn new() -> Self {
        let seconds = Duration::from_secs;
        let polling = RetrySettings::builder()
            .initial_retry_delay(seconds(5))
            .retry_delay_multiplier(1.5)
            .max_retry_delay(seconds(45))
            .total_timeout(seconds(300));
        let each_poll = RetrySettings::builder()
            .initial_retry_delay(Duration::from_millis(100))
            .retry_delay_multiplier(1.3)
            .max_retry_delay(seconds(60))
            .initial_rpc_timeout(seconds(90))
            .total_timeout(seconds(600));
        let codes = [Code::Unavailable, Code::DeadlineExceeded];
        Self {
            polling: polling.build_unchecked(),
            each_poll: CallSettings::new(each_poll.build_unchecked(), codes),
            cancels: false,
            options: OperationOptions::new(),
            name: Cow::Borrowed("long-running operation"),
            cancel: None,
            delete: None,
        }
    }

    gax_text::setters! { self:
        /// The delays between polls, and the limits of all of them: the total timeout, and the number of polls. The RPC
        /// timeout, if one is set, is that of one poll with all its retries. Without any limit the second poll is refused.
        pub polling(polling: RetrySettings) => self.polling = polling;

        /// How each poll is retried, within what is left of the polling time. For a client that retries by itself give one attempt
        /// ([`RetrySettings::no_retry`]).
        pub each_poll(settings: CallSettings) => self.each_poll = settings;

        /// Sets whether an operation that is not done when the polling time has passed is cancelled at its server, by
        /// [`with_cancel`](Self::with_cancel), and then polled again.
        pub cancel_on_timeout(cancels: bool) => self.cancels = cancels;

        /// Names the operation in reports, errors and metrics.
        pub named(name: impl Into<Cow<'static, str>>) => self.name = name.into();
    }

    /// Rules, observers, jitter and more, set over what was set before. The retry budget and the switches of retries are for
    /// each poll, not for the polling.
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.set(options);
        self
    }

    /// The call behind [`LongRunning::cancel`](crate::longrunning::LongRunning::cancel), which is retried as a poll is.
    pub fn with_cancel<Fut>(self, cancel: impl Fn(String) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = Result<(), Status>> + Send + 'static,
    {
        Self { cancel: Some(notify(cancel)), ..self }
    }

    /// The call behind [`LongRunning::delete`](crate::longrunning::LongRunning::delete), which is retried as a poll is.
    pub fn with_delete<Fut>(self, delete: impl Fn(String) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = Result<(), Status>> + Send + 'static,
    {
        Self { delete: Some(notify(delete)), ..self }
    }
}

fn notify<Fut>(call: impl Fn(String) -> Fut + Send + Sync + 'static) -> Notify
where
    Fut: Future<Output = Result<(), Status>> + Send + 'static,
{
    Arc::new(move |name| Box::pin(call(name)))
}

impl From<RetrySettings> for PollingSettings {
    fn from(polling: RetrySettings) -> Self {
        Self::new().polling(polling)
    }
}

impl From<&RetrySettings> for PollingSettings {
    fn from(polling: &RetrySettings) -> Self {
        Self::from(polling.clone())
    }
}

gax_text::short_debug! {
    self: PollingSettings {
        polling: self.polling,
        each_poll: self.each_poll,
        cancel_on_timeout: self.cancels,
        named: self.name
    }
}
