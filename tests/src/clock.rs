//! Virtual time.

use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

/// That many milliseconds.
#[must_use]
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A runtime whose clock jumps from timer to timer.
#[must_use]
pub fn virtual_time() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// The time since a test began.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock(Instant);

impl VirtualClock {
    /// Begins now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place where tests read the paused clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
