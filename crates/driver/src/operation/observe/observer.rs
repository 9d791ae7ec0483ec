//! The trait that observers implement.

#[cfg(feature = "batching")]
use crate::operation::observe::batch::BatchInfo;
use crate::operation::observe::connection_event::ConnectionEvent;
use crate::operation::observe::info::OperationInfo;
use crate::operation::observe::summary::OperationSummary;
use crate::operation::observe::transfer::{AttemptTransfer, WireMessage};
use gax_retry::{Attempt, ServerDelay, StartedAttempt, StopReason};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// An observer, which is notified of operations while they run.
///
/// Every method has an empty default. All are called synchronously, in the order of gax-java's tracers, by the task that
/// polls the operation (`operation_started` of a call through the layer by the task that makes the call; `request_read`
/// and `message_sent` by the task of the connection). They must not block. Observers see methods, numbers and codes,
/// never messages, bodies or the values of metadata.
///
/// The notifications of one operation, in this order:
///
/// 1. [`operation_started`](Self::operation_started), once;
/// 2. for each attempt [`attempt_started`](Self::attempt_started), [`attempt_sent`](Self::attempt_sent) once the
///    transport takes the request, and exactly one end: `attempt_succeeded`, `attempt_failed` (another attempt follows,
///    or others are in flight), `attempt_failed_retries_exhausted`, `attempt_permanent_failure` or `attempt_cancelled`.
///    Attempts count from 1. (gax-java's tracers count them from 0.) A transparent retry is not an attempt: it is part
///    of one;
/// 3. [`operation_succeeded`](Self::operation_succeeded), [`operation_failed`](Self::operation_failed) or
///    [`operation_cancelled`](Self::operation_cancelled), once.
///
/// A stream of responses ends with its last message, or when it is dropped; so does its operation. A call whose request
/// can't be encoded is not an operation, and neither is a call of a method that the layer's table doesn't name.
///
/// # Panics
///
/// A panic of an observer doesn't affect the call or other observers: it is caught, and the observer continues to be
/// notified. With the feature `tracing`, its first panic is an event at the level ERROR. A program that is built with
/// `panic = "abort"` ends.
///
/// # Cancel safety
///
/// A call that is dropped before its end drops its attempts first, so that the server sees them reset, and then calls
/// `attempt_cancelled` and `operation_cancelled`.
///
/// # Examples
///
/// ```
/// use gax_retry::Attempt;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
/// use gax_driver::observe::{OperationInfo, OperationObserver};
/// use gax_driver::{Code, OperationOptions, RetrySettings, Retryer};
///
/// #[derive(Default)]
/// struct Retries(AtomicU32);
///
/// impl OperationObserver for Retries {
///     fn attempt_failed(&self, _: &OperationInfo, _: &Attempt, _: Option<Duration>) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let retries = Arc::new(Retries::default());
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let retryer = Retryer::new(&settings, [Code::Unavailable])
///     .options(OperationOptions::new().observer(retries.clone()));
/// let result = retryer.run(|_| async { Err::<(), _>(tonic::Status::unavailable("not yet")) }).await;
/// assert!(result.is_err());
/// assert_eq!(retries.0.load(Ordering::Relaxed), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(unused_variables, reason = "the names are documentation: every default does nothing")]
pub trait OperationObserver: Send + Sync + 'static {
    /// An observer of this one operation, which is notified instead of `self`, from `operation_started` on. Use it to
    /// keep state for each operation, such as a span. `None`, the default: `self` is notified.
    fn for_operation(&self, operation: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        None
    }

    /// An operation has started.
    fn operation_started(&self, operation: &OperationInfo) {}

    /// The operation has the reply.
    fn operation_succeeded(&self, operation: &OperationInfo, summary: &OperationSummary) {}

    /// The operation ended with an error.
    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {}

    /// The caller has dropped the operation.
    fn operation_cancelled(&self, operation: &OperationInfo, summary: &OperationSummary) {}

    /// An attempt starts.
    fn attempt_started(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The thread is about to send an attempt or to poll it. Until [`attempt_exited`](Self::attempt_exited) is called on the same thread,
    /// everything that layers, interceptors and closures of the program do belongs to the attempt. Both are called for each poll.
    fn attempt_entered(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The thread has stopped working on the attempt.
    fn attempt_exited(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// An attempt's request is about to be sent, including transparent retries. Write the context of a trace into its
    /// headers here. Closures have no headers, so this is never called for them.
    fn attempt_headers(
        &self,
        operation: &OperationInfo,
        attempt: StartedAttempt,
        headers: &mut OutgoingHeaders<'_>,
    ) {
    }

    /// The transport has accepted an attempt's request, this time after the attempt's start: the time until a
    /// connection existed and a service was ready. Never called for closures.
    fn attempt_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, waited: Duration) {}

    /// Returns whether the observer needs the notifications about bytes: `request_read`, `message_sent`, `message_received` and
    /// `attempt_transferred`. Called when an operation starts. Default: false, because counting messages needs two
    /// allocations per attempt.
    fn watches_transfers(&self, operation: &OperationInfo) -> bool {
        false
    }

    /// The connection has started to read an attempt's request, this time after the attempt's start: the time until there
    /// was a connection with a free stream. Only over gRPC, if an observer [watches transfers](Self::watches_transfers). It
    /// is called by the task of the connection, and again after a transparent retry.
    fn request_read(&self, operation: &OperationInfo, attempt: StartedAttempt, waited: Duration) {}

    /// The connection has read a whole message of an attempt's request. Only over gRPC, if an observer [watches
    /// transfers](Self::watches_transfers). It is called by the task of the connection, which may continue for a moment
    /// after the attempt has ended.
    fn message_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {}

    /// A whole message of an attempt's response has arrived. Only over gRPC, if an observer [watches
    /// transfers](Self::watches_transfers).
    fn message_received(&self, operation: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {}

    /// An attempt has ended, with the bytes that it sent and received; the attempt's end follows. Only if an observer
    /// [watches transfers](Self::watches_transfers), and never for closures.
    fn attempt_transferred(&self, operation: &OperationInfo, attempt: &Attempt, transfer: AttemptTransfer) {}

    /// An event that only some transports have. Over a [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html) it is an
    /// [`AttemptDelay`](crate::report::AttemptDelay) if the attempt had to wait for a connection or a free stream, and the
    /// [`Peer`](crate::observe::Peer) of the attempt. An attempt of a transfer has a `TransferProgress`: the bytes of all attempts, and
    /// how often the transfer was resumed. The attempt's end follows.
    fn attempt_event(&self, operation: &OperationInfo, attempt: StartedAttempt, event: &dyn Event) {}

    /// A stream of responses has received a message. A layer without descriptors can't distinguish a single response
    /// from a stream of one message, and notifies in both cases.
    fn response_received(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The caller gets the response before its end is known, so that no other attempt can follow.
    fn committed(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// A request that no server has seen is sent again immediately, as part of the same attempt (gRFC A6).
    fn transparent_retry(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The server of an attempt that failed asks for a delay (`grpc-retry-pushback-ms`, `Retry-After`), or for no
    /// further attempt. It is only called if the operation applies this; the attempt's end follows.
    fn pushback_received(&self, operation: &OperationInfo, attempt: &Attempt, asked: ServerDelay) {}

    /// An attempt that failed would be retried, but the retry budget is exhausted; the attempt's end follows.
    fn retry_throttled(&self, operation: &OperationInfo, attempt: &Attempt) {}

    /// An attempt has the reply.
    fn attempt_succeeded(&self, operation: &OperationInfo, attempt: &Attempt) {}

    /// An attempt failed, and another one follows after that delay; `None`: others are in flight, and no attempt is
    /// added.
    fn attempt_failed(&self, operation: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {}

    /// An attempt failed with an error that is retried, but a limit, the budget or the server allows no further one.
    fn attempt_failed_retries_exhausted(
        &self,
        operation: &OperationInfo,
        attempt: &Attempt,
        reason: StopReason,
    ) {
    }

    /// An attempt failed with an error that is not retried.
    fn attempt_permanent_failure(&self, operation: &OperationInfo, attempt: &Attempt, reason: StopReason) {}

    /// An attempt was dropped: another one won, or the caller has dropped the operation.
    fn attempt_cancelled(&self, operation: &OperationInfo, attempt: &Attempt) {}

    /// Something has happened to an endpoint of a connection that this observer is installed on. It
    /// is called by a task of the connection.
    fn connection_event(&self, event: &ConnectionEvent<'_>) {}

    /// A batcher that this observer is installed on sends a batch, which is a separate operation.
    #[cfg(feature = "batching")]
    fn batch_sent(&self, batch: &BatchInfo<'_>) {}
}

/// The headers of one attempt's request, just before it is sent. An observer can add headers, but can't read any.
///
/// Write the context of a trace here, once for each attempt (see
/// [`OperationObserver::attempt_headers`](OperationObserver::attempt_headers)).
pub struct OutgoingHeaders<'a> {
    headers: &'a mut HeaderMap,
}

impl<'a> OutgoingHeaders<'a> {
    pub(crate) fn new(headers: &'a mut HeaderMap) -> Self {
        Self { headers }
    }

    /// Sets a header, and replaces those of the same name. An invalid name or value is ignored.
    pub fn set(&mut self, name: &str, value: &str) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            self.headers.insert(name, value);
        }
    }
}

gax_text::short_debug! { self: OutgoingHeaders<'_> {} }

/// Something that has happened to an attempt, which prints as one line: any type can be one.
///
/// # Examples
///
/// ```
/// use gax_driver::observe::{Event, Peer};
///
/// fn address(event: &dyn Event) -> Option<&str> {
///     event.downcast_ref::<Peer>().map(Peer::as_str)
/// }
/// ```
pub trait Event: Any + fmt::Debug + fmt::Display {}

impl<T: Any + fmt::Debug + fmt::Display> Event for T {}

impl dyn Event {
    /// The event, if it is of that type.
    #[must_use]
    pub fn downcast_ref<T: Event>(&self) -> Option<&T> {
        let event: &dyn Any = self;
        event.downcast_ref()
    }
}
