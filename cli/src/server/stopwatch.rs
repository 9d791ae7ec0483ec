//! When something happened, for people to read. Nothing is decided by it.

use std::time::Duration;
use tokio::time::Instant;

/// Measures the time from its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "what a server saw is told with the time it saw it")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
