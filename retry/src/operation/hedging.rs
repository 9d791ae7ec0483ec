//! Attempts that are sent before the ones in flight have got their replies (gRFC A6, hedging).

use crate::CodeSet;
use crate::nanos::nanos;
use crate::rules::Refusal;
use std::time::Duration;

/// How an operation is hedged, in place of being retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hedging {
    pub(super) max_attempts: u32,
    pub(super) delay: Duration,
    pub(super) non_fatal_codes: CodeSet,
}

impl Hedging {
    /// Up to so many attempts in all, all of them at once; every error ends the operation.
    #[must_use]
    pub fn new(max_attempts: u32) -> Self {
        Self { max_attempts, delay: Duration::ZERO, non_fatal_codes: CodeSet::EMPTY }
    }

    /// The time between two attempts while none has got a reply.
    #[must_use]
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The codes that don't end the operation: after one of them the next attempt is sent at once.
    #[must_use]
    pub fn with_non_fatal_codes(self, codes: impl Into<CodeSet>) -> Self {
        Self { non_fatal_codes: codes.into(), ..self }
    }
}

/// What becomes of the hedges of one operation. Times are nanoseconds from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hedges {
    /// When the next one is due; `None`: there is none, as far as is known now.
    pub(super) due: Option<u64>,
    /// The wait that it follows, for the report.
    pub(super) delay: Duration,
    /// No server wants another attempt before that.
    held_until: u64,
    /// Why there are no more of them.
    pub(super) closed: Option<Refusal>,
    /// The budget did not allow one when it was due.
    pub(super) is_withheld: bool,
}

impl Hedges {
    pub(super) const NONE: Self =
        Self { due: None, delay: Duration::ZERO, held_until: 0, closed: None, is_withheld: false };

    /// The next one comes so long after `now`, and not before a server allows it.
    pub(super) fn schedule(&mut self, now: u64, delay: Duration) {
        let due = now.checked_add(nanos(delay)).map(|due| due.max(self.held_until));
        self.due = due.filter(|_| self.closed.is_none());
        self.delay = Duration::from_nanos(due.unwrap_or(now).saturating_sub(now));
    }

    /// A server asks for so long a wait.
    pub(super) fn hold(&mut self, now: u64, delay: Duration) {
        self.held_until = self.held_until.max(now.saturating_add(nanos(delay)));
    }

    /// There are no more of them; the first reason counts.
    pub(super) fn close(&mut self, refusal: Refusal) {
        self.closed.get_or_insert(refusal);
        self.due = None;
    }
}
