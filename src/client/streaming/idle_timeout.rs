//! Streams that their caller forgets.

use crate::grpc::MessageSource;
use crate::operation::{Clock, OperationReport, Timer};
use http::HeaderMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tonic::Status;

/// A stream that is dropped if nobody polls it for a while. A task watches it, since a stream that nobody polls can't.
pub(crate) struct IdleTimeout<M> {
    shared: Arc<Mutex<Shared<M>>>,
    task: Option<AbortHandle>,
}

struct Shared<M> {
    /// `None` once it was dropped.
    source: Option<Box<dyn MessageSource<M>>>,
    /// Since when the caller has left it alone; `None`: it waits for a message.
    idle_since: Option<Instant>,
    clock: Clock,
    /// The caller knows that it was dropped.
    is_over: bool,
}

impl<M> Shared<M> {
    fn left_alone(&mut self) {
        self.idle_since = Some(self.clock.now().0);
    }
}

impl<M: Send + 'static> IdleTimeout<M> {
    pub(crate) fn new(source: Box<dyn MessageSource<M>>, timeout: Duration) -> Self {
        let mut shared =
            Shared { source: Some(source), idle_since: None, clock: Clock::start(), is_over: false };
        shared.left_alone();
        let shared = Arc::new(Mutex::new(shared));
        // Outside of a runtime nobody could wait.
        let task = Handle::try_current()
            .ok()
            .map(|runtime| runtime.spawn(watch(Arc::downgrade(&shared), timeout)).abort_handle());
        Self { shared, task }
    }

    fn shared(&self) -> MutexGuard<'_, Shared<M>> {
        lock(&self.shared)
    }
}

fn lock<M>(shared: &Mutex<Shared<M>>) -> MutexGuard<'_, Shared<M>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the stream was left alone for too long, and drops it.
async fn watch<M>(shared: Weak<Mutex<Shared<M>>>, timeout: Duration) {
    loop {
        let ends_at = {
            let Some(shared) = shared.upgrade() else { return };
            let mut shared = lock(&shared);
            let now = shared.clock.now().0;
            match shared.idle_since.and_then(|since| since.checked_add(timeout)) {
                Some(end) if now >= end => {
                    let source = shared.source.take();
                    drop(shared);
                    return drop(source);
                }
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
        let mut shared = self.shared();
        shared.idle_since = None;
        let Some(mut source) = shared.source.take() else {
            let is_new = !std::mem::replace(&mut shared.is_over, true);
            let status = || {
                Err(Status::aborted(
                    "the stream was cancelled: nobody took its messages within the idle timeout",
                ))
            };
            return Poll::Ready(is_new.then(status));
        };
        drop(shared);
        let polled = source.poll_message(cx);
        let mut shared = self.shared();
        shared.source = Some(source);
        if polled.is_ready() {
            shared.left_alone();
        }
        polled
    }

    fn head(&self) -> HeaderMap {
        self.shared().source.as_ref().map(|source| source.head()).unwrap_or_default()
    }

    fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.shared().source.as_mut()?.take_trailers()
    }

    fn restarts(&self) -> u64 {
        self.shared().source.as_ref().map_or(0, |source| source.restarts())
    }

    fn report(&self) -> Option<OperationReport> {
        self.shared().source.as_ref()?.report()
    }
}

impl<M> Drop for IdleTimeout<M> {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
