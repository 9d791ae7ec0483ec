//! Runtimes, and the world of an operation alone.

use gax_retry::jitter::JitterSource;
use gax_retry::operation::World;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A runtime in this thread.
///
/// # Panics
///
/// It can't be made.
#[must_use]
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

/// A runtime whose clock is paused, so that nobody waits, and that asks the kernel for nothing. It makes tokio's clock slower for all of the
/// process.
///
/// # Panics
///
/// It can't be made.
#[must_use]
pub fn paused() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime can be made")
}

/// The clock and the jitter of an operation.
#[expect(missing_debug_implementations, clippy::exhaustive_structs, reason = "a clock that a bench sets")]
pub struct FakeWorld<'a> {
    /// The time since the operation's begin.
    pub now: Duration,
    /// Where draws come from.
    pub jitter: &'a mut dyn JitterSource,
}

impl World for FakeWorld<'_> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        self.jitter
    }
}
