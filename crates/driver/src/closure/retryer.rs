//! Runs a closure as an operation.

use crate::closure::error::RetryError;
use crate::closure::live_service::LiveService;
use crate::closure::protocol::{Closure, Results};
use crate::closure::retryable::Retryable;
use crate::live_policies::LivePolicies;
use crate::operation::{Driver, InProgress, Name, Observers, OperationReport, Transport, run_blocking};
use crate::options::{OperationConfig, OperationOptions};
use gax_retry::{CodeSet, Compatibility, Policy, RetrySettings, StartedAttempt};
use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// Runs closures with retries, all with the same settings. Create one and use it for many calls.
///
/// # Examples
///
/// ```
/// use gax_driver::{Code, RetrySettings, Retryer};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let retryer = Retryer::new(&RetrySettings::builder().max_attempts(2).build()?, [Code::Unavailable])
///     .named("redis: SET");
/// let set = retryer.run(|attempt| async move { Ok::<_, tonic::Status>(attempt.number()) }).await?;
/// assert_eq!((*set.value(), set.report().method()), (1, "redis: SET"));
/// assert_eq!(set.report().attempts().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Retryer<R> {
    source: ConfigSource,
    retryable: R,
    name: Cow<'static, str>,
    attempt_timeout: Option<Duration>,
    options: OperationOptions,
    /// The observers as operations share them; made as they are installed.
    observers: Option<Arc<Observers>>,
}

impl<R> Retryer<R> {
    /// Makes a retryer that runs operations by these settings and retries these errors.
    pub fn new(settings: &RetrySettings, retryable: R) -> Self {
        Self::of(ConfigSource::Settings(settings.clone()), retryable)
    }

    /// Makes a retryer that waits and gives up by a strategy, as another tool or library does. Presets have one.
    ///
    /// # Examples
    ///
    /// min(2^n s + 0..1000 ms, 32 s) between the attempts, and five retries:
    ///
    /// ```
    /// use std::time::Duration;
    /// use gax_driver::{Code, Retryer};
    /// use gax_driver::strategy::{Backoff, BackoffStrategy, Jitter, Limits};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
    /// let (second, ms) = (Duration::from_secs(1), Duration::from_millis(1));
    /// let backoff = Backoff::exponential(second, 2.0, 32 * second)
    ///     .with_jitter(Jitter::Added { unit: ms, most: 1000 });
    /// let strategy = BackoffStrategy::new(backoff, Limits::none().with_max_retries(5));
    /// let error = Retryer::with_backoff_strategy(&strategy, [Code::Unavailable])
    ///     .run(|_| async { Err::<(), _>(tonic::Status::unavailable("still")) })
    ///     .await
    ///     .unwrap_err();
    /// assert_eq!(error.report().attempts().len(), 6);
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "strategy")]
    pub fn with_backoff_strategy(strategy: &gax_retry::strategy::BackoffStrategy, retryable: R) -> Self {
        Self::with_policy(Policy::from_strategy(strategy, CodeSet::EMPTY), retryable)
    }

    /// Makes a retryer that follows a policy. Which codes are retried is decided by `retryable`, not by the policy.
    pub fn with_policy(policy: Policy, retryable: R) -> Self {
        Self::of(ConfigSource::Policy(Box::new(policy)), retryable)
    }

    /// Makes a retryer that follows live policies: an operation uses the settings that they have for `service` when it
    /// starts, and keeps them. They are those for all methods of the service, or else those for everything; if there are none, the
    /// closure is called once. Which errors are retried is decided by `retryable`, not by the policies. Their throttling applies unless
    /// [`retry_budget`](OperationOptions::retry_budget) sets another budget; their hedging doesn't apply.
    ///
    /// Settings become attempts by the rules that the policies name, unless [`compatibility`](OperationOptions::compatibility) names
    /// others.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_driver::{Code, LivePolicies, MethodPolicies, MethodSettings, RetrySettings, Retryer, SettingsError};
    ///
    /// let policies = |attempts| {
    ///     let settings = RetrySettings::builder().max_attempts(attempts).build()?;
    ///     let settings = MethodSettings::new(settings, Code::Unavailable);
    ///     Ok::<_, SettingsError>(MethodPolicies::new().service("redis", settings))
    /// };
    /// let live = LivePolicies::new(policies(1)?);
    /// let retryer = Retryer::live(&live, "redis", [Code::Unavailable]);
    ///
    /// // While operations are run:
    /// live.replace(policies(2)?);
    /// let error = retryer.run_blocking(|_| Err::<(), _>(tonic::Status::unavailable("down"))).unwrap_err();
    /// assert_eq!((error.report().attempt_count(), error.report().settings_version()), (2, Some(2)));
    /// # Ok::<(), SettingsError>(())
    /// ```
    pub fn live(live: impl AsRef<LivePolicies>, service: impl Into<Box<str>>, retryable: R) -> Self {
        let live = live.as_ref();
        let mut retryer = Self::of(ConfigSource::Live(LiveService::new(live, service.into())), retryable);
        retryer.options.observers.follow(live);
        retryer
    }

    fn of(source: ConfigSource, retryable: R) -> Self {
        Self {
            source,
            retryable,
            name: Cow::Borrowed("closure"),
            attempt_timeout: None,
            options: OperationOptions::default(),
            observers: None,
        }
    }

    /// Sets options over the ones that were set before: whose rules turn settings into attempts, the retry budget, observers, jitter
    /// and more.
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.set(options);
        self.observers = self.options.observers.shared();
        self
    }

    gax_text::setters! { self:
        /// Names the operations in reports and errors. Default: "closure".
        pub named(name: impl Into<Cow<'static, str>>) => self.name = name.into();

        /// Gives every attempt that time, instead of the RPC timeouts of the settings; still clamped to what is left of
        /// the operation. Zero: no time is left, and the closure is not called. The strategy of another tool has no such
        /// timeout, so without this a server that never replies hangs the operation.
        ///
        /// An async closure is dropped then; a blocking one gets the timeout, and has to keep to it.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::time::Duration;
        /// use gax_driver::{Code, RetrySettings, Retryer};
        ///
        /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
        /// let settings = RetrySettings::builder().max_attempts(2).build()?;
        /// let retryer = Retryer::new(&settings, [Code::DeadlineExceeded]).attempt_timeout(Duration::from_secs(1));
        /// let hangs = |_| std::future::pending::<Result<(), tonic::Status>>();
        /// let error = retryer.run(hangs).await.unwrap_err();
        /// assert_eq!(error.report().attempts()[0].end(), Duration::from_secs(1));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// # })?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub attempt_timeout(timeout: Duration) => self.attempt_timeout = Some(timeout);
    }

    /// The policy and the observers of an operation.
    fn config<E>(&self) -> OperationConfig
    where
        R: Retryable<E>,
    {
        let options = &self.options;
        let mut policy = self.source.policy(self.retryable.codes(), options.compatibility);
        if let Some(timeout) = self.attempt_timeout {
            policy = policy.with_attempt_timeout(timeout);
        }
        options.config_for(policy, self.observers.clone())
    }

    /// Runs an async closure, which gets its attempt: the number, when it started, its RPC timeout. See
    /// [`retry`](crate::retry).
    ///
    /// In a server's handler it has no more time than the request (`DeadlineLayer`): that of
    /// the task that polls it first.
    ///
    /// # Errors
    ///
    /// The closure's last error, with the report of all attempts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running attempt, or ends the wait; no further attempt is made.
    pub async fn run<T, E, F, Fut>(&self, attempt: F) -> Result<RetryOutcome<T>, RetryError<E>>
    where
        R: Retryable<E>,
        F: FnMut(StartedAttempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let closure = Closure::new(attempt, &self.retryable, self.name());
        let mut driver = pin!(Driver::new(closure, Arc::new(self.config())));
        let mut value = None;
        let (_, report) = poll_fn(|cx| driver.as_mut().poll_end(cx, &mut value)).await;
        match value {
            Some(value) => Ok(RetryOutcome::new(value, report)),
            None => Err(RetryError::new(driver.protocol().results.last.take(), report)),
        }
    }

    /// Runs a blocking closure, which gets its attempt and has to keep to its RPC timeout. See
    /// [`retry_blocking`](crate::retry_blocking).
    ///
    /// In a thread that works for a request of a server ([`Inbound::enter`](crate::inbound::Inbound::enter)) the
    /// operation has no more time than the request, and stops as that ends: a wait ends immediately, and no attempt
    /// follows.
    ///
    /// # Errors
    ///
    /// The closure's last error, with the report of all attempts.
    pub fn run_blocking<T, E, F>(&self, mut attempt: F) -> Result<RetryOutcome<T>, RetryError<E>>
    where
        R: Retryable<E>,
        F: FnMut(StartedAttempt) -> Result<T, E>,
    {
        let OperationConfig { policy, observers, jitter, .. } = self.config();
        let observe = |progress: &mut InProgress| {
            if let Some(observers) = &observers {
                progress.observe(&policy, observers, self.name(), false, &Transport::CLOSURE);
            }
        };
        let mut results = Results::new(&self.retryable);
        let mut value = None;
        let (mut progress, stop) = run_blocking(&policy, jitter.next(), observe, |started| {
            results.keep(attempt(started), &mut value)
        });
        let report = progress.report(&policy, stop, self.name());
        match value {
            Some(value) => Ok(RetryOutcome::new(value, report)),
            None => Err(RetryError::new(results.last, report)),
        }
    }

    fn name(&self) -> Name {
        Name::from(self.name.clone())
    }
}

/// Where the policies of closures come from.
#[derive(Debug, Clone)]
enum ConfigSource {
    Settings(RetrySettings),
    Policy(Box<Policy>),
    /// A service, by whichever policies count.
    Live(LiveService),
}

impl ConfigSource {
    /// The policy that an operation begins with now, which retries these codes by those rules. A policy has its own rules.
    fn policy(&self, codes: CodeSet, compatibility: Option<Compatibility>) -> Policy {
        match self {
            Self::Settings(settings) => {
                Policy::with_compatibility(settings, codes, compatibility.unwrap_or_default())
            }
            Self::Policy(policy) => Policy::clone(policy).with_retryable_codes(codes),
            Self::Live(service) => service.policy(codes, compatibility),
        }
    }
}

/// The value of a closure that succeeded, and the report of its attempts.
#[derive(Debug, Clone)]
pub struct RetryOutcome<T> {
    value: T,
    report: OperationReport,
}

impl<T> RetryOutcome<T> {
    pub(super) fn new(value: T, report: OperationReport) -> Self {
        Self { value, report }
    }

    gax_text::getters! { self:
        /// The value that the closure returned.
        pub value: &T = &self.value;

        /// The report of the operation.
        pub report: &OperationReport = &self.report;
    }

    /// That value, by value.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }
}
