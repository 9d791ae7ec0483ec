//! What is known of an operation on its way, whoever drives it: the pure operation, its clock and its report.

use super::clock::{Clock, earlier};
use super::inbound::Inbound;
use super::jitter::Jitter;
use super::observe::{Observed, Observers, Outgoing, Rare, Transport};
use super::report::{Ledger, Name, Note, OperationReport};
use gax_retry::jitter::JitterSource;
use gax_retry::operation::{Action, AttemptResult, CommitPoint, End, Operation, Outcome, Stop, World};
use gax_retry::{Attempt, AttemptKind, Code, Delivery, Policy, StartedAttempt, ThreadJitter};
use std::num::NonZeroU64;
use std::task::Context;
use std::time::Duration;
use tokio::time::Instant;

/// After how many attempts without a wait other tasks get their turn.
const YIELD_EVERY: u8 = 16;

/// An operation on its way.
pub(crate) struct InProgress {
    /// With what is written down of it, for its report.
    operation: Operation<Ledger>,
    clock: Option<Clock>,
    /// The number of the attempt in flight.
    pub(super) number: u32,
    /// Attempts without a wait since other tasks last had their turn.
    unbroken: u8,
    rare: Option<Box<Rare>>,
}

/// The request can't be made: there is no attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsendable;

/// The operation's surroundings.
struct Surroundings<'a> {
    clock: Clock,
    /// The one moment at which all of this happens; `None`: the clock is read whenever that is asked.
    now: Option<Duration>,
    rare: &'a mut Option<Box<Rare>>,
    thread: ThreadJitter,
}

impl<'a> Surroundings<'a> {
    #[inline]
    fn new(clock: Clock, rare: &'a mut Option<Box<Rare>>) -> Self {
        Self { clock, now: None, rare, thread: ThreadJitter }
    }
}

impl World for Surroundings<'_> {
    fn now(&mut self) -> Duration {
        self.now.unwrap_or_else(|| self.clock.elapsed())
    }

    fn uptime(&mut self) -> Duration {
        self.clock.uptime()
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        match self.rare {
            Some(rare) => &mut rare.jitter,
            None => &mut self.thread,
        }
    }
}

impl InProgress {
    #[inline]
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            operation: Operation::with_notes(policy, None),
            clock: None,
            number: 0,
            unbroken: 0,
            rare: None,
        }
    }

    /// The operation's clock starts. `bound` is the time that its caller gives it.
    #[expect(
        clippy::inline_always,
        reason = "where the jitter is from is known there (bench `speed`, instructions)"
    )]
    #[inline(always)]
    pub(crate) fn begin(&mut self, policy: &Policy, bound: Option<Duration>, jitter: Jitter) {
        self.clock = Some(Clock::start());
        if !matches!(jitter, Jitter::Thread) {
            self.rare.get_or_insert_default().jitter = jitter;
        }
        if bound.is_some() {
            self.operation = Operation::with_notes(policy, bound);
        }
    }

    /// The operation's thread works for that request, and nobody drops the operation as it ends.
    #[cold]
    pub(super) fn work_for(&mut self, policy: &Policy, inbound: &Inbound) {
        if inbound.is_ended() {
            self.cancel(policy);
        }
        self.rare.get_or_insert_default().request_end = inbound.end().map(Box::pin);
    }

    /// Whether that request has ended. It is said once.
    #[inline]
    pub(super) fn request_has_ended(&mut self, cx: &mut Context<'_>) -> bool {
        self.rare.as_mut().is_some_and(|rare| rare.request_has_ended(cx))
    }

    /// Somebody is told of the operation, which begins now.
    #[cold]
    pub(crate) fn observe(
        &mut self,
        policy: &Policy,
        observers: &Observers,
        name: Name,
        transport: Transport,
    ) {
        let clock = self.clock();
        let observed = Observed::begin(observers, name, transport, policy, clock);
        self.rare.get_or_insert_default().observed = Some(Box::new(observed));
    }

    /// The operation as its observers know it, from now on in other hands: whoever takes it closes it.
    #[inline]
    pub(crate) fn take_observed(&mut self) -> Option<Box<Observed>> {
        self.rare.as_mut()?.observed.take()
    }

    /// Nobody waits for the operation any more: it ends, unless it has already.
    pub(super) fn cancel(&mut self, policy: &Policy) {
        self.operation.cancelled(policy);
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
    pub(super) fn clock(&self) -> Clock {
        self.clock.unwrap_or_else(Clock::start)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock().elapsed()
    }

    #[inline]
    pub(crate) fn next(&mut self, policy: &Policy) -> Action {
        let mut world = Surroundings::new(self.clock(), &mut self.rare);
        let action = self.operation.next(policy, &mut world);
        if let Some(rare) = &mut self.rare
            && let Action::Finish(End::Failure(stop)) = action
        {
            rare.failed(stop);
        }
        action
    }

    /// The first attempt, where nothing stands in its way.
    #[inline]
    pub(super) fn send_first(&mut self, policy: &Policy) -> Option<StartedAttempt> {
        let first = self.operation.send_first(policy)?;
        self.sends(first);
        Some(first)
    }

    /// That attempt goes out.
    #[inline]
    pub(super) fn sends(&mut self, attempt: StartedAttempt) {
        self.number = attempt.number();
        if let Some(rare) = &mut self.rare {
            rare.started(attempt);
        }
    }

    /// The attempt in flight has ended. It gets its row, unless it is made once more as if it had never been.
    pub(crate) fn ended(&mut self, policy: &Policy, result: AttemptResult) {
        self.ended_of(policy, self.number, result);
    }

    /// The only attempt in flight has the reply. In most cases it is the first, and nobody is told of it: that is done
    /// without a detour (bench `speed`, instructions).
    #[expect(clippy::inline_always, reason = "the result is large to pass on, and nobody looks at it")]
    #[inline(always)]
    pub(super) fn replied(&mut self, policy: &Policy, result: AttemptResult) {
        if self.number == 1 && !self.has_news() && self.rare.is_none() {
            let mut world = Surroundings::new(self.clock(), &mut self.rare);
            return self.operation.ended(policy, 1, result, &mut world);
        }
        self.ended(policy, result);
    }

    pub(super) fn ended_of(&mut self, policy: &Policy, number: u32, result: AttemptResult) {
        // Of an operation whose first attempt succeeds nothing is written down.
        let is_plain = !self.has_news() && result.outcome() == Outcome::Done && self.number == 1;
        // An attempt's end is one moment, and to read the clock takes longer than most of what follows from it.
        let now = self.elapsed();
        let row = self.row(policy, number, result, now);
        let mut world = Surroundings { now: Some(now), ..Surroundings::new(self.clock(), &mut self.rare) };
        self.operation.ended(policy, number, result, &mut world);
        let Some(row) = row else { return };
        if let Some(rare) = &mut self.rare {
            rare.ended(policy, &self.operation, &row, result);
        }
        if is_plain {
            return;
        }
        let is_resending = self.operation.is_resending();
        let ledger = self.operation.notes_mut(policy);
        if is_resending {
            ledger.transparent_retries += 1;
        } else {
            ledger.push(row, result.delivery());
        }
    }

    /// Another attempt has won, or the operation has ended: that one was dropped.
    #[cold]
    pub(super) fn cancelled(&mut self, policy: &Policy, number: u32) {
        // Reports and observers tell the same time.
        let now = self.elapsed();
        if let Some(row) = self.row(policy, number, AttemptResult::failed(Code::Cancelled), now) {
            self.operation.notes_mut(policy).push(row, Delivery::Unknown);
        }
        if let Some(rare) = &mut self.rare {
            rare.cancelled(number, now);
        }
    }

    /// So much of a response has come in. Whether that makes it the operation's, as it was not before.
    pub(super) fn committed(&mut self, policy: &Policy, number: u32, point: CommitPoint) -> bool {
        let is_committed = self.operation.committed(policy, number, point);
        if is_committed {
            self.tell_commit(number);
        }
        is_committed
    }

    /// More of the request was sent with that attempt than is buffered. Whether that makes it the operation's, as it was
    /// not before.
    #[cold]
    pub(super) fn over_limit(&mut self, number: u32) -> bool {
        let is_committed = self.operation.over_limit(number);
        if is_committed {
            self.tell_commit(number);
        }
        is_committed
    }

    /// Observers are told that the operation is that attempt's.
    #[inline]
    pub(super) fn tell_commit(&mut self, number: u32) {
        if let Some(rare) = &mut self.rare {
            rare.committed(number);
        }
    }

    /// An attempt that is in flight, or was until just now.
    #[inline]
    pub(super) fn started(&self, policy: &Policy, number: u32) -> Option<StartedAttempt> {
        self.operation.attempt(policy, number)
    }

    /// What observers want of the request of that attempt, which is about to go out.
    #[inline]
    pub(super) fn sending(&mut self, number: u32) -> Option<Box<Outgoing>> {
        self.rare.as_mut()?.sending(number)
    }

    /// These bytes of that attempt's response have come in.
    #[inline]
    pub(super) fn received(&mut self, number: u32, data: &[u8]) {
        if let Some(rare) = &mut self.rare {
            rare.received(number, data);
        }
    }

    /// Writes down what the attempts alone don't tell.
    #[cold]
    pub(super) fn note(&mut self, policy: &Policy, note: Note) {
        self.operation.notes_mut(policy).note(note);
    }

    /// A hedge that was due and did not go out is worth telling, even if the first attempt succeeds.
    pub(super) fn note_withheld_hedges(&mut self, policy: &Policy) {
        if self.operation.has_withheld_hedges() {
            self.note(policy, Note::HedgeWithheld);
        }
    }

    /// Whether the operation ends with the failure of that attempt, unless one in flight has a reply.
    pub(super) fn is_held(&self, number: u32) -> bool {
        self.operation.held() == Some(number)
    }

    /// The request can't be sent while an attempt is in flight.
    #[cold]
    pub(super) fn close_hedges(&mut self) {
        self.operation.close_hedges();
    }

    /// The row of an attempt that has ended, now unless its protocol says when.
    fn row(&self, policy: &Policy, number: u32, result: AttemptResult, now: Duration) -> Option<Attempt> {
        let started = self.operation.attempt(policy, number)?;
        let end = result.ended_at().unwrap_or(now);
        Some(Attempt::new(started, end, result.code()))
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
        earlier(wake, due)
    }

    /// The moment at which the whole operation is over.
    pub(super) fn time_limit(&mut self, policy: &Policy) -> Option<Instant> {
        let clock = self.clock();
        self.operation.time_limit(policy).and_then(|limit| clock.at(limit))
    }

    /// Whether the attempt that was sent last may take all the time that the operation has.
    pub(super) fn has_all_the_time(&self, policy: &Policy) -> bool {
        self.operation.has_all_the_time(policy, self.number)
    }

    /// Whether the report of a success tells more than that the first attempt succeeded.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        self.operation.notes().is_some()
    }

    /// The report of an operation that has ended; `stop` says why it failed.
    pub(crate) fn report(&mut self, policy: &Policy, stop: Option<Stop>, name: Name) -> OperationReport {
        let only = match stop {
            None if !self.has_news() => self.row(policy, self.number, AttemptResult::done(), self.elapsed()),
            _ => None,
        };
        let mut report = OperationReport::new(name, self.operation.take_notes().unwrap_or_default());
        let ledger = report.ledger_mut();
        ledger.settings_version = policy.version().and_then(NonZeroU64::new);
        if let Some(only) = only {
            ledger.push(only, Delivery::Unknown);
        }
        if policy.attempts_cap().is_some() {
            ledger.note(Note::AttemptsCapped);
        }
        if policy.hedging().is_some() {
            ledger.sort();
        }
        if let Some(stop) = stop {
            ledger.stop_reason = Some(stop.reason());
            ledger.not_attempted = stop.not_attempted();
            if stop.may_be_repetition() {
                ledger.note(Note::EarlierAttemptMayHaveSucceeded);
            }
        }
        report
    }
}
