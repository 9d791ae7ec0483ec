//! The exponential back-off of one operation, in whole milliseconds.

use super::RawSettings;
use crate::jitter::{JitterSource, uniform};
use std::time::Duration;

const NANOS_PER_MS: i64 = 1_000_000;

/// Nanoseconds as whole milliseconds, cut towards zero.
fn trunc_ms(nanos: i128) -> i64 {
    match i64::try_from(nanos) {
        Ok(nanos) => nanos / NANOS_PER_MS,
        Err(_) => saturated(nanos / i128::from(NANOS_PER_MS)),
    }
}

fn saturated(number: i128) -> i64 {
    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
}

/// Java's `(long) (multiplier * number)`: cut towards zero, saturating, 0 for NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "Rust casts between i64 and f64 as Java does"
)]
fn product(multiplier: f64, number: i64) -> i64 {
    (multiplier * number as f64) as i64
}

/// A number of milliseconds, none of them negative.
pub(crate) fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// A timeout in nanoseconds; zero and less are no deadline.
pub(crate) fn deadline(nanos: i128) -> Option<Duration> {
    if nanos <= 0 {
        return None;
    }
    let below_ms = u64::try_from(nanos % 1_000_000).unwrap_or(0);
    Some(millis(trunc_ms(nanos)).saturating_add(Duration::from_nanos(below_ms)))
}

/// The first RPC timeout by that total, both in nanoseconds.
fn within_total(timeout: i128, total: i128) -> i128 {
    match trunc_ms(total) {
        0 => timeout,
        total => i128::from(trunc_ms(timeout).min(total)) * i128::from(NANOS_PER_MS),
    }
}

/// Settings made ready: whole milliseconds, except where Java keeps the full precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Algorithm {
    /// In nanoseconds; 0 is unset.
    total: i128,
    initial_delay: i64,
    delay_multiplier: f64,
    max_delay: i64,
    max_attempts: i32,
    jittered: bool,
    /// In nanoseconds, clamped to the total where that is a millisecond or more.
    first_timeout: i128,
    timeout_multiplier: f64,
    max_timeout: i64,
}

/// The attempt that could follow: what an attempt's successor is computed from, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Next {
    /// The delay before jitter, in milliseconds.
    pub delay: i64,
    /// The delay after jitter, in milliseconds.
    pub wait: i64,
    /// The RPC timeout in milliseconds; zero and less are no deadline.
    pub timeout: i64,
}

impl Next {
    /// The wait in nanoseconds.
    pub(crate) fn wait_nanos(self) -> i128 {
        i128::from(self.wait) * i128::from(NANOS_PER_MS)
    }
}

/// The limit that an attempt would go beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are Java's")]
pub enum Limit {
    /// There is neither a total timeout nor a number of attempts, so that nothing is retried.
    NoLimits,
    /// The wait is longer than 64 bits of nanoseconds: Java fails with an `ArithmeticException`.
    Overflow,
    /// The total timeout.
    TotalTimeout,
    /// The number of attempts.
    MaxAttempts,
}

impl Algorithm {
    /// The algorithm with those settings.
    #[must_use]
    pub fn new(settings: &RawSettings) -> Self {
        let nanos = |us: i64| i128::from(us) * 1000;
        let total = nanos(settings.total_timeout_us);
        let initial_timeout = nanos(settings.initial_rpc_timeout_us);
        let first_timeout = within_total(initial_timeout, total);
        Self {
            total,
            initial_delay: settings.initial_retry_delay_us / 1000,
            delay_multiplier: settings.retry_delay_multiplier,
            max_delay: settings.max_retry_delay_us / 1000,
            max_attempts: settings.max_attempts,
            jittered: settings.jittered,
            first_timeout,
            timeout_multiplier: settings.rpc_timeout_multiplier,
            max_timeout: settings.max_rpc_timeout_us / 1000,
        }
    }

    /// These settings with the jitter of those that the client was made with.
    pub(crate) fn jittered_like(mut self, client: &Algorithm) -> Self {
        self.jittered = client.jittered;
        self
    }

    /// No more attempts than that.
    pub(crate) fn cap_attempts(&mut self, most: u32) {
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        if self.max_attempts <= 0 || most < self.max_attempts {
            self.max_attempts = most;
        }
    }

    /// No longer a total timeout than that, as if the settings had it.
    pub(crate) fn cap_total(&mut self, most: Duration) {
        let most = i128::try_from(most.as_nanos()).unwrap_or(i128::MAX);
        if self.total <= 0 || most < self.total {
            self.total = most;
            self.first_timeout = within_total(self.first_timeout, most);
        }
    }

    /// The total timeout; `None` means no limit.
    pub(crate) fn total(&self) -> Option<Duration> {
        u64::try_from(self.total).ok().filter(|total| *total > 0).map(Duration::from_nanos)
    }

    /// Returns whether one attempt is all that these settings allow.
    pub(crate) fn is_single(&self) -> bool {
        self.max_attempts == 1
    }

    gax_text::getters! { self:
        /// The first attempt's RPC timeout in nanoseconds.
        pub first_timeout: i128 = self.first_timeout;

        /// Returns whether delays are drawn at random, where anything is.
        pub(crate) is_jittered: bool = self.jittered;
    }

    /// The first attempt: no delay, no wait.
    #[must_use]
    pub fn first(&self) -> Next {
        Next { delay: 0, wait: 0, timeout: trunc_ms(self.first_timeout) }
    }

    /// The attempt after `previous`, which had the 0-based number `count` and ended so many nanoseconds
    /// after the operation's start.
    pub fn next(&self, count: u32, previous: Next, elapsed: i128, jitter: &mut impl JitterSource) -> Next {
        let next = self.grown(count, previous, jitter);
        self.delayed(next, next.wait, elapsed)
    }

    /// Like [`next`](Self::next), before the wait takes anything off its timeout.
    pub(crate) fn grown(&self, count: u32, previous: Next, jitter: &mut impl JitterSource) -> Next {
        let delay = match count {
            0 => self.initial_delay,
            _ => product(self.delay_multiplier, previous.delay).min(self.max_delay),
        };
        let timeout = product(self.timeout_multiplier, previous.timeout).min(self.max_timeout);
        Next { delay, wait: self.drawn(delay, jitter), timeout }
    }

    /// That attempt after a wait of so many milliseconds, with no more than is left of the total then.
    pub(crate) fn delayed(&self, next: Next, wait: i64, elapsed: i128) -> Next {
        let mut next = Next { wait, ..next };
        if self.total != 0 {
            next.timeout = next.timeout.min(self.left_after(next, elapsed));
        }
        next
    }

    /// The limit that keeps the attempt with the 0-based number `count` from being made.
    ///
    /// `least_left` is how many whole milliseconds of the total have to be left when it would start: 1
    /// for a retry, 0 for a poll.
    #[must_use]
    pub fn limit(&self, count: u32, next: Next, elapsed: i128, least_left: i64) -> Option<Limit> {
        if self.total == 0 && self.max_attempts == 0 {
            return Some(Limit::NoLimits);
        }
        if i64::try_from(next.wait_nanos()).is_err() {
            return Some(Limit::Overflow);
        }
        if self.total != 0 && self.left_after(next, elapsed) < least_left {
            return Some(Limit::TotalTimeout);
        }
        let used_up = self.max_attempts > 0 && i64::from(count) >= i64::from(self.max_attempts);
        used_up.then_some(Limit::MaxAttempts)
    }

    /// The rest of the total, in whole milliseconds: a wait of so many is too long. `None`: there is no total.
    pub(crate) fn left(&self, elapsed: i128) -> Option<u64> {
        (self.total != 0).then(|| u64::try_from(trunc_ms(self.total - elapsed)).unwrap_or(0))
    }

    /// Returns whether delays are drawn at random.
    pub(crate) fn is_drawn(&self, jitter: &impl JitterSource) -> bool {
        self.jittered && jitter.is_random()
    }

    fn left_after(&self, next: Next, elapsed: i128) -> i64 {
        trunc_ms(self.total - elapsed - next.wait_nanos())
    }

    fn drawn(&self, delay: i64, jitter: &mut impl JitterSource) -> i64 {
        match u64::try_from(delay) {
            Ok(bound) if bound > 0 && self.is_drawn(jitter) => uniform(0, bound - 1, jitter).cast_signed(),
            _ => delay,
        }
    }
}
