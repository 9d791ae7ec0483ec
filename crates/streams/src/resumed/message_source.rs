//! The messages of a stream that continues over several connections, for callers that share it, or forget it.

use gax_driver::__private::{Clock, Locked, Timer};
use gax_driver::OperationReport;
use http::HeaderMap;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tonic::Status;
use tonic_gax::__private::{Failure, ResponseBody};

/// Messages of an operation, whatever it is made over.
pub trait MessageSource<M>: Send {
    /// The next message, of whichever connection. After the end or an error there is none.
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<M, Status>>>;

    /// The headers of the connection that was opened last.
    fn head(&self) -> HeaderMap;

    /// The trailers, once the stream has ended well.
    fn take_trailers(&mut self) -> Option<HeaderMap>;

    /// How often the stream was restarted.
    fn restarts(&self) -> u64;

    /// The report, once the stream has ended.
    fn report(&self) -> Option<OperationReport>;

    /// Its messages are no longer read: its connection ends, and so does the stream, with an error that comes next. Returns
    /// whether it has ended; one that is between two connections has not.
    fn abandon(&mut self) -> bool {
        false
    }

    /// A response that is not read message by message, or the rest of one, once: the caller gets it as it comes, behind the
    /// messages so far.
    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        None
    }
}

/// The messages of a stream over further connections, as its caller has it.
pub enum SharedSource<M> {
    /// Never locked for longer than a look: the stream can be shared between threads.
    Plain(Locked<Box<dyn MessageSource<M>>>),
    Watched(IdleTimeout<M>),
}

impl<M: Send + 'static> SharedSource<M> {
    pub fn new(source: Box<dyn MessageSource<M>>, idle_timeout: Option<Duration>) -> Self {
        match idle_timeout {
            Some(timeout) => Self::Watched(IdleTimeout::new(source, timeout)),
            None => Self::Plain(Locked::new(source)),
        }
    }

    /// A look at it.
    pub fn look<T>(&self, fact: impl FnOnce(&(dyn MessageSource<M> + 'static)) -> T) -> T {
        match self {
            Self::Plain(source) => fact(&**source.lock()),
            Self::Watched(watched) => fact(watched),
        }
    }

    /// Its content, to which there is no other reference.
    #[inline]
    pub fn get_mut(&mut self) -> &mut (dyn MessageSource<M> + 'static) {
        match self {
            Self::Plain(source) => &mut **source.get_mut(),
            Self::Watched(watched) => watched,
        }
    }
}

/// A stream that ends if it is not polled for a while. A task watches it, because a stream that isn't polled can't.
pub struct IdleTimeout<M> {
    shared: Arc<Locked<Shared<M>>>,
    task: Option<AbortHandle>,
}

struct Shared<M> {
    /// `None` while it is polled, after a panic of its strategy, and where it could not end by itself.
    source: Option<Box<dyn MessageSource<M>>>,
    /// Since when the caller has left it alone; `None`: it waits for a message, or there is none to come.
    idle_since: Option<Instant>,
    clock: Clock,
    /// The error of a stream that could not end by itself.
    failure: Option<Status>,
}

impl<M> Shared<M> {
    fn left_alone(&mut self) {
        self.idle_since = Some(self.clock.now().0);
    }

    /// The caller has left it alone for too long: its connection is dropped. It has its own error, unless it is between two
    /// connections.
    fn abandon(&mut self) {
        self.idle_since = None;
        if let Some(mut source) = self.source.take() {
            if source.abandon() {
                self.source = Some(source);
            } else {
                self.failure = Some(Failure::left_alone().peek());
            }
        }
    }
}

impl<M: Send + 'static> IdleTimeout<M> {
    pub fn new(source: Box<dyn MessageSource<M>>, timeout: Duration) -> Self {
        let mut shared =
            Shared { source: Some(source), idle_since: None, clock: Clock::start(), failure: None };
        shared.left_alone();
        let shared = Arc::new(Locked::new(shared));
        // Outside of a runtime, there is no timer.
        let task = Handle::try_current()
            .ok()
            .map(|runtime| runtime.spawn(watch(Arc::downgrade(&shared), timeout)).abort_handle());
        Self { shared, task }
    }
}

/// Waits until the stream was left alone for too long, and ends it.
async fn watch<M>(shared: Weak<Locked<Shared<M>>>, timeout: Duration) {
    loop {
        let ends_at = {
            let Some(shared) = shared.upgrade() else { return };
            let mut shared = shared.lock();
            let now = shared.clock.now().0;
            match shared.idle_since.and_then(|since| since.checked_add(timeout)) {
                Some(end) if now >= end => return shared.abandon(),
                Some(end) => Some(end),
                None => now.checked_add(timeout),
            }
        };
        let mut timer = Timer::default();
        poll_fn(|cx| timer.poll_at(ends_at, cx)).await;
    }
}

impl<M: Send + 'static> MessageSource<M> for IdleTimeout<M> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<M, Status>>> {
        let mut shared = self.shared.lock();
        shared.idle_since = None;
        let Some(mut source) = shared.source.take() else {
            return Poll::Ready(shared.failure.take().map(Err));
        };
        drop(shared);
        let polled = source.poll_message(cx);
        let mut shared = self.shared.lock();
        shared.source = Some(source);
        if let Poll::Ready(Some(Ok(_))) = polled {
            shared.left_alone();
        }
        polled
    }

    fn head(&self) -> HeaderMap {
        self.shared.lock().source.as_ref().map(|source| source.head()).unwrap_or_default()
    }

    fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.shared.lock().source.as_mut()?.take_trailers()
    }

    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        self.shared.lock().source.as_mut()?.take_passed()
    }

    fn restarts(&self) -> u64 {
        self.shared.lock().source.as_ref().map_or(0, |source| source.restarts())
    }

    fn report(&self) -> Option<OperationReport> {
        self.shared.lock().source.as_ref()?.report()
    }
}

impl<M> Drop for IdleTimeout<M> {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
