//! A request while it is served.
#![allow(missing_debug_implementations, reason = "for the crates of this repository alone")]

use crate::operation::clock::Clock;
use crate::operation::inbound::handle::Inbound;
use std::time::Duration;
use tokio::task::futures::TaskLocalFuture;

/// A request that is being served. Dropped, it has ended.
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
