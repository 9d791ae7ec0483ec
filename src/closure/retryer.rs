//! Runs a closure as an operation.

use super::operation::{Next, Operation};
use super::{RetryError, Retryable};
use crate::operation::{BURST, JitterSeeds, OperationReport};
use gax_retry::{CodeSet, Compatibility, Recipe, RetrySettings, Schedule, Started};
use std::borrow::Cow;

/// Runs an async closure until it succeeds or the settings say to stop.
///
/// Each attempt calls the closure anew. An attempt that runs into its RPC timeout is dropped and counts as
/// `DEADLINE_EXCEEDED`. See [`Retryer`] for a name in the report, a seed, or the report of a success.
///
/// # Errors
///
/// The closure's last error, with the report of all attempts.
///
/// # Cancel safety
///
/// To drop the future drops the running attempt, or ends the wait; no further attempt is made.
///
/// # Examples
///
/// ```
/// use tonic_gax::{Code, RetrySettings, retry};
/// use std::time::Duration;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_millis(100))
///     .retry_delay_multiplier(2.0)
///     .total_timeout(Duration::from_secs(10))
///     .build()?;
/// let mut calls = 0;
/// let answer = retry(&settings, [Code::Unavailable], || {
///     calls += 1;
///     let call = calls;
///     async move { if call < 3 { Err(tonic::Status::unavailable("not yet")) } else { Ok(42) } }
/// })
/// .await?;
/// assert_eq!((answer, calls), (42, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn retry<T, E, R, F, Fut>(
    settings: &RetrySettings,
    retryable: R,
    attempt: F,
) -> Result<T, RetryError<E>>
where
    R: Retryable<E>,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    Retryer::new(settings, retryable).run(attempt).await.map(Retried::into_value)
}

/// Runs a blocking closure until it succeeds or the settings say to stop; waits block the thread.
///
/// The closure is told its attempt's number and RPC timeout, and has to keep to the timeout by itself (a
/// socket's read timeout, for one): nothing can interrupt it.
///
/// # Errors
///
/// The closure's last error, with the report of all attempts.
///
/// # Examples
///
/// ```
/// use tonic_gax::{RetrySettings, retry_blocking};
/// use std::io;
/// use std::time::Duration;
///
/// let at_once = RetrySettings::builder().max_attempts(3).initial_retry_delay(Duration::ZERO).build()?;
/// let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
/// let answer = retry_blocking(&at_once, interrupted, |attempt| match attempt.number() {
///     1 => Err(io::Error::from(io::ErrorKind::Interrupted)),
///     number => Ok(number),
/// })?;
/// assert_eq!(answer, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn retry_blocking<T, E, R, F>(
    settings: &RetrySettings,
    retryable: R,
    attempt: F,
) -> Result<T, RetryError<E>>
where
    R: Retryable<E>,
    F: FnMut(Started) -> Result<T, E>,
{
    Retryer::new(settings, retryable).run_blocking(attempt).map(Retried::into_value)
}

/// A success, and what it took.
#[derive(Debug, Clone)]
pub struct Retried<T> {
    value: T,
    report: OperationReport,
}

impl<T> Retried<T> {
    /// What the closure returned.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The same, by value.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// What the operation did.
    #[must_use]
    pub fn report(&self) -> &OperationReport {
        &self.report
    }
}

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
/// let set = retryer.run(|| async { Ok::<_, tonic::Status>("OK") }).await?;
/// assert_eq!(set.report().method(), "redis: SET");
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
}

/// What schedules are made of.
#[derive(Debug, Clone)]
enum Basis {
    Settings(RetrySettings, Compatibility),
    Schedule(Schedule),
}

impl<R> Retryer<R> {
    /// Operations by these settings, that retry these errors.
    #[must_use]
    pub fn new(settings: &RetrySettings, retryable: R) -> Self {
        Self::of(Basis::Settings(settings.clone(), Compatibility::default()), retryable)
    }

    /// Operations that wait and give up by a recipe, as another tool or library does (a preset has one).
    ///
    /// # Examples
    ///
    /// min(2^n s + 0..1000 ms, 32 s) between the attempts, and five retries:
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{Backoff, Code, Jitter, Limits, Recipe, Retryer};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
    /// let (second, ms) = (Duration::from_secs(1), Duration::from_millis(1));
    /// let backoff = Backoff::exponential(second, 2.0, 32 * second)
    ///     .with_jitter(Jitter::Added { unit: ms, most: 1000 });
    /// let recipe = Recipe::new(backoff, Limits::none().with_max_retries(5));
    /// let error = Retryer::with_recipe(&recipe, [Code::Unavailable])
    ///     .run(|| async { Err::<(), _>(tonic::Status::unavailable("still")) })
    ///     .await
    ///     .unwrap_err();
    /// assert_eq!(error.report().attempts().len(), 6);
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn with_recipe(recipe: &Recipe, retryable: R) -> Self {
        Self::with_schedule(Schedule::from_recipe(recipe, CodeSet::EMPTY), retryable)
    }

    /// Operations by a schedule. Which codes are retried is up to `retryable`, not to the schedule.
    #[must_use]
    pub fn with_schedule(schedule: Schedule, retryable: R) -> Self {
        Self::of(Basis::Schedule(schedule), retryable)
    }

    fn of(basis: Basis, retryable: R) -> Self {
        Self { basis, retryable, name: Cow::Borrowed("closure"), seeds: JitterSeeds::default() }
    }

    /// The operations' name in reports and errors; "closure" unless set.
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Whose rules turn settings into attempts; [`Compatibility::Documented`] unless set. Without effect on a
    /// schedule or recipe, which has rules of its own.
    #[must_use]
    pub fn compatibility(mut self, compatibility: Compatibility) -> Self {
        if let Basis::Settings(_, known) = &mut self.basis {
            *known = compatibility;
        }
        self
    }

    /// Draws the jitter of the n-th operation from the sequence of this seed plus n.
    #[must_use]
    pub fn jitter_seed(mut self, seed: u64) -> Self {
        self.seeds = JitterSeeds::from(seed);
        self
    }

    fn operation<E>(&self) -> Operation<E>
    where
        R: Retryable<E>,
    {
        let codes = self.retryable.codes();
        let schedule = match &self.basis {
            Basis::Settings(settings, compatibility) => {
                Schedule::with_compatibility(settings, codes, *compatibility)
            }
            Basis::Schedule(schedule) => schedule.clone().with_retryable_codes(codes),
        };
        Operation::new(schedule, self.name.clone(), self.seeds.next())
    }

    /// Runs an async closure; see [`retry`].
    ///
    /// # Errors
    ///
    /// The closure's last error, with the report of all attempts.
    ///
    /// # Cancel safety
    ///
    /// To drop the future drops the running attempt, or ends the wait; no further attempt is made.
    pub async fn run<T, E, F, Fut>(&self, mut attempt: F) -> Result<Retried<T>, RetryError<E>>
    where
        R: Retryable<E>,
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let mut operation = self.operation();
        loop {
            let started = match operation.start() {
                Ok(started) => started,
                Err(reason) => return Err(operation.fail(reason)),
            };
            let result = match operation.deadline(started) {
                Some(deadline) => tokio::time::timeout_at(deadline, attempt()).await.ok(),
                None => Some(attempt().await),
            };
            match operation.ended(started, result, &self.retryable) {
                Next::Done(value) => return Ok(Retried { value, report: operation.succeed() }),
                Next::Stop(reason) => return Err(operation.fail(reason)),
                Next::Retry(wait) if wait.is_zero() => {
                    if started.number().is_multiple_of(u32::from(BURST)) {
                        tokio::task::yield_now().await;
                    }
                }
                Next::Retry(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// Runs a blocking closure; see [`retry_blocking`].
    ///
    /// # Errors
    ///
    /// The closure's last error, with the report of all attempts.
    pub fn run_blocking<T, E, F>(&self, mut attempt: F) -> Result<Retried<T>, RetryError<E>>
    where
        R: Retryable<E>,
        F: FnMut(Started) -> Result<T, E>,
    {
        let mut operation = self.operation();
        loop {
            let started = match operation.start() {
                Ok(started) => started,
                Err(reason) => return Err(operation.fail(reason)),
            };
            let result = attempt(started);
            match operation.ended(started, Some(result), &self.retryable) {
                Next::Done(value) => return Ok(Retried { value, report: operation.succeed() }),
                Next::Stop(reason) => return Err(operation.fail(reason)),
                Next::Retry(wait) => std::thread::sleep(wait),
            }
        }
    }
}
