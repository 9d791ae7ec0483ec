//! The task of a batcher.

use crate::outcome::{BoxFuture, Ended, SendBatch};
use crate::shared::Shared;
use crate::state::{BegunBatch, Phase, State, Turn};
use futures_util::stream::{FuturesUnordered, Stream};
use gax_driver::__private::{PanicGuard, Timer};
use gax_driver::observe::BatchInfo;
use gax_retry::batching::BatchId;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A batch, and how its call ended; `None`: it panicked.
type EndedCall<R, E> = (BatchId, Option<Ended<R, E>>);

const WHO: &str = "the call of a batch";

/// The task of a batcher: it owns the timer and the calls of batches that are in flight, and ends when the batcher is closed
/// and every batch has ended, or immediately when it is aborted.
///
/// [`Batcher::spawn`](super::Batcher::spawn) spawns it. If you create a batcher with [`Batcher::pair`](super::Batcher::pair),
/// you have to poll it; otherwise nothing is sent.
///
/// # Cancel safety
///
/// Dropped before its end, it drops the calls that are in flight. Elements that have no reply end with
/// [`TaskGone`](super::ElementFailure::TaskGone), and no more are taken.
#[must_use = "nothing is sent unless it is polled"]
pub struct BatchDriver<T, R, E> {
    shared: Arc<Shared<T, R, E>>,
    send: SendBatch<T, R, E>,
    calls: FuturesUnordered<BoxFuture<EndedCall<R, E>>>,
    timer: Timer,
    guard: Arc<PanicGuard>,
}

impl<T, R, E> BatchDriver<T, R, E> {
    pub(super) fn new(shared: Arc<Shared<T, R, E>>, send: SendBatch<T, R, E>) -> Self {
        Self { shared, send, calls: FuturesUnordered::new(), timer: Timer::default(), guard: Arc::default() }
    }

    /// Begins the call of a batch. A panic of the program's code ends this batch alone.
    fn call(&mut self, batch: BegunBatch<T>)
    where
        R: 'static,
        E: 'static,
    {
        let BegunBatch { ready, elements, sizes, throttled } = batch;
        if let Some(observers) = &self.shared.observers {
            let waited = self.shared.since(ready.opened());
            let info = BatchInfo::new(&self.shared.name, &sizes, ready.trigger(), waited, throttled);
            observers.each(|observer| observer.batch_sent(&info));
        }
        let guard = Arc::clone(&self.guard);
        let mut call = guard.run(WHO, || (self.send)(elements, sizes));
        self.calls.push(Box::pin(poll_fn(move |cx| {
            let Some(running) = &mut call else { return Poll::Ready((ready.id(), None)) };
            let polled = guard.run(WHO, || running.as_mut().poll(cx));
            let ended = match polled {
                Some(Poll::Pending) => return Poll::Pending,
                Some(Poll::Ready(ended)) => Some(ended),
                None => None,
            };
            guard.run(WHO, || drop(call.take()));
            Poll::Ready((ready.id(), ended))
        })));
    }
}

impl<T, R: 'static, E: 'static> Future for BatchDriver<T, R, E> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            let Turn { begun, wakes_at, phase } =
                this.shared.change(|state, now, after| state.begin(cx.waker(), now, after));
            if phase != Phase::Running {
                this.guard.run(WHO, || this.calls.clear());
                return Poll::Ready(());
            }
            for batch in begun {
                this.call(batch);
            }
            if let Poll::Ready(Some((batch, ended))) = Pin::new(&mut this.calls).poll_next(cx) {
                this.shared.change(|state, now, after| state.ended(batch, ended, now, after));
                continue;
            }
            let wakes_at = wakes_at.and_then(|moment| this.shared.at(moment));
            if this.timer.poll_at(wakes_at, cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl<T, R, E> Drop for BatchDriver<T, R, E> {
    fn drop(&mut self) {
        self.shared.change(State::driver_gone);
    }
}

gax_text::short_debug! { self: [T, R, E] BatchDriver<T, R, E> { in_flight: self.calls.len() } }
