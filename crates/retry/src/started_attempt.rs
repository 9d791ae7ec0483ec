//! An attempt that is being made.

use crate::nanos::{
    FOREVER, after, bounded, limited, nanos_or_forever, remaining, timeout, timeout_or_forever,
    whole_milliseconds,
};
use std::time::Duration;

/// Why an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptKind {
    /// It is the first.
    Original,
    /// The one before failed in a way that is retried.
    Retry,
    /// An attempt made again, since no server has seen it: a transparent retry (gRFC A6). It keeps its number, its
    /// start and its RPC timeout.
    Resend,
    /// The ones before have got no reply in time (gRFC A6, hedging).
    Hedge,
    /// It continues with a stream where the previous one broke off.
    Resume,
    /// It asks again whether a long-running operation is done.
    Poll,
}

/// When to ask again for what is not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "at once, or later")]
pub enum Next {
    /// After the delay of the settings.
    Later,
    /// Immediately. Such an attempt is not counted, but a second consecutive one without
    /// [progress](crate::operation::AttemptResult::with_progress) waits.
    Now,
}

/// An attempt that is sent now.
///
/// It counts nanoseconds, as all arithmetic of schedules does: in durations, what an operation knows of its attempts
/// while it waits would take half as much again (bench `memory`, parked).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedAttempt {
    pub(crate) number: u32,
    kind: AttemptKind,
    pub(crate) transparent_retries: u8,
    whole_milliseconds: bool,
    pub(crate) delay: u64,
    pub(crate) start: u64,
    /// `FOREVER` is no deadline.
    pub(crate) rpc_timeout: u64,
}

impl StartedAttempt {
    /// The first attempt of an operation that nothing delays.
    #[inline]
    pub(crate) fn first(rpc_timeout: u64, whole_milliseconds: bool) -> Self {
        let rpc_timeout = timeout(rpc_timeout);
        let (number, kind) = (1, AttemptKind::Original);
        Self { number, kind, transparent_retries: 0, whole_milliseconds, delay: 0, start: 0, rpc_timeout }
    }

    /// The attempt of that number, which starts then, after a wait of that length.
    #[inline]
    pub(crate) fn following(self, number: u32, kind: AttemptKind, delay: u64, start: u64) -> Self {
        Self { number, kind, delay, start, ..self }
    }

    gax_text::getters! { move self:
        /// Its number in the operation; the first is 1.
        #[inline]
        pub number: u32 = self.number;

        /// Why it is made.
        #[inline]
        pub kind: AttemptKind = self.kind;

        /// How often its request was sent before and never reached a server: transparent retries (gRFC A6), which are no
        /// attempts.
        #[inline]
        pub transparent_retries: u32 = self.transparent_retries.into();
    }

    /// The actual wait before it; zero for the first.
    #[inline]
    #[must_use]
    pub fn delay(self) -> Duration {
        Duration::from_nanos(self.delay)
    }

    /// When it starts, counted from the start of the operation.
    #[inline]
    #[must_use]
    pub fn start(self) -> Duration {
        Duration::from_nanos(self.start)
    }

    /// How long it may take; `None` means no deadline.
    #[inline]
    #[must_use]
    pub fn rpc_timeout(self) -> Option<Duration> {
        bounded(self.rpc_timeout)
    }

    /// How long after its start it is cut off: its RPC timeout. By gax-java's rules the deadline is what the timeout
    /// has of whole milliseconds, so that a timeout of 0.9 ms fails immediately.
    #[inline]
    #[must_use]
    pub fn deadline(self) -> Option<Duration> {
        match self.rpc_timeout() {
            Some(timeout) if self.whole_milliseconds => Some(whole_milliseconds(timeout)),
            timeout => timeout,
        }
    }

    /// Returns whether it has no time at all, which only happens by gax-java's rules: they truncate its timeout to whole
    /// milliseconds. Such an attempt is not sent. It fails with `DEADLINE_EXCEEDED`.
    #[inline]
    #[must_use]
    pub fn has_no_time(self) -> bool {
        let least = if self.whole_milliseconds { 1_000_000 } else { 1 };
        self.rpc_timeout < least
    }

    gax_text::setters! { self:
        /// The attempt with exactly that timeout.
        #[must_use]
        pub with_rpc_timeout(timeout: Duration) => self.rpc_timeout = timeout_or_forever(Some(timeout));

        /// The attempt with no more time than that.
        #[inline]
        pub(crate) within(bound: u64) => self.rpc_timeout = self.rpc_timeout.min(bound);
    }

    /// The moment at which it is cut off, counted from the start of the operation.
    #[inline]
    #[must_use]
    pub fn expires_at(self) -> Option<Duration> {
        self.deadline().map(|deadline| self.start().saturating_add(deadline))
    }

    /// Like [`expires_at`](Self::expires_at), in nanoseconds; [`FOREVER`] is never.
    #[inline]
    pub(crate) fn expires(self) -> u64 {
        if self.rpc_timeout == FOREVER {
            return FOREVER;
        }
        let below = if self.whole_milliseconds { self.rpc_timeout % 1_000_000 } else { 0 };
        after(self.start, self.rpc_timeout - below)
    }

    /// Returns whether it may continue until that moment, in nanoseconds, so that the moment is what ends it.
    pub(crate) fn lasts_until(self, limit: u64) -> bool {
        limit != FOREVER && after(self.start, self.rpc_timeout) >= limit
    }

    /// The attempt, sent again.
    pub(crate) fn resent(self) -> Self {
        let transparent_retries = self.transparent_retries.saturating_add(1);
        Self { kind: AttemptKind::Resend, transparent_retries, ..self }
    }

    /// The attempt, with all of its RPC timeout from now on, as far as the operation has that time.
    pub(crate) fn renewed(self, now: u64, limit: u64) -> Self {
        if self.rpc_timeout == FOREVER {
            return self;
        }
        let so_far = now.saturating_sub(self.start);
        let left = limit.saturating_sub(self.start);
        Self { rpc_timeout: after(so_far, self.rpc_timeout).min(left), ..self }
    }

    /// The attempt, whose time begins only then: its request could not be sent before. It has no more time than `limit` leaves.
    #[doc(hidden)]
    #[must_use]
    pub fn postponed(self, start: Duration, limit: Option<Duration>) -> Self {
        let start = limited(start);
        let left = remaining(nanos_or_forever(limit), start);
        Self { start, rpc_timeout: self.rpc_timeout.min(left), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: u64, whole_milliseconds: bool) -> StartedAttempt {
        StartedAttempt::first(nanos, whole_milliseconds)
    }

    #[test]
    fn an_attempt_has_time_from_the_least_that_its_rules_know() {
        let found = [0, 1, 999_999, 1_000_000].map(|nanos| {
            let (fine, whole) = (of(nanos, false), of(nanos, true));
            (fine.has_no_time(), whole.has_no_time(), whole.deadline().unwrap().as_nanos())
        });
        assert_eq!(found, [(true, true, 0), (false, true, 0), (false, true, 0), (false, false, 1_000_000)]);
        assert!(!StartedAttempt::first(FOREVER, true).has_no_time());
    }

    #[test]
    fn what_is_sent_once_more_keeps_all_but_its_kind_and_counts_how_often() {
        let first = of(7, false);
        let [once, twice] = [first.resent(), first.resent().resent()];
        let counts = [first, once, twice].map(StartedAttempt::transparent_retries);
        assert_eq!(counts, [0, 1, 2]);
        assert_eq!([first, twice].map(StartedAttempt::kind), [AttemptKind::Original, AttemptKind::Resend]);
        assert_eq!(
            (twice.number(), twice.start(), twice.rpc_timeout()),
            (1, Duration::ZERO, Some(Duration::from_nanos(7)))
        );
    }
}
