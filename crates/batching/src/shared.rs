//! Shared by the handles, the waiting callers and the driver of a batcher.

use crate::element::ElementReader;
use crate::error::AddResult;
use crate::outcome::Ended;
use crate::state::{Deferred, Entered, Phase, State, Turn};
use crate::totals::BatcherTotals;
use gax_driver::__private::{Clock, Observers};
use gax_retry::batching::{BatchId, ElementSize, Ticket};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The state with its lock, and the clock that all times are of.
pub(super) struct Shared<T, R, E> {
    state: Mutex<State<T, R, E>>,
    clock: Clock,
    reader: ElementReader<T>,
    pub(super) name: Cow<'static, str>,
    pub(super) observers: Option<Arc<Observers>>,
}

impl<T, R, E> Shared<T, R, E> {
    pub(super) fn new(
        state: State<T, R, E>,
        reader: ElementReader<T>,
        name: Cow<'static, str>,
        observers: &Observers,
    ) -> Self {
        let state = Mutex::new(state);
        Self { state, clock: Clock::start(), reader, name, observers: observers.shared() }
    }

    /// Changes the state at this time, and then does what remains to be done without the lock.
    fn change<V>(
        &self,
        change: impl FnOnce(&mut State<T, R, E>, Duration, &mut Deferred<T, R, E>) -> V,
    ) -> V {
        let mut after = Deferred::new();
        let value = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            // Under the lock, so that times never go back.
            let now = self.clock.elapsed();
            change(&mut state, now, &mut after)
        };
        after.perform();
        value
    }

    pub(super) fn add(&self, element: T) -> Entered<T, R, E> {
        let new = self.reader.read(&element);
        self.change(|state, now, after| state.add(element, new, now, after))
    }

    pub(super) fn try_add(&self, element: T) -> AddResult<T, R, E> {
        let new = self.reader.read(&element);
        self.change(|state, now, after| state.try_add(element, new, now, after))
    }

    pub(super) fn withdraw(&self, ticket: Ticket) {
        self.change(|state, now, after| state.withdraw(ticket, now, after));
    }

    pub(super) fn flush(&self) -> oneshot::Receiver<()> {
        self.change(State::flush)
    }

    pub(super) fn close(&self) -> oneshot::Receiver<()> {
        self.change(|state, now, after| {
            state.close(now, after);
            state.closed()
        })
    }

    /// Closes the batcher because no handle is left.
    pub(super) fn abandon(&self) {
        let unsent = self.change(|state, now, after| {
            let is_news = !state.is_closing() && state.phase() == Phase::Running;
            let unsent = if is_news { state.unsent() } else { 0 };
            state.close(now, after);
            unsent
        });
        if unsent > 0 {
            self.warn(unsent);
        }
    }

    #[cfg(feature = "tracing")]
    fn warn(&self, unsent: usize) {
        let name = gax_text::Escaped(&self.name);
        tracing::warn!(
            elements = unsent,
            "the last handle of {name} was dropped before all elements were sent: its task sends them if the runtime keeps \
             running; close() waits for them"
        );
    }

    #[cfg(not(feature = "tracing"))]
    #[expect(clippy::unused_self, reason = "there is nothing to record it with")]
    fn warn(&self, _: usize) {}

    pub(super) fn give_back(&self) -> Vec<T> {
        self.change(State::give_back)
    }

    pub(super) fn abort(&self) {
        self.change(State::abort);
    }

    pub(super) fn outstanding(&self) -> ElementSize {
        self.change(|state, _, _| state.outstanding())
    }

    pub(super) fn totals(&self) -> BatcherTotals {
        self.change(|state, _, _| state.totals())
    }

    pub(super) fn ended(&self, batch: BatchId, ended: Option<Ended<R, E>>) {
        self.change(|state, now, after| state.ended(batch, ended, now, after));
    }

    pub(super) fn driver_gone(&self) {
        self.change(State::driver_gone);
    }

    /// The driver's turn.
    pub(super) fn begin(&self, driver: &Waker) -> Turn<T> {
        self.change(|state, now, after| state.begin(driver, now, after))
    }

    /// That moment; `None` if no timer can reach it.
    pub(super) fn at(&self, moment: Duration) -> Option<Instant> {
        self.clock.at(moment)
    }

    /// How long ago that was.
    pub(super) fn since(&self, moment: Duration) -> Duration {
        self.clock.elapsed().saturating_sub(moment)
    }
}
