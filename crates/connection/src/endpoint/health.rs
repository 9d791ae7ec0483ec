//! The health of an endpoint, as far as it is known.

use gax_driver::__private::Locked;
use gax_wire::__private::NotConnected;
use std::sync::atomic::{AtomicBool, Ordering};
use tonic::codegen::StdError;

/// The health of an endpoint, as far as it is known.
#[derive(Debug)]
pub(crate) struct Health {
    is_good: AtomicBool,
    state: Locked<State>,
    /// The connection that asks.
    pub(crate) asking: tokio::sync::Mutex<()>,
}

/// The state of the service, by the server's own word.
#[derive(Debug, Clone)]
pub(crate) enum State {
    /// It takes no calls yet, and they wait.
    Unknown,
    Good,
    Bad(NotConnected),
}

impl State {
    pub(crate) fn bad(why: impl Into<StdError>) -> Self {
        Self::Bad(NotConnected::from(why.into()))
    }
}

impl Health {
    /// Of an endpoint that is asked, or is healthy without.
    pub(crate) fn new(is_checked: bool) -> Self {
        let state = if is_checked { State::Unknown } else { State::Good };
        let is_good = AtomicBool::new(!is_checked);
        Self { is_good, state: Locked::new(state), asking: tokio::sync::Mutex::default() }
    }

    pub(crate) fn set(&self, new: State) {
        let mut state = self.state.lock();
        self.is_good.store(matches!(new, State::Good), Ordering::Release);
        *state = new;
    }

    /// It was good, and is asked again.
    pub(crate) fn forget_good(&self) {
        if self.is_good() {
            self.set(State::Unknown);
        }
    }

    /// Returns whether calls may go there.
    pub(crate) fn is_good(&self) -> bool {
        self.is_good.load(Ordering::Acquire)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(*self.state.lock(), State::Unknown)
    }

    /// Why calls may not.
    pub(crate) fn error(&self) -> Option<NotConnected> {
        if self.is_good() {
            return None;
        }
        match &*self.state.lock() {
            State::Bad(error) => Some(error.clone()),
            State::Unknown | State::Good => None,
        }
    }
}
