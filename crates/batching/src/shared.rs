//! Shared by the handles, the waiting callers and the driver of a batcher.

use crate::element::ElementReader;
use crate::error::AddResult;
use crate::state::{Deferred, Entered, Phase, State};
use gax_driver::__private::{Clock, Locked, Observers};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The state with its lock, and the clock that all times are of.
pub(super) struct Shared<T, R, E> {
    state: Locked<State<T, R, E>>,
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
        let state = Locked::new(state);
        Self { state, clock: Clock::start(), reader, name, observers: observers.shared() }
    }

    /// Changes the state at this time, and then does what remains to be done without the lock.
    pub(super) fn change<V>(
        &self,
        change: impl FnOnce(&mut State<T, R, E>, Duration, &mut Deferred<T, R, E>) -> V,
    ) -> V {
        let mut after = Deferred::new();
        let value = {
            let mut state = self.state.lock();
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

    /// Closes the batcher because no handle is left.
    pub(super) fn abandon(&self) {
        let unsent = self.change(|state, now, after| {
            let is_news = !state.is_closing() && state.phase() == Phase::Running;
            let unsent = if is_news { state.unsent() } else { 0 };
            drop(state.close(now, after));
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

    /// That moment; `None` if no timer can reach it.
    pub(super) fn at(&self, moment: Duration) -> Option<Instant> {
        self.clock.at(moment)
    }

    /// How long ago that was.
    pub(super) fn since(&self, moment: Duration) -> Duration {
        self.clock.elapsed().saturating_sub(moment)
    }
}
