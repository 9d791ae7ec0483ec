//! Runs a closure as an operation.

use super::{RetryError, Retryable};
use crate::operation::{Clock, JitterSeeds, Ledger, OperationReport};
use gax_retry::{
    Attempt, Code, Compatibility, Decision, Ending, OperationState, RetrySettings, Schedule, Started,
    StopReason,
};
use std::borrow::Cow;
use std::time::Duration;

/// After how many attempts without a wait other tasks get their turn.
const BURST: u32 = 16;

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
///
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
/// let answer = retry_blocking(&settings, interrupted, |attempt| match attempt.number() {
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
    settings: RetrySettings,
    compatibility: Compatibility,
    retryable: R,
    name: Cow<'static, str>,
    seeds: JitterSeeds,
}

impl<R> Retryer<R> {
    /// Operations by these settings, that retry these errors.
    #[must_use]
    pub fn new(settings: &RetrySettings, retryable: R) -> Self {
        Self {
            settings: settings.clone(),
            compatibility: Compatibility::default(),
            retryable,
            name: Cow::Borrowed("closure"),
            seeds: JitterSeeds::default(),
        }
    }

    /// The operations' name in reports and errors; "closure" unless set.
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Whose rules turn settings into attempts; [`Compatibility::Documented`] unless set.
    #[must_use]
    pub fn compatibility(mut self, compatibility: Compatibility) -> Self {
        self.compatibility = compatibility;
        self
    }

    /// Draws the jitter of the n-th operation from the sequence of this seed plus n.
    #[must_use]
    pub fn jitter_seed(mut self, seed: u64) -> Self {
        self.seeds = JitterSeeds::from(seed);
        self
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
        let mut operation = Operation::new(self);
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
                Next::Done(value) => return Ok(operation.succeed(value)),
                Next::Stop(reason) => return Err(operation.fail(reason)),
                Next::Retry(wait) if wait.is_zero() => {
                    if started.number().is_multiple_of(BURST) {
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
        let mut operation = Operation::new(self);
        loop {
            let started = match operation.start() {
                Ok(started) => started,
                Err(reason) => return Err(operation.fail(reason)),
            };
            let result = attempt(started);
            match operation.ended(started, Some(result), &self.retryable) {
                Next::Done(value) => return Ok(operation.succeed(value)),
                Next::Stop(reason) => return Err(operation.fail(reason)),
                Next::Retry(wait) => std::thread::sleep(wait),
            }
        }
    }
}

/// What follows an attempt.
enum Next<T> {
    Done(T),
    Retry(Duration),
    Stop(StopReason),
}

/// One operation that is running.
struct Operation<E> {
    schedule: Schedule,
    state: OperationState,
    clock: Clock,
    now: Duration,
    delay: Duration,
    ledger: Ledger,
    jitter: crate::operation::Jitter,
    last: Option<E>,
}

impl<E> Operation<E> {
    fn new<R: Retryable<E>>(retryer: &Retryer<R>) -> Self {
        let codes = retryer.retryable.codes();
        Self {
            schedule: Schedule::with_compatibility(&retryer.settings, codes, retryer.compatibility),
            state: OperationState::default(),
            clock: Clock::start(),
            now: Duration::ZERO,
            delay: Duration::ZERO,
            ledger: Ledger::new(retryer.name.clone()),
            jitter: retryer.seeds.next(),
            last: None,
        }
    }

    fn start(&mut self) -> Result<Started, StopReason> {
        if !self.ledger.attempts().is_empty() {
            self.now = self.clock.elapsed();
        }
        self.state.start(&self.schedule, self.now).map_err(gax_retry::Stop::reason)
    }

    fn deadline(&self, started: Started) -> Option<tokio::time::Instant> {
        started.rpc_timeout().and_then(|timeout| self.clock.at(self.now.saturating_add(timeout)))
    }

    /// An attempt ended; without a result, because its time was up.
    fn ended<T>(
        &mut self,
        started: Started,
        result: Option<Result<T, E>>,
        retryable: &impl Retryable<E>,
    ) -> Next<T> {
        let (value, code) = match result {
            Some(Ok(value)) => (Some(value), Code::Ok),
            Some(Err(error)) => {
                let code = match retryable.code(&error) {
                    Code::Ok => Code::Unknown,
                    code => code,
                };
                self.last = Some(error);
                (None, code)
            }
            None => (None, Code::DeadlineExceeded),
        };
        let end = self.clock.elapsed();
        self.ledger.push(Attempt::new(started, self.delay, self.now, end, code));
        if let Some(value) = value {
            return Next::Done(value);
        }
        match self.state.ended(&self.schedule, end, Ending::new(code), &mut self.jitter) {
            Decision::Retry(retry) => {
                self.delay = retry.wait();
                Next::Retry(retry.wait())
            }
            Decision::Stop(stop) => Next::Stop(stop.reason()),
            Decision::Done => Next::Stop(StopReason::NonRetryable),
        }
    }

    fn succeed<T>(self, value: T) -> Retried<T> {
        Retried { value, report: OperationReport::new(self.ledger) }
    }

    fn fail(mut self, reason: StopReason) -> RetryError<E> {
        self.ledger.stop_reason = Some(reason);
        RetryError::new(self.last, OperationReport::new(self.ledger))
    }
}
