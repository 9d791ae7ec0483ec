//! A handle to the request that is being served.

use crate::operation::clock::Clock;
use crate::operation::until;
use gax_retry::Policy;
use std::cell::Cell;
use std::fmt;
use std::time::Duration;
use tokio::task::futures::TaskLocalFuture;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

tokio::task_local! {
    static INBOUND: Inbound;
}

thread_local! {
    /// `true` once the thread has entered a request: operations ask this first, which costs less than to ask which one.
    static HAS_ENTERED: Cell<bool> = const { Cell::new(false) };
}

/// The thread is in a request until this is dropped.
struct Entered {
    before: bool,
}

impl Entered {
    fn new() -> Self {
        Self { before: HAS_ENTERED.replace(true) }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        HAS_ENTERED.set(self.before);
    }
}

/// The request that a server's handler serves: a handle for work that the handler hands to other tasks and threads.
///
/// It requires a `DeadlineLayer` around the server. The request's deadline then bounds everything that the handler
/// does in its own task. Tasks that it spawns and threads that it starts don't belong to the request, unless they run
/// in its [`scope`](Self::scope) or [`enter`](Self::enter) it:
///
/// * Operations over gRPC and HTTP, and those of closures, blocking ones too, have no more time than the request.
/// * When the request has ended, tasks in its scope are dropped, and with them their operations, whose observers are
///   notified that they were cancelled; operations of threads end with
///   [`StopReason::Cancelled`](crate::StopReason::Cancelled).
/// * If [retries inside retries](crate::OperationOptions::nested_retries) are turned off, that applies there too.
///
/// A request has ended when its handler was dropped, for example because the caller is gone, or when its whole response has
/// been sent. (Tasks may feed a stream of responses.) Don't run work in the scope that should continue after the response.
///
/// Clones are the same handle and cost one counter. [`Inbound::default`] is a handle without a request: it has no
/// limit and never ends.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tonic::Status;
/// use gax_driver::inbound::Inbound;
/// use gax_driver::{Code, RetrySettings, Retryer};
///
/// async fn handler(retryer: Retryer<[Code; 1]>) -> Result<u64, Status> {
///     let inbound = Inbound::current();
///     // In a task: dropped with the request.
///     let size = tokio::spawn(inbound.clone().scope(async { Ok::<u64, Status>(6) }));
///     // In a thread: no wait and no attempt outlives the request.
///     let count = tokio::task::spawn_blocking(move || {
///         inbound.enter(|| retryer.run_blocking(|_| Ok::<u64, Status>(7)).map(|count| count.into_value()))
///     });
///     let size = size.await.map_err(|error| Status::internal(error.to_string()))???;
///     let count = count.await.map_err(|error| Status::internal(error.to_string()))?;
///     Ok(size * count.map_err(|error| Status::unavailable(error.to_string()))?)
/// }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let retryer = Retryer::new(&RetrySettings::no_retry(Duration::from_secs(1)), [Code::Unavailable]);
/// # assert_eq!(handler(retryer).await.unwrap(), 42);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Inbound {
    served: Option<Served>,
    /// `true` if a thread has entered it, so that its work can't be dropped.
    is_entered: bool,
}

#[derive(Clone)]
struct Served {
    deadline: Option<Instant>,
    previous_attempts: u32,
    end: CancellationToken,
}

impl Inbound {
    /// A request that has just come.
    pub(super) fn begin(deadline: Option<Instant>, previous_attempts: u32) -> Self {
        let served = Served { deadline, previous_attempts, end: CancellationToken::new() };
        Self { served: Some(served), is_entered: false }
    }

    /// The request that this task or thread works for; outside of any, that of no request.
    #[must_use]
    pub fn current() -> Self {
        INBOUND.try_with(Self::clone).unwrap_or_default()
    }

    gax_text::getters! { self:
        /// The time that is left until the request's deadline; `None`: it has none.
        pub time_left: Option<Duration> = self.deadline().map(until);

        /// How often the request was sent before, as its header `grpc-previous-rpc-attempts` says (gRFC A6); 0 without one.
        pub previous_attempts: u32 = self.served.as_ref().map_or(0, |served| served.previous_attempts);
    }

    /// Returns whether the request has ended: its handler was dropped, or its response has been sent to its end.
    ///
    /// A blocking closure that takes long should ask now and then; nothing else can stop it.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.served.as_ref().is_some_and(|served| served.end.is_cancelled())
    }

    /// Runs a closure for the request, in any thread. Operations that it runs there belong to the request, and those of
    /// [blocking closures](crate::Retryer::run_blocking) stop as it ends: a wait ends immediately, a closure that is
    /// running is not interrupted, and no attempt follows. Async operations that a `block_on` in it waits for end with
    /// [`StopReason::Cancelled`](crate::StopReason::Cancelled); what else an async block does there continues, so that
    /// `block_on(inbound.scope(work))` is the better choice.
    ///
    /// # Panics
    ///
    /// If the closure panics.
    ///
    /// # Examples
    ///
    /// See [`Inbound`].
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let _entered = Entered::new();
        INBOUND.sync_scope(Self { is_entered: true, ..self.clone() }, work)
    }

    /// Runs a future for a request that another task polls.
    pub(super) fn around<F: Future>(self, work: F) -> TaskLocalFuture<Self, F> {
        INBOUND.scope(Self { is_entered: false, ..self }, work)
    }

    /// Resolves when the request has ended; `None`: that never happens.
    pub(crate) fn end(&self) -> Option<WaitForCancellationFutureOwned> {
        self.served.as_ref().map(|served| served.end.clone().cancelled_owned())
    }

    /// The request has ended.
    pub(super) fn finish(&self) {
        if let Some(served) = &self.served {
            served.end.cancel();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.served.as_ref()?.deadline
    }
}

impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbound")
            .field("time_left", &self.time_left())
            .field("previous_attempts", &self.previous_attempts())
            .field("is_ended", &self.is_ended())
            .finish()
    }
}

/// The deadline of the request that this task serves.
pub fn inbound_deadline() -> Option<Instant> {
    INBOUND.try_with(Inbound::deadline).ok().flatten()
}

/// The request that this thread has entered, if nothing drops an operation that outlives it.
#[inline]
pub(crate) fn entered() -> Option<Inbound> {
    if HAS_ENTERED.get() { current_entered() } else { None }
}

#[cold]
fn current_entered() -> Option<Inbound> {
    Some(Inbound::current()).filter(|inbound| inbound.is_entered)
}

/// The time that is left until the deadline of the request that this task serves.
#[inline]
pub fn time_left() -> Option<Duration> {
    inbound_deadline().map(until)
}

/// Returns whether an operation by that policy may not retry here: the request that this task serves was sent before, and the
/// policy refuses retries inside retries.
#[inline]
#[must_use]
pub fn is_nested_retry(policy: &Policy) -> bool {
    policy.refuses_nested_retries()
        && INBOUND.try_with(|inbound| inbound.previous_attempts() > 0).unwrap_or_default()
}

/// A request that is being served. Dropped, it has ended.
#[allow(missing_debug_implementations, reason = "for the crates of this repository alone")]
pub struct Serving {
    inbound: Inbound,
}

impl Serving {
    /// It is served from now on, within that time.
    #[must_use]
    pub fn begin(timeout: Option<Duration>, previous_attempts: u32) -> Self {
        let deadline = timeout.and_then(|timeout| Clock::start().at(timeout));
        Self { inbound: Inbound::begin(deadline, previous_attempts) }
    }

    /// The handle to it.
    #[must_use]
    pub fn inbound(&self) -> &Inbound {
        &self.inbound
    }

    /// Serves it in this task.
    pub fn serve<F: Future>(&self, serving: F) -> TaskLocalFuture<Inbound, F> {
        self.inbound.clone().around(serving)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.inbound.finish();
    }
}
