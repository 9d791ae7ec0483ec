//! The back-off between attempts to connect.

use gax_retry::jitter::{JitterSource, NoJitter};
use std::time::Duration;

/// How long an endpoint waits from one attempt to connect to the next, after failures.
///
/// After the first failure it is 50 ms, after the second 100 ms, and never more than the initial wait: one of several servers behind an
/// address may be down, or a server restarts. From the third failure in a row, it is
/// [gRPC's](https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md): the wait grows by a multiplier up to a maximum. Each
/// wait differs by up to a fifth at random. It is measured from the start of an attempt, so a slow failure doesn't lengthen it. A
/// connection over which a call got response headers resets it. One that ends without response headers is treated as a failed attempt
/// that started when the connection was made.
///
/// # Defaults
///
/// 50 ms, 100 ms, 1 s, and then times 1.6 up to 120 s.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_connection::{Connection, ConnectBackoff};
///
/// let quick = ConnectBackoff::default().initial(Duration::from_millis(100)).max(Duration::from_secs(5));
/// let connection = Connection::to("http://localhost:50051").connect_backoff(quick);
/// # drop(connection);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConnectBackoff {
    initial: Duration,
    max: Duration,
}

/// The shortest wait that can be set: no setting has an address dialled in a loop.
const MIN_WAIT: Duration = Duration::from_millis(100);
/// The waits after the first failures.
const QUICK: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(100)];
const MULTIPLIER: f64 = 1.6;
const JITTER: f64 = 0.2;

impl Default for ConnectBackoff {
    fn default() -> Self {
        Self { initial: Duration::from_secs(1), max: Duration::from_secs(120) }
    }
}

impl ConnectBackoff {
    gax_text::setters! { self:
        /// The wait after the third failure in a row; less than 100 ms is treated as 100 ms.
        #[must_use]
        pub initial(initial: Duration) => self.initial = initial.max(MIN_WAIT);

        /// The longest wait; less than 100 ms is treated as 100 ms.
        #[must_use]
        pub max(max: Duration) => self.max = max.max(MIN_WAIT);
    }

    pub(crate) fn longest(self) -> Duration {
        self.max
    }

    /// The wait after so many in a row, without jitter and without the quick ones.
    pub(crate) fn nth(self, number: u32) -> Duration {
        let mut waits = Waits { quick: &[], ..Waits::new(self) };
        (0..number).map(|_| waits.draw(&mut NoJitter)).last().unwrap_or_default()
    }

    fn first(self) -> Duration {
        self.initial.min(self.max)
    }
}

/// The waits of one endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waits {
    backoff: ConnectBackoff,
    /// The waits before `next`.
    quick: &'static [Duration],
    next: Duration,
}

impl Waits {
    pub(crate) fn new(backoff: ConnectBackoff) -> Self {
        Self { backoff, quick: &QUICK, next: backoff.first() }
    }

    /// The wait that follows, and the one after it is longer.
    pub(crate) fn draw(&mut self, jitter: &mut dyn JitterSource) -> Duration {
        let wait = if let Some((quick, rest)) = self.quick.split_first() {
            self.quick = rest;
            self.next.min(*quick)
        } else {
            let next = Duration::try_from_secs_f64(self.next.as_secs_f64() * MULTIPLIER);
            let next = next.map_or(self.backoff.max, |next| next.min(self.backoff.max));
            std::mem::replace(&mut self.next, next)
        };
        if !jitter.is_random() {
            return wait;
        }
        let factor = 1.0 - JITTER + 2.0 * JITTER * jitter.next_fraction();
        Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(wait)
    }

    /// The longest wait that can be drawn, without jitter.
    pub(crate) fn longest(&self) -> Duration {
        self.backoff.max
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.backoff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::jitter::ScriptedJitter;

    #[test]
    fn waits_grow_by_grpc_s_numbers() {
        let mut waits = Waits::new(ConnectBackoff::default());
        let drawn: Vec<_> = (0..15).map(|_| waits.draw(&mut NoJitter).as_millis()).collect();
        assert_eq!(
            drawn,
            [
                50, 100, 1000, 1600, 2560, 4096, 6553, 10_485, 16_777, 26_843, 42_949, 68_719, 109_951,
                120_000, 120_000
            ]
        );
        waits.reset();
        assert_eq!(waits.draw(&mut NoJitter).as_millis(), 50);
    }

    #[test]
    fn no_setting_makes_waits_shorter_than_a_tenth_of_a_second_but_the_first() {
        let mut waits = Waits::new(ConnectBackoff::default().initial(Duration::ZERO).max(Duration::ZERO));
        let drawn: Vec<_> = (0..3).map(|_| waits.draw(&mut NoJitter).as_millis()).collect();
        assert_eq!(drawn, [50, 100, 100]);
    }

    #[test]
    fn a_fifth_of_each_is_drawn() {
        let mut waits = Waits::new(ConnectBackoff::default().max(Duration::from_secs(1)));
        let mut jitter = ScriptedJitter::new([0.0, 1.0, 0.0, 0.5, 1.0]);
        let drawn: Vec<_> = (0..5).map(|_| waits.draw(&mut jitter).as_millis()).collect();
        assert_eq!(drawn, [40, 120, 800, 1000, 1200]);
    }

    #[test]
    fn a_first_wait_above_the_longest_is_the_longest() {
        let backoff = ConnectBackoff::default().initial(Duration::MAX).max(Duration::from_secs(3));
        assert_eq!([1, 2].map(|number| backoff.nth(number).as_secs()), [3, 3]);
        assert_eq!(ConnectBackoff::default().initial(Duration::MAX).max(Duration::MAX).nth(1), Duration::MAX);
    }
}
