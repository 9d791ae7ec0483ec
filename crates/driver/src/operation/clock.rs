//! The one file that reads the clock.

use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::Instant;

/// The time since an operation's start.
///
/// It is tokio's clock, so that a paused runtime steers it.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts an operation's clock now.
    #[expect(clippy::disallowed_methods, reason = "the clock is read here, and nowhere else")]
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    gax_text::getters! { move self:
        /// The moment at which it was started.
        pub began: Instant = self.start;

        /// How much time has passed.
        pub elapsed: Duration = self.start.elapsed();
    }

    /// This moment, and the time that has passed until now.
    #[expect(clippy::disallowed_methods, reason = "the clock is read here, and nowhere else")]
    #[must_use]
    pub fn now(self) -> (Instant, Duration) {
        let now = Instant::now();
        (now, now.saturating_duration_since(self.start))
    }

    /// The time since this was first asked, by whatever operation.
    pub fn uptime(self) -> Duration {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        let now = self.now().0;
        now.saturating_duration_since(*FIRST.get_or_init(|| now))
    }

    /// Returns whether that moment has come.
    #[must_use]
    pub fn has_reached(self, moment: Instant) -> bool {
        self.now().0 >= moment
    }

    /// The moment that lies so far behind the start; `None` if no timer can reach it.
    #[must_use]
    pub fn at(self, elapsed: Duration) -> Option<Instant> {
        self.start.checked_add(elapsed)
    }
}

/// The time left until a moment that another task agreed on.
#[must_use]
pub fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Clock::start().start)
}

/// The earlier of two moments, or the shorter of two times, where `None` is no limit.
#[inline]
pub fn earlier<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The time of day, for dates that a server sends.
#[expect(clippy::disallowed_methods, reason = "the clock is read here, and nowhere else")]
#[must_use]
pub fn time_of_day() -> std::time::SystemTime {
    std::time::SystemTime::now()
}
