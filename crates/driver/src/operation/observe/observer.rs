//! The trait that observers implement.

use crate::operation::observe::batch::BatchInfo;
use crate::operation::observe::connection_event::ConnectionEvent;
use crate::operation::observe::event::Event;
use crate::operation::observe::info::OperationInfo;
use crate::operation::observe::summary::OperationSummary;
use crate::operation::observe::transfer::{AttemptTransfer, WireMessage};
use crate::operation::report::AttemptDelay;
use gax_retry::{Attempt, ServerDelay, StartedAttempt, StopReason};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Is notified of operations, as they happen.
///
/// Every method has an empty default. All are called synchronously, in the order of gax-java's tracers, by the task that
/// polls the operation (`operation_started` of a call through the layer by whoever makes the call; `request_read` and
/// `message_sent` by the task of the connection): they must not block. Observers see methods, numbers and codes, never
/// messages, bodies or the values of metadata.
///
/// Of one operation an observer hears, in this order:
///
/// 1. [`operation_started`](Self::operation_started), once;
/// 2. for each attempt [`attempt_started`](Self::attempt_started), [`attempt_sent`](Self::attempt_sent) once the
///    transport takes the request, and exactly one end: `attempt_succeeded`, `attempt_failed` (another attempt follows,
///    or others are in flight), `attempt_failed_retries_exhausted`, `attempt_permanent_failure` or
///    `attempt_cancelled`. Attempts count from 1. (gax-java's tracers count them from 0.) A transparent retry is no
///    attempt: it comes between the start and the end of one;
/// 3. [`operation_succeeded`](Self::operation_succeeded), [`operation_failed`](Self::operation_failed) or
///    [`operation_cancelled`](Self::operation_cancelled), once.
///
/// A stream of responses ends with its last message, or when it is dropped; so does its operation. A call whose request
/// can't be encoded is no operation, and neither is one of a method that the layer's table doesn't know.
///
/// # Panics
///
/// A panic of an observer changes nothing for the call and for other observers: it is caught, the observer is notified of
/// what follows as before, and with the feature `tracing` its first panic is an event at the level ERROR. A program built
/// with `panic = "abort"` ends, since nothing can be caught there.
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
/// use gax_driver::{Code, RetrySettings, Retryer};
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
/// let retryer = Retryer::new(&settings, [Code::Unavailable]).observer(retries.clone());
/// let result = retryer.run(|_| async { Err::<(), _>(tonic::Status::unavailable("not yet")) }).await;
/// assert!(result.is_err());
/// assert_eq!(retries.0.load(Ordering::Relaxed), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(unused_variables, reason = "the names are documentation: every default does nothing")]
pub trait OperationObserver: Send + Sync + 'static {
    /// An observer of this one operation, which hears everything about it in place of `self`, from
    /// `operation_started` on: for those that keep something for each operation, such as a span. `None`, the default:
    /// `self` hears it.
    fn for_operation(&self, operation: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        None
    }

    /// An operation has begun.
    fn operation_started(&self, operation: &OperationInfo) {}

    /// It has the reply.
    fn operation_succeeded(&self, operation: &OperationInfo, summary: &OperationSummary) {}

    /// It ended with an error.
    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {}

    /// Its caller has dropped it.
    fn operation_cancelled(&self, operation: &OperationInfo, summary: &OperationSummary) {}

    /// An attempt starts.
    fn attempt_started(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The thread is about to work on an attempt: to send it, or to poll what it waits for. Whatever the layers, interceptors and closures
    /// of the program do for the attempt happens until [`attempt_exited`](Self::attempt_exited) is called, on the same thread. Both are
    /// called often, for each poll.
    fn attempt_entered(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The thread does not work on the attempt any longer.
    fn attempt_exited(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// An attempt's request is about to go out, transparent retries included: here is where the context of a trace
    /// goes into its headers. Closures have none, so that this is never called for them.
    fn attempt_headers(
        &self,
        operation: &OperationInfo,
        attempt: StartedAttempt,
        headers: &mut OutgoingHeaders<'_>,
    ) {
    }

    /// The transport has taken an attempt's request, so long after the attempt's start: what it took until a
    /// connection was there and a service was ready. Never called for closures.
    fn attempt_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, waited: Duration) {}

    /// An attempt has waited for a connection or a free stream, known over a connection of our own.
    /// The attempt's end follows.
    fn attempt_delayed(&self, operation: &OperationInfo, attempt: StartedAttempt, delay: AttemptDelay) {}

    /// Whether the observer wants to hear what goes over the wire: `request_read`, `message_sent`, `message_received` and
    /// `attempt_transferred`. Asked as an operation begins. No, unless overridden: an attempt takes two allocations more
    /// while its messages are counted.
    fn watches_transfers(&self, operation: &OperationInfo) -> bool {
        false
    }

    /// The connection has begun to read an attempt's request, so long after the attempt's start: it had to be there, and to
    /// have a free stream. Only over gRPC, if an observer [watches](Self::watches_transfers). It is called by the task of
    /// the connection, and after a transparent retry once more.
    fn request_read(&self, operation: &OperationInfo, attempt: StartedAttempt, waited: Duration) {}

    /// The connection has read a whole message of an attempt's request. Only over gRPC, if an observer
    /// [watches](Self::watches_transfers). It is called by the task of the connection, which may continue for a moment after
    /// the attempt has ended.
    fn message_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {}

    /// A whole message of an attempt's response has come in. Only over gRPC, if an observer
    /// [watches](Self::watches_transfers).
    fn message_received(&self, operation: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {}

    /// An attempt is over, and this much has gone over the wire with it; the attempt's end follows. If an observer
    /// [watches](Self::watches_transfers), but never for closures.
    fn attempt_transferred(&self, operation: &OperationInfo, attempt: &Attempt, transfer: AttemptTransfer) {}

    /// Something has happened to an attempt that only some transports have: over a
    /// [connection](https://tonic-gax.github.io/tonic-gax/connecting.html) of our own the [`Peer`](crate::observe::Peer) that it went to is
    /// known, and the end of an attempt of a transfer has a `TransferProgress`: the bytes that have gone over in all attempts, and how
    /// often it has gone on after a failure. The attempt's end follows.
    fn attempt_event(&self, operation: &OperationInfo, attempt: StartedAttempt, event: &dyn Event) {}

    /// A stream of responses has brought a message. A layer without descriptors can't distinguish one response from a
    /// stream of one, and notifies of it too.
    fn response_received(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The caller gets the response before its end is known, so that no other attempt can follow.
    fn committed(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// A request that no server has seen is sent again at once, as part of the same attempt (gRFC A6).
    fn transparent_retry(&self, operation: &OperationInfo, attempt: StartedAttempt) {}

    /// The server of an attempt that failed asks for a delay (`grpc-retry-pushback-ms`, `Retry-After`), or for no
    /// further attempt. Only what the operation applies counts; the attempt's end follows.
    fn pushback_received(&self, operation: &OperationInfo, attempt: &Attempt, asked: ServerDelay) {}

    /// An attempt that failed would be retried, but the retry budget is exhausted; the attempt's end follows.
    fn retry_throttled(&self, operation: &OperationInfo, attempt: &Attempt) {}

    /// An attempt has the reply.
    fn attempt_succeeded(&self, operation: &OperationInfo, attempt: &Attempt) {}

    /// An attempt failed, and another one follows after that delay; `None`: others are in flight, and none is added.
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
    fn batch_sent(&self, batch: &BatchInfo<'_>) {}
}

/// The headers of one attempt's request, just before it goes out. An observer can add headers, but can't read any.
///
/// Whoever carries the context of a trace to the server writes it here, once for each attempt (see
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

impl fmt::Debug for OutgoingHeaders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingHeaders").finish_non_exhaustive()
    }
}
