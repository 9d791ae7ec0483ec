//! Until when calls avoid an endpoint.

use std::time::Duration;
use tokio::time::Instant;

/// Until when calls avoid an endpoint.
#[derive(Debug, Default)]
pub(super) struct EjectionTime {
    until: Option<Instant>,
    /// For how long it was the last time.
    time: Duration,
    /// How often in a row.
    times: u32,
}

impl EjectionTime {
    /// It is ejected, for longer if it was before. One that was good for as long as it had been out starts again.
    pub(super) fn begin(&mut self, first: Duration, now: Instant) -> Duration {
        if self.until.and_then(|until| until.checked_add(self.time)).is_none_or(|good| good <= now) {
            self.times = 0;
        }
        self.times = (self.times + 1).min(10);
        self.time = first.saturating_mul(self.times);
        self.until = now.checked_add(self.time);
        self.time
    }

    /// Returns whether it was ejected ever.
    pub(super) fn was_out(&self) -> bool {
        self.until.is_some()
    }

    pub(super) fn is_out(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_driver::__private::Clock;

    #[test]
    fn an_endpoint_is_out_for_longer_each_time_unless_it_was_good_meanwhile() {
        let (mut ejection, mut now) = (EjectionTime::default(), Clock::start().now().0);
        let second = Duration::from_secs(1);
        assert!(!ejection.was_out() && !ejection.is_out(now));
        for times in (1..=10).chain([10]) {
            assert_eq!(ejection.begin(second, now), second * times);
            assert!(ejection.was_out() && ejection.is_out(now));
            now += second * times;
            assert!(!ejection.is_out(now));
            // Good for not quite as long.
            now += Duration::from_millis(999) * times;
        }
        now += Duration::from_millis(10);
        assert_eq!(ejection.begin(second, now), second);
    }
}
