//! The one file that reads clocks.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time that is measured.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "time passes on the wall or in the processor")]
pub enum Cost {
    /// The time that the calling thread spends in the processor.
    Processor,
    /// The time that passes.
    Wall,
}

/// Runs from its start.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    clock: ClockId,
    start: Duration,
}

impl Stopwatch {
    /// Starts now.
    #[must_use]
    pub fn start(cost: Cost) -> Self {
        let clock = match cost {
            Cost::Processor => ClockId::ThreadCPUTime,
            Cost::Wall => ClockId::Monotonic,
        };
        Self { clock, start: now(clock) }
    }

    /// The time since it was started.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        now(self.clock).saturating_sub(self.start)
    }
}

fn now(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// A moment of tokio's clock, for contenders that read it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "clocks are read here, and nowhere else")]
pub fn moment() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
