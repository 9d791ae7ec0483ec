//! Polling over any client.

use crate::client::lro::config::{Config, First};
use crate::client::lro::generated::google::longrunning::Operation;
use crate::client::lro::handle::{LongRunning, resume};
use crate::client::lro::protocol::{BoxCall, OperationsServer};
use crate::settings::CallSettings;
use gax_driver::__private::{Locked, earlier, until};
use gax_driver::closure::RetryOutcome;
use gax_driver::protocol::Name;
use gax_driver::{OperationError, OperationOptions, RetryError, Retryer};
use gax_retry::{Code, CodeSet, RetrySettings, StartedAttempt};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// Polls a long-running operation by its name, over any client, until it is done.
///
/// `get` asks for the operation as it is now: a `GetOperation` of whatever client you have. It is called immediately and then as
/// the settings say; each poll is a separate operation, which is retried as [`each_poll`](PollingSettings::each_poll) says. Give
/// [`RetrySettings`](tonic_gax::RetrySettings) for the polling alone, or [`PollingSettings`] for more.
///
/// The result has messages as they are; [`typed`](LongRunning::typed) gives them their types. Where the name came from makes
/// no difference: the process that started the operation may be gone.
///
/// # Errors
///
/// See [`LongRunningError`](crate::longrunning::LongRunningError).
///
/// # Panics
///
/// A panic of `get` is the caller's.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tonic_gax::RetrySettings;
/// use gax_client::longrunning::{self, LongRunningError, Operation};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_secs(1))
///     .total_timeout(Duration::from_secs(10))
///     .build()?;
/// let backup = longrunning::poll("operations/backup-7", &settings, |name| async move {
///     Ok(Operation { name, ..Operation::default() })
/// });
/// let Err(LongRunningError::PollingTimedOut(end)) = backup.await else { panic!() };
/// assert_eq!(end.name(), "operations/backup-7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn poll<F, Fut>(name: impl Into<String>, settings: impl Into<PollingSettings>, get: F) -> LongRunning
where
    F: FnMut(String) -> Fut + Send + 'static,
    Fut: Future<Output = Result<Operation, Status>> + Send + 'static,
{
    let settings: PollingSettings = settings.into();
    let observers = settings.options.observers.shared();
    let called = Name::from(settings.name.clone());
    let config = Config {
        cancels: settings.cancels && settings.cancel.is_some(),
        ..Config::new(called, First::Poll, &settings.polling, &settings.options, observers)
    };
    let server = ClosureServer { get: Arc::new(Locked::new(get)), settings };
    resume(Box::new(server), name.into(), Arc::new(config))
}

/// The calls of closures.
struct ClosureServer<F> {
    /// One call at a time is made of it, so that no caller waits for the lock.
    get: Arc<Locked<F>>,
    settings: PollingSettings,
}

impl<F> ClosureServer<F> {
    /// Runs one poll, which is over by that deadline.
    fn retryer(&self, deadline: Option<Instant>) -> Retryer<CodeSet> {
        let PollingSettings { each_poll, options, name, .. } = &self.settings;
        let each = each_poll.retry_settings();
        let total = earlier(each.total_timeout(), deadline.map(until));
        let each = each.to_builder().total_timeout(total).build_unchecked();
        Retryer::new(&each, each_poll.retryable_codes()).options(options.clone()).named(name.clone())
    }

    /// Calls what the setter of that name has set; it is retried as a poll is.
    fn notify(
        &self,
        call: Option<&Notify>,
        name: &str,
        deadline: Option<Instant>,
        setter: &str,
    ) -> BoxCall<()> {
        let Some(call) = call.map(Arc::clone) else {
            let message = format!("no call for this is configured: set PollingSettings::{setter}");
            return Box::pin(std::future::ready(Err(Status::unimplemented(message))));
        };
        let (retryer, name) = (self.retryer(deadline), name.to_owned());
        Box::pin(retried(retryer, move |_| call(name.clone())))
    }
}

impl<F, Fut> OperationsServer for ClosureServer<F>
where
    F: FnMut(String) -> Fut + Send + 'static,
    Fut: Future<Output = Result<Operation, Status>> + Send + 'static,
{
    fn get(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<Operation> {
        let (get, retryer, name) = (Arc::clone(&self.get), self.retryer(deadline), name.to_owned());
        Box::pin(retried(retryer, move |_| {
            let mut get = get.lock();
            get(name.clone())
        }))
    }

    /// A closure gets the operation as it is.
    fn wait(&mut self, name: &str, _: Duration, deadline: Option<Instant>) -> BoxCall<Operation> {
        self.get(name, deadline)
    }

    fn cancel(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<()> {
        self.notify(self.settings.cancel.as_ref(), name, deadline, "with_cancel")
    }

    fn delete(&mut self, name: &str) -> BoxCall<()> {
        self.notify(self.settings.delete.as_ref(), name, None, "with_delete")
    }
}

/// The value of a call, which is one operation.
async fn retried<T, F, Fut>(retryer: Retryer<CodeSet>, call: F) -> Result<T, Status>
where
    F: FnMut(StartedAttempt) -> Fut,
    Fut: Future<Output = Result<T, Status>>,
{
    retryer.run(call).await.map(RetryOutcome::into_value).map_err(status_of)
}

/// The status of a poll that failed, with its report.
fn status_of(error: RetryError<Status>) -> Status {
    let report = error.report().clone();
    let mut status =
        error.into_last().unwrap_or_else(|| Status::deadline_exceeded("the poll used all of its time"));
    status.set_source(Arc::new(OperationError::new(report, None)));
    status
}

/// A call that notifies the server of something about an operation, by its name.
type Notify = Arc<dyn Fn(String) -> BoxCall<()> + Send + Sync>;

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
    polling: RetrySettings,
    each_poll: CallSettings,
    cancels: bool,
    options: OperationOptions,
    name: Cow<'static, str>,
    cancel: Option<Notify>,
    delete: Option<Notify>,
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
