//! Runs a closure as an operation.

use super::basis::Basis;
#[cfg(feature = "live")]
use super::live_service::LiveService;
use super::protocol::{Closure, Plan, Results};
use super::{Retried, RetryError, Retryable};
#[cfg(feature = "live")]
use crate::live::SettingsHandle;
use crate::operation::{
    Driver, InProgress, JitterSeeds, Name, ObservedTransport, Observers, OperationObserver, Retry,
    is_nested_retry, run_blocking,
};
use gax_retry::{Compatibility, Environment, Policy, RetryBudget, RetrySettings, StartedAttempt};
use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// Runs closures as operations, all by the same settings.
///
/// # Examples
///
/// ```
/// use tonic_gax::{Code, RetrySettings, Retryer};
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
pub struct Retryer<R> {
    basis: Basis,
    retryable: R,
    name: Cow<'static, str>,
    seeds: JitterSeeds,
    environment: Environment,
    attempt_timeout: Option<Duration>,
    budget: Option<RetryBudget>,
    retries_enabled: bool,
    nested_retries: Option<bool>,
    observers: Observers,
    /// What operations share of it; made as observers are installed.
    shared: Option<Arc<Observers>>,
}

impl<R> Retryer<R> {
    /// Makes a retryer that runs operations by these settings and retries these errors.
    #[must_use]
    pub fn new(settings: &RetrySettings, retryable: R) -> Self {
        Self::of(Basis::Settings(settings.clone(), Compatibility::default()), retryable)
    }

    /// Makes a retryer that waits and gives up by a strategy, as another tool or library does. Presets have one.
    ///
    /// # Examples
    ///
    /// min(2^n s + 0..1000 ms, 32 s) between the attempts, and five retries:
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{Backoff, Code, Jitter, Limits, BackoffStrategy, Retryer};
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
    #[must_use]
    pub fn with_backoff_strategy(strategy: &gax_retry::strategy::BackoffStrategy, retryable: R) -> Self {
        Self::with_policy(Policy::from_strategy(strategy, gax_retry::CodeSet::EMPTY), retryable)
    }

    /// Makes a retryer that follows a policy. Which codes are retried is decided by `retryable`, not by the policy.
    #[must_use]
    pub fn with_policy(policy: Policy, retryable: R) -> Self {
        Self::of(Basis::Policy(Box::new(policy)), retryable)
    }

    /// Makes a retryer that follows a handle's table: an operation runs by the settings that the table has for `service` as it
    /// begins, and keeps them. That is the entry for all methods of the service, or else the one for every service; where
    /// there is none, the closure is called once. Which errors are retried is decided by `retryable`, not by the table.
    /// The table's budget counts unless [`retry_budget`](Self::retry_budget) sets another; its hedging doesn't.
    ///
    /// Settings become attempts by the rules of the table's dialect, unless [`compatibility`](Self::compatibility) names
    /// others.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::live::SettingsHandle;
    /// use tonic_gax::{Code, RetrySettings, RetryTable, Retryer};
    ///
    /// let table = |attempts| {
    ///     let settings = RetrySettings::builder().max_attempts(attempts).build()?;
    ///     Ok::<_, Box<dyn std::error::Error>>(RetryTable::builder().service("redis", settings, Code::Unavailable).build()?)
    /// };
    /// let handle = SettingsHandle::new(table(1)?);
    /// let retryer = Retryer::with_handle(&handle, "redis", [Code::Unavailable]);
    ///
    /// // While operations are run:
    /// handle.replace(table(2)?)?;
    /// let error = retryer.run_blocking(|_| Err::<(), _>(tonic::Status::unavailable("down"))).unwrap_err();
    /// assert_eq!((error.report().attempt_count(), error.report().settings_version()), (2, Some(2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "live")]
    #[must_use]
    pub fn with_handle(handle: &SettingsHandle, service: impl Into<Box<str>>, retryable: R) -> Self {
        let mut retryer = Self::of(Basis::Live(LiveService::new(handle, service.into()), None), retryable);
        retryer.observers.follow(handle);
        retryer
    }

    fn of(basis: Basis, retryable: R) -> Self {
        Self {
            basis,
            retryable,
            name: Cow::Borrowed("closure"),
            seeds: JitterSeeds::default(),
            environment: Environment::default(),
            attempt_timeout: None,
            budget: None,
            retries_enabled: true,
            nested_retries: None,
            observers: Observers::default(),
            shared: None,
        }
    }

    /// Installs an observer, which is told about every operation. Several are told in the order of installation.
    ///
    /// # Examples
    ///
    /// See [`OperationObserver`].
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn OperationObserver>) -> Self {
        self.observers.push(observer);
        self.shared = self.observers.shared();
        self
    }

    /// Calls the closure whenever an attempt has failed and another one follows, for a line in the log.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{Code, RetrySettings, Retryer};
    ///
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// let retryer = Retryer::new(&settings, [Code::Unavailable]).on_retry(|retry| eprintln!("{retry}"));
    /// # drop(retryer);
    /// # Ok::<(), tonic_gax::SettingsError>(())
    /// ```
    #[must_use]
    pub fn on_retry(mut self, log: impl Fn(&Retry<'_>) + Send + Sync + 'static) -> Self {
        self.observers.on_retry(log);
        self.shared = self.observers.shared();
        self
    }

    /// Names the operations in reports and errors. Default: "closure".
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Which client's rules turn settings into attempts; [`Compatibility::Documented`] unless set. Without effect on a
    /// policy or strategy, which has rules of its own.
    #[must_use]
    pub fn compatibility(mut self, compatibility: Compatibility) -> Self {
        self.basis.set_compatibility(compatibility);
        self
    }

    /// Turns jitter off, whatever the settings say: every wait is the whole delay. For tests with exact times.
    #[must_use]
    pub fn without_jitter(mut self) -> Self {
        self.seeds = JitterSeeds::Off;
        self
    }

    /// Gives every attempt that time, in place of the RPC timeouts of the settings; still clamped to what is left of
    /// the operation. Zero: no time is left, and the closure is not called. The strategy of another tool has no such
    /// timeout, so without this a server that never replies hangs the operation.
    ///
    /// An async closure is dropped then; a blocking one is told the timeout, and has to keep to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{Code, Retryer, RetrySettings};
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
    #[must_use]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = Some(timeout);
        self
    }

    /// The budget that the retries of all operations share: see [`RetryBudget`]. Clones of the retryer share it.
    /// Unset: there is no budget, or a policy's own.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{Code, RetryBudget, RetrySettings, Retryer, StopReason};
    /// use std::time::Duration;
    ///
    /// let settings = RetrySettings::builder().max_attempts(9).initial_retry_delay(Duration::ZERO).build()?;
    /// let retryer = Retryer::new(&settings, [Code::Unavailable]).retry_budget(RetryBudget::tokens(4, 0.1));
    /// let error = retryer.run_blocking(|_| Err::<(), _>(tonic::Status::unavailable("down"))).unwrap_err();
    /// // Half of the four tokens are left after two attempts.
    /// assert_eq!((error.report().attempts().len(), error.stop_reason()), (2, Some(StopReason::Throttled)));
    /// assert_eq!(error.last().unwrap().message(), "down");
    /// # Ok::<(), tonic_gax::SettingsError>(())
    /// ```
    #[must_use]
    pub fn retry_budget(mut self, budget: RetryBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Whether anything is retried. Default: yes. With `false` the closure is called once, whatever the settings say; timeouts
    /// and reports stay.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{Code, RetrySettings, Retryer};
    ///
    /// let settings = RetrySettings::builder().max_attempts(9).build()?;
    /// let retryer = Retryer::new(&settings, [Code::Unavailable]).retries_enabled(false);
    /// let error = retryer.run_blocking(|_| Err::<(), _>(tonic::Status::unavailable("down"))).unwrap_err();
    /// assert_eq!(error.report().attempt_count(), 1);
    /// # Ok::<(), tonic_gax::SettingsError>(())
    /// ```
    #[must_use]
    pub fn retries_enabled(mut self, enabled: bool) -> Self {
        self.retries_enabled = enabled;
        self
    }

    /// Whether operations of a server's handler are retried if the request that it serves is a retry itself, by its
    /// header `grpc-previous-rpc-attempts`; they are, unless switched off here or by a policy's
    /// [`with_nested_retries`](Policy::with_nested_retries). If off, the closure is called once, and if another attempt
    /// would follow, the operation ends with [`StopReason::NestedRetry`](crate::StopReason::NestedRetry).
    /// [`DeadlineLayer`](crate::DeadlineLayer) has to be around the server, and other tasks and threads have to
    /// [belong](crate::deadline::Inbound) to the request.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{Code, RetrySettings, Retryer};
    ///
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// let retryer = Retryer::new(&settings, [Code::Unavailable]).nested_retries(false);
    /// # drop(retryer);
    /// # Ok::<(), tonic_gax::SettingsError>(())
    /// ```
    #[must_use]
    pub fn nested_retries(mut self, allowed: bool) -> Self {
        self.nested_retries = Some(allowed);
        self
    }

    /// Lets operators bound the operations by environment variables, which override the settings: see [`Environment`].
    /// Default: they are ignored.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Makes waits repeatable: the jitter of the n-th operation is drawn from the sequence of this seed plus n.
    #[must_use]
    pub fn jitter_seed(mut self, seed: u64) -> Self {
        self.seeds = JitterSeeds::from(seed);
        self
    }

    /// What an operation runs by.
    fn plan<E>(&self) -> Plan
    where
        R: Retryable<E>,
    {
        let mut policy = self.basis.policy(self.retryable.codes());
        if let Some(timeout) = self.attempt_timeout {
            policy = policy.with_attempt_timeout(timeout);
        }
        if let Some(budget) = &self.budget {
            policy = policy.with_budget(budget.clone());
        }
        if let Some(allowed) = self.nested_retries {
            policy = policy.with_nested_retries(allowed);
        }
        if !self.retries_enabled {
            policy = policy.without_retries();
        }
        let policy = policy.with_environment(&self.environment);
        let policy = if is_nested_retry(&policy) { policy.inside_retry() } else { policy };
        Plan { policy, observers: self.shared.clone(), seeds: self.seeds.clone() }
    }

    /// Runs an async closure, which gets its attempt: the number, when it started, its RPC timeout. See
    /// [`retry`](crate::retry).
    ///
    /// In a server's handler it has no more time than the request ([`DeadlineLayer`](crate::DeadlineLayer)): that of
    /// the task that polls it first.
    ///
    /// # Errors
    ///
    /// The closure's last error, with the report of all attempts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running attempt, or ends the wait; no further attempt is made.
    pub async fn run<T, E, F, Fut>(&self, attempt: F) -> Result<Retried<T>, RetryError<E>>
    where
        R: Retryable<E>,
        F: FnMut(StartedAttempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let closure = Closure::new(attempt, &self.retryable, self.name());
        let mut driver = pin!(Driver::new(closure, Arc::new(self.plan())));
        let mut value = None;
        let stop = poll_fn(|cx| driver.as_mut().poll(cx, &mut value)).await;
        if let (None, Some(observed)) = (stop, driver.as_mut().take_observed()) {
            observed.succeeded();
        }
        let report = driver.as_mut().report(stop);
        match value {
            Some(value) => Ok(Retried::new(value, report)),
            None => Err(RetryError::new(driver.protocol().results.last.take(), report)),
        }
    }

    /// Runs a blocking closure, which gets its attempt and has to keep to its RPC timeout. See
    /// [`retry_blocking`](crate::retry_blocking).
    ///
    /// In a thread that works for a request of a server ([`Inbound::enter`](crate::deadline::Inbound::enter)) the
    /// operation has no more time than the request, and stops as that ends: a wait ends at once, and no attempt
    /// follows.
    ///
    /// # Errors
    ///
    /// The closure's last error, with the report of all attempts.
    pub fn run_blocking<T, E, F>(&self, mut attempt: F) -> Result<Retried<T>, RetryError<E>>
    where
        R: Retryable<E>,
        F: FnMut(StartedAttempt) -> Result<T, E>,
    {
        let Plan { policy, observers, seeds } = self.plan();
        let observe = |progress: &mut InProgress| {
            if let Some(observers) = &observers {
                progress.observe(&policy, observers, self.name(), ObservedTransport::Closure);
            }
        };
        let mut results = Results::new(&self.retryable);
        let mut value = None;
        let (mut progress, stop) = run_blocking(&policy, seeds.next(), observe, |started| {
            results.keep(attempt(started), &mut value)
        });
        let report = progress.report(&policy, stop, self.name());
        match value {
            Some(value) => Ok(Retried::new(value, report)),
            None => Err(RetryError::new(results.last, report)),
        }
    }

    fn name(&self) -> Name {
        Name::from(self.name.clone())
    }
}
