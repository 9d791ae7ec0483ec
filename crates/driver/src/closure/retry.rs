//! Retrying a closure with nothing but settings.

use crate::closure::error::RetryError;
use crate::closure::retryable::Retryable;
use crate::closure::retryer::{RetryOutcome, Retryer};
use gax_retry::RetrySettings;

/// Calls an async closure until it succeeds or a limit of the settings is reached. Use it for calls that are neither gRPC nor HTTP.
///
/// Each attempt calls the closure again. An attempt that exceeds its RPC timeout is dropped and fails with
/// `DEADLINE_EXCEEDED`. Use a [`Retryer`] for a name in reports, more options, or the report of a success.
///
/// # Errors
///
/// The closure's last error, with the report of all attempts.
///
/// # Cancel safety
///
/// Dropping the future drops the running attempt, or ends the wait; no further attempt is made.
///
/// # Examples
///
/// ```
/// use gax_driver::{retry, Code, RetrySettings};
/// use std::time::Duration;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_millis(100))
///     .retry_delay_multiplier(2.0)
///     .total_timeout(Duration::from_secs(10))
///     .build()?;
/// let mut calls = 0;
/// let reply = retry(&settings, [Code::Unavailable], || {
///     calls += 1;
///     let call = calls;
///     async move { if call < 3 { Err(tonic::Status::unavailable("not yet")) } else { Ok(42) } }
/// })
/// .await?;
/// assert_eq!((reply, calls), (42, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn retry<T, E, R, F, Fut>(
    settings: &RetrySettings,
    retryable: R,
    mut attempt: F,
) -> Result<T, RetryError<E>>
where
    R: Retryable<E>,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    Retryer::new(settings, retryable).run(move |_| attempt()).await.map(RetryOutcome::into_value)
}

/// Calls a blocking closure until it succeeds or a limit of the settings is reached. Waits block the thread.
///
/// A closure that blocks can't be interrupted. [`Retryer::run_blocking`] passes the RPC timeout of the attempt to the closure, so
/// that it can use it, for example as the read timeout of a socket.
///
/// # Errors
///
/// The closure's last error, with the report of all attempts.
///
/// # Examples
///
/// ```
/// use gax_driver::{retry_blocking, RetrySettings};
/// use std::io;
/// use std::time::Duration;
///
/// let at_once = RetrySettings::builder().max_attempts(3).initial_retry_delay(Duration::ZERO).build()?;
/// let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
/// let mut calls = 0;
/// let reply = retry_blocking(&at_once, interrupted, || {
///     calls += 1;
///     if calls == 1 { Err(io::Error::from(io::ErrorKind::Interrupted)) } else { Ok(calls) }
/// })?;
/// assert_eq!(reply, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn retry_blocking<T, E, R, F>(
    settings: &RetrySettings,
    retryable: R,
    mut attempt: F,
) -> Result<T, RetryError<E>>
where
    R: Retryable<E>,
    F: FnMut() -> Result<T, E>,
{
    Retryer::new(settings, retryable).run_blocking(move |_| attempt()).map(RetryOutcome::into_value)
}
