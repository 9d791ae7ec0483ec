//! What is known of an operation on its way, whoever drives it: the pure operation, its clock and its report.

use super::clock::Clock;
use super::jitter::Jitter;
use super::protocol::{Current, Unsendable};
use super::report::{Ledger, Name, Note, OperationReport};
use gax_retry::{
    Action, Attempt, AttemptKind, AttemptResult, Code, CommitPoint, JitterSource, Operation, Outcome, Policy,
    StartedAttempt, Stop, World,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// After how many attempts without a wait other tasks get their turn.
const YIELD_EVERY: u8 = 16;

/// An operation on its way.
pub(crate) struct InProgress {
    operation: Operation,
    clock: Option<Clock>,
    /// The number of the attempt in flight.
    number: u32,
    /// Attempts without a wait since other tasks last had their turn.
    unbroken: u8,
    jitter: Jitter,
    ledger: Option<Arc<Ledger>>,
}

/// The operation's surroundings.
struct Surroundings<'a> {
    clock: Clock,
    jitter: &'a mut Jitter,
}

impl World for Surroundings<'_> {
    fn now(&mut self) -> Duration {
        self.clock.elapsed()
    }

    fn uptime(&mut self) -> Duration {
        self.clock.uptime()
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        self.jitter
    }
}

impl InProgress {
    #[inline]
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            operation: Operation::begin(policy, None),
            clock: None,
            number: 0,
            unbroken: 0,
            jitter: Jitter::default(),
            ledger: None,
        }
    }

    /// The operation's clock starts. `bound` is the time that its caller gives it.
    #[inline]
    pub(crate) fn begin(&mut self, policy: &Policy, bound: Option<Duration>, jitter: Jitter) {
        self.clock = Some(Clock::start());
        self.jitter = jitter;
        if bound.is_some() {
            self.operation = Operation::begin(policy, bound);
        }
    }

    /// What the first attempt needs is there, or never will be.
    pub(super) fn prepared(&mut self, policy: &Policy, ready: Result<(), Unsendable>, now: Duration) {
        match ready {
            Err(Unsendable) => self.operation.unsendable(policy),
            Ok(()) if !now.is_zero() => self.operation.late(policy, now),
            Ok(()) => {}
        }
    }

    #[inline]
    fn clock(&mut self) -> Clock {
        *self.clock.get_or_insert_with(Clock::start)
    }

    pub(crate) fn elapsed(&mut self) -> Duration {
        self.clock().elapsed()
    }

    #[inline]
    pub(crate) fn next(&mut self, policy: &Policy) -> Action {
        let mut world = Surroundings { clock: self.clock(), jitter: &mut self.jitter };
        self.operation.next(policy, &mut world)
    }

    /// The attempt in flight; of several, the one that was sent last.
    #[inline]
    pub(super) fn current<'a>(&'a mut self, policy: &'a Policy) -> Current<'a> {
        let number = self.number;
        self.current_of(policy, number)
    }

    #[inline]
    pub(super) fn current_of<'a>(&'a mut self, policy: &'a Policy, number: u32) -> Current<'a> {
        let clock = self.clock();
        Current { operation: &self.operation, policy, clock, number, ledger: &mut self.ledger }
    }

    /// The first attempt, where nothing stands in its way.
    #[inline]
    pub(super) fn send_first(&mut self, policy: &Policy) -> Option<StartedAttempt> {
        let first = self.operation.send_first(policy)?;
        self.number = first.number();
        Some(first)
    }

    #[inline]
    pub(crate) fn send<A>(
        &mut self,
        attempt: StartedAttempt,
        policy: &Policy,
        begin: impl FnOnce(&mut Current<'_>) -> A,
    ) -> A {
        self.number = attempt.number();
        begin(&mut self.current(policy))
    }

    /// The attempt in flight has ended. It gets its row, unless it is made once more as if it had never been.
    #[inline]
    pub(crate) fn ended(&mut self, policy: &Policy, result: AttemptResult) {
        self.ended_of(policy, self.number, result);
    }

    #[inline]
    pub(super) fn ended_of(&mut self, policy: &Policy, number: u32, result: AttemptResult) {
        let is_plain = self.ledger.is_none() && result.outcome() == Outcome::Done && self.number == 1;
        let row = if is_plain { None } else { self.row(policy, number, result) };
        let mut world = Surroundings { clock: self.clock(), jitter: &mut self.jitter };
        self.operation.ended(policy, number, result, &mut world);
        if let Some(row) = row {
            let ledger = Ledger::of(&mut self.ledger);
            if self.operation.is_resending() {
                ledger.transparent_retries += 1;
            } else {
                ledger.push(row);
            }
        }
    }

    /// Another attempt has won, or the operation has ended: that one was dropped.
    #[cold]
    pub(super) fn cancelled(&mut self, policy: &Policy, number: u32) {
        if let Some(row) = self.row(policy, number, AttemptResult::failed(Code::Cancelled)) {
            Ledger::of(&mut self.ledger).push(row);
        }
    }

    /// So much of a response has come in. Whether that makes it the operation's, as it was not before.
    pub(super) fn committed(&mut self, policy: &Policy, number: u32, point: CommitPoint) -> bool {
        self.operation.committed(policy, number, point)
    }

    /// The request can't be sent while an attempt is in flight.
    #[cold]
    pub(super) fn close_hedges(&mut self) {
        self.operation.close_hedges();
    }

    fn row(&mut self, policy: &Policy, number: u32, result: AttemptResult) -> Option<Attempt> {
        let started = self.operation.attempt(policy, number)?;
        let end = result.ended_at().unwrap_or_else(|| self.elapsed());
        Some(Attempt::new(started, started.delay(), started.start(), end, result.code()))
    }

    /// The attempt in flight had to wait, so that other tasks had their turn.
    #[inline]
    pub(super) fn pended(&mut self) {
        self.unbroken = 0;
    }

    /// Whether other tasks get their turn before that attempt: before each that is made once more in silence,
    /// and now and then where attempts follow each other without a wait.
    pub(super) fn yields_before(&mut self, attempt: StartedAttempt) -> bool {
        match attempt.kind() {
            AttemptKind::Resend => true,
            AttemptKind::Original => false,
            _ if !attempt.delay().is_zero() => false,
            _ => {
                self.unbroken += 1;
                if self.unbroken == YIELD_EVERY {
                    self.unbroken = 0;
                }
                self.unbroken == 0
            }
        }
    }

    /// The moment to wait for.
    pub(super) fn wake_at(&mut self, policy: &Policy, due: Option<Instant>) -> Option<Instant> {
        let clock = self.clock();
        let wake = self.operation.wake_at(policy).and_then(|moment| clock.at(moment));
        match (wake, due) {
            (Some(wake), Some(due)) => Some(wake.min(due)),
            (wake, due) => wake.or(due),
        }
    }

    /// The moment at which the whole operation is over.
    pub(super) fn time_limit(&mut self, policy: &Policy) -> Option<Instant> {
        let clock = self.clock();
        self.operation.time_limit(policy).and_then(|limit| clock.at(limit))
    }

    /// Whether the report of a success tells more than that the first attempt succeeded.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        self.ledger.is_some()
    }

    /// The report of an operation that has ended; `stop` says why it failed.
    pub(crate) fn report(&mut self, policy: &Policy, stop: Option<Stop>, name: Name) -> OperationReport {
        let only = match (&self.ledger, stop) {
            (None, None) => self.row(policy, self.number, AttemptResult::done()),
            _ => None,
        };
        let cap = policy.attempts_cap().map(|_| Note::AttemptsCapped);
        let only = match (only, cap) {
            (Some(only), None) => return OperationReport::plain(name, only),
            (only, _) => only,
        };
        let mut shared = self.ledger.take().unwrap_or_default();
        let ledger = Arc::make_mut(&mut shared);
        ledger.method = name;
        if let Some(only) = only {
            ledger.push(only);
        }
        if let Some(cap) = cap {
            ledger.note(cap);
        }
        if policy.hedging().is_some() {
            ledger.sort();
            if self.operation.has_withheld_hedges() {
                ledger.note(Note::HedgeWithheld);
            }
        }
        if let Some(stop) = stop {
            ledger.stop_reason = Some(stop.reason());
            ledger.not_attempted = stop.not_attempted();
        }
        OperationReport::new(shared)
    }
}
