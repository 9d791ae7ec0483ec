//! Runtimes.

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
