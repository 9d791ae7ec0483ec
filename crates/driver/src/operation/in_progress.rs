//! An operation in progress, independent of its driver: the pure operation, its clock, its observers and its report.

use super::clock::{Clock, earlier};
use super::connection_link::{ConnectionLink, LinkTerms, RetryContext};
use super::inbound::Inbound;
use super::jitter::Jitter;
use super::observe::{self, Entered, Observed, Observers, Outgoing, Transport};
use super::report::{Ledger, Name, Note, OperationReport};
use gax_retry::jitter::JitterSource;
use gax_retry::operation::{
    Action, AttemptResult, CommitPoint, End, Event, Operation, Outcome, Ready, Resend, Stop, World,
};
use gax_retry::{Attempt, AttemptKind, Code, Delivery, Policy, StartedAttempt, StopReason, ThreadJitter};
use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::WaitForCancellationFutureOwned;

/// After how many attempts without a wait other tasks get their turn.
const YIELD_EVERY: u8 = 16;

/// An operation on its way.
pub(crate) struct InProgress {
    /// With the ledger that its report is made of; `None`: it has not begun.
    operation: Option<Operation<Ledger>>,
    clock: Option<Clock>,
    /// The number of the attempt that was sent last.
    pub(super) number: u32,
    /// Attempts without a wait since other tasks last had their turn.
    unbroken: u8,
    /// `true` if the report of a success is wanted even if one attempt was enough.
    pub(super) reports: bool,
    /// The links of attempts in flight to their connections.
    links: Option<ConnectionLink>,
    extras: Option<Box<Extras>>,
}

/// Everything that few operations have, behind one pointer, which is all that the others pay for it.
#[derive(Default)]
struct Extras {
    /// A sequence that a seed repeats.
    jitter: Jitter,
    /// The operation as its observers know it, until it is closed.
    observed: Option<Box<Observed>>,
    /// Resolves when the request has ended that the operation's thread works for.
    request_end: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

/// The operation's time and randomness.
struct DriverWorld<'a> {
    clock: Clock,
    /// The one moment at which all of this happens; `None`: the clock is read whenever that is asked.
    now: Option<Duration>,
    extras: &'a mut Option<Box<Extras>>,
    thread: ThreadJitter,
}

impl<'a> DriverWorld<'a> {
    #[inline]
    fn new(clock: Clock, extras: &'a mut Option<Box<Extras>>) -> Self {
        Self { clock, now: None, extras, thread: ThreadJitter }
    }
}

impl World for DriverWorld<'_> {
    fn now(&mut self) -> Duration {
        self.now.unwrap_or_else(|| self.clock.elapsed())
    }

    fn uptime(&mut self) -> Duration {
        self.clock.uptime()
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        match self.extras {
            Some(extras) => &mut extras.jitter,
            None => &mut self.thread,
        }
    }
}

/// The operation, which has begun; one that has not is over.
#[inline]
fn begun<'a>(operation: &'a mut Option<Operation<Ledger>>, policy: &Policy) -> &'a mut Operation<Ledger> {
    operation
        .get_or_insert_with(|| Operation::with_notes(policy, None, Ready::Never(StopReason::Cancelled)).0)
}

impl InProgress {
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            operation: None,
            clock: None,
            number: 0,
            unbroken: 0,
            reports: false,
            links: None,
            extras: None,
        }
    }

    /// The operation's clock starts.
    #[inline]
    pub(crate) fn begin(&mut self, jitter: Jitter) {
        self.clock = Some(Clock::start());
        if !matches!(jitter, Jitter::Thread) {
            self.extras.get_or_insert_default().jitter = jitter;
        }
    }

    /// The operation begins, now that it is known whether there is a request: its first action. `bound` is the time that its
    /// caller gives it.
    #[inline]
    pub(super) fn start(&mut self, policy: &Policy, bound: Option<Duration>, ready: Ready) -> Action {
        let (operation, action) = Operation::with_notes(policy, bound, ready);
        self.operation = Some(operation);
        if self.extras.is_some() {
            self.notify_end(action);
        }
        action
    }

    /// The operation's thread works for that request, and the operation isn't dropped when the request ends. Returns whether
    /// it has ended already.
    #[cold]
    pub(super) fn work_for(&mut self, inbound: &Inbound) -> bool {
        self.extras.get_or_insert_default().request_end = inbound.end().map(Box::pin);
        inbound.is_ended()
    }

    /// Returns whether that request has ended. It is said once.
    #[inline]
    pub(super) fn request_has_ended(&mut self, cx: &mut Context<'_>) -> bool {
        self.extras.as_mut().is_some_and(|extras| {
            extras.request_end.take_if(|end| end.as_mut().poll(cx).is_ready()).is_some()
        })
    }

    /// The operation, which begins now, has observers.
    #[cold]
    pub(crate) fn observe(
        &mut self,
        policy: &Policy,
        observers: &Observers,
        name: Name,
        is_described: bool,
        transport: &'static Transport,
    ) {
        let clock = self.clock();
        let observed = Observed::begin(observers, name, is_described, transport, policy, clock);
        self.extras.get_or_insert_default().observed = Some(Box::new(observed));
    }

    /// The operation as its observers know it, if it has any.
    #[inline]
    fn observed(&mut self) -> Option<&mut Observed> {
        self.extras.as_mut()?.observed.as_deref_mut()
    }

    /// The thread works on that attempt until the result is dropped; `None`: no caller wants to know.
    #[inline]
    pub(super) fn enter(&mut self, number: u32) -> Option<Entered> {
        self.observed()?.enter(number)
    }

    /// The operation as its observers see it, handed over: the new owner closes it.
    #[inline]
    pub(crate) fn take_observed(&mut self) -> Option<Box<Observed>> {
        self.extras.as_mut()?.observed.take()
    }

    #[cold]
    fn notify_end(&mut self, action: Action) {
        if let Action::Finish(End::Failure(stop)) = action
            && let Some(observed) = self.take_observed()
        {
            observed.failed(stop);
        }
    }

    /// No caller waits for the operation any longer: it ends, unless it has already.
    pub(super) fn cancel(&mut self, policy: &Policy) {
        begun(&mut self.operation, policy).cancelled(policy);
    }

    gax_text::getters! { self:
        #[inline]
        pub(super) clock: Clock = self.clock.unwrap_or_else(Clock::start);

        pub(crate) elapsed: Duration = self.clock().elapsed();

        /// The facts that were written down.
        pub(super) notes: &[Note] = self.operation.as_ref().and_then(Operation::notes).map_or(&[], |ledger| &ledger.notes);
    }

    #[inline]
    pub(crate) fn next(&mut self, policy: &Policy) -> Action {
        let mut world = DriverWorld::new(self.clock(), &mut self.extras);
        let action = begun(&mut self.operation, policy).next(policy, &mut world);
        if self.extras.is_some() {
            self.notify_end(action);
        }
        action
    }

    /// That attempt is sent.
    #[inline]
    pub(super) fn sends(&mut self, attempt: StartedAttempt) {
        self.number = attempt.number();
        if let Some(observed) = self.observed() {
            observed.notify(Event::started(attempt));
        }
    }

    /// Returns whether nothing of such an end has to be written down: it is the good one of an operation's only attempt.
    #[inline]
    fn is_plain(&self, result: AttemptResult) -> bool {
        self.number == 1 && result.outcome() == Outcome::Done && !self.has_news()
    }

    /// Returns whether it has no observers, and no report needs the endpoint of its attempt.
    #[inline]
    fn is_silent(&self) -> bool {
        self.extras.is_none() && (self.links.is_none() || !self.reports)
    }

    /// An attempt has ended. It gets its row, unless it is made again as if it had never been. Returns whether the
    /// operation has ended with its reply.
    #[inline]
    pub(crate) fn ended(&mut self, policy: &Policy, number: u32, result: AttemptResult) -> bool {
        // In most cases that is all (bench `speed`, instructions).
        if self.is_plain(result) && self.is_silent() {
            let mut world = DriverWorld::new(self.clock(), &mut self.extras);
            return begun(&mut self.operation, policy).ended(policy, number, result, &mut world);
        }
        self.ended_with_row(policy, number, result)
    }

    #[inline(never)]
    fn ended_with_row(&mut self, policy: &Policy, number: u32, result: AttemptResult) -> bool {
        self.unlink(policy, number, result.outcome() != Outcome::Done);
        let is_plain = self.is_plain(result);
        if result.is_committed() {
            self.notify_commit(number);
        }
        // An attempt's end is one moment, and to read the clock takes longer than most of what follows from it.
        let now = self.elapsed();
        let row = self.row(policy, number, result, now);
        let mut world = DriverWorld { now: Some(now), ..DriverWorld::new(self.clock(), &mut self.extras) };
        let operation = begun(&mut self.operation, policy);
        let is_over = operation.ended(policy, number, result, &mut world);
        let Some(row) = row else { return is_over };
        if let Some(observed) = self.extras.as_mut().and_then(|extras| extras.observed.as_mut()) {
            Event::ended(policy, operation, &row, result, &mut |event| observed.notify(event));
            if operation.held() == Some(number) {
                observed.held(row.code());
            }
        }
        if is_plain {
            return is_over;
        }
        let is_resending = operation.is_resending();
        let ledger = operation.notes_mut(policy);
        if is_resending {
            ledger.transparent_retries += 1;
            if result.resend() == Resend::Renewed {
                // Unlike others, a server has it.
                ledger.reached(result.delivery());
            }
        } else {
            ledger.push(row, result.delivery());
        }
        is_over
    }

    /// Another attempt has won, or the operation has ended: that one was dropped.
    #[cold]
    pub(super) fn cancelled(&mut self, policy: &Policy, number: u32) {
        self.unlink(policy, number, false);
        // Reports and observers see the same time.
        let now = self.elapsed();
        if let Some(row) = self.row(policy, number, AttemptResult::failed(Code::Cancelled), now) {
            begun(&mut self.operation, policy).notes_mut(policy).push(row, Delivery::Unknown);
        }
        if let Some(observed) = self.observed() {
            observed.attempt_cancelled(number, now);
        }
    }

    /// An attempt in flight has come to that point, which may make the operation its own.
    pub(super) fn committed(&mut self, policy: &Policy, number: u32, point: CommitPoint) {
        self.record_peer(policy, number, false);
        if begun(&mut self.operation, policy).committed(policy, number, point) {
            self.notify_commit(number);
        }
    }

    /// An attempt in flight has delivered a message. Returns whether that makes the operation its own.
    #[inline]
    pub(super) fn progressed(&mut self, policy: &Policy, number: u32) -> bool {
        if self.links.is_some() {
            self.record_peer(policy, number, false);
        }
        let is_committed = begun(&mut self.operation, policy).progressed(policy, number);
        if is_committed {
            self.notify_commit(number);
        }
        if let Some(observed) = self.observed() {
            observed.delivered(number);
        }
        is_committed
    }

    /// The operation is that attempt's.
    #[inline]
    fn notify_commit(&mut self, number: u32) {
        if let Some(observed) = self.observed() {
            observed.committed(number);
        }
    }

    /// An attempt that is in flight, or was until just now.
    #[inline]
    pub(super) fn started(&self, policy: &Policy, number: u32) -> Option<StartedAttempt> {
        let operation = self.operation.as_ref()?;
        let started = operation.attempt(policy, number)?;
        match self.begins(number).filter(|start| *start > started.start()) {
            Some(start) => Some(started.postponed(start, operation.limit(policy))),
            None => Some(started),
        }
    }

    /// The wishes of observers for the request of that attempt, which is about to be sent.
    #[inline]
    pub(super) fn sending(&mut self, number: u32) -> Option<Box<Outgoing>> {
        self.observed()?.sending(number)
    }

    /// These bytes of that attempt's response have arrived.
    #[inline]
    pub(super) fn received(&mut self, number: u32, data: &[u8]) {
        if let Some(observed) = self.observed() {
            observed.received(number, data);
        }
    }

    /// Something has happened to that attempt.
    pub(super) fn event(&mut self, number: u32, event: &dyn observe::Event) {
        if let Some(observed) = self.observed() {
            observed.event(number, event);
        }
    }

    /// Returns whether observers want to know what arrives.
    pub(super) fn watches_transfers(&mut self) -> bool {
        self.observed().is_some_and(|observed| observed.watches_transfers())
    }

    /// Writes down a fact that the attempts alone don't show. Returns whether it is new.
    #[cold]
    pub(super) fn note(&mut self, policy: &Policy, note: Note) -> bool {
        begun(&mut self.operation, policy).notes_mut(policy).note(note)
    }

    /// So many attempts of operations inside the attempts of this one were retries.
    #[cold]
    pub(super) fn retried_inside(&mut self, policy: &Policy, retries: u32) {
        begun(&mut self.operation, policy).notes_mut(policy).retried_inside(retries);
    }

    /// An attempt has ended that delivered so many messages of a stream.
    #[cold]
    pub(super) fn ended_after(&mut self, policy: &Policy, number: u32, messages: u64) {
        begun(&mut self.operation, policy).notes_mut(policy).delivered(number, messages);
    }

    /// A hedge that was due and was not sent is worth a note, even if the first attempt succeeds.
    pub(super) fn note_withheld_hedges(&mut self, policy: &Policy) {
        if self.operation.as_ref().is_some_and(Operation::has_withheld_hedges) {
            self.note(policy, Note::HEDGE_WITHHELD);
        }
    }

    /// Returns whether the operation ends with the failure of that attempt, unless one in flight has a reply.
    pub(super) fn is_held(&self, number: u32) -> bool {
        self.operation.as_ref().and_then(Operation::held) == Some(number)
    }

    /// Returns whether no other call shared the connection of that attempt.
    pub(super) fn is_alone(&self, number: u32) -> bool {
        self.links.as_ref().and_then(|link| link.find(number)).is_some_and(|link| link.is_alone())
    }

    /// The request can't be sent while an attempt is in flight.
    #[cold]
    pub(super) fn close_hedges(&mut self) {
        if let Some(operation) = &mut self.operation {
            operation.close_hedges();
        }
    }

    /// The row of an attempt that has ended, now unless its protocol says when.
    fn row(&self, policy: &Policy, number: u32, result: AttemptResult, now: Duration) -> Option<Attempt> {
        let started = self.started(policy, number)?;
        let end = result.ended_at().unwrap_or(now);
        Some(Attempt::new(started, end, result.code()))
    }

    /// The attempt in flight had to wait, so that other tasks had their turn.
    #[inline]
    pub(super) fn pended(&mut self) {
        self.unbroken = 0;
    }

    /// Returns whether other tasks get their turn before that attempt: before each that is made again silently, and now and
    /// then where attempts follow each other without a wait.
    pub(super) fn yields_before(&mut self, attempt: StartedAttempt) -> bool {
        if attempt.kind() == AttemptKind::Resend {
            return true;
        }
        self.unbroken = (self.unbroken + 1) % YIELD_EVERY;
        self.unbroken == 0
    }

    /// The moment to wait for.
    pub(super) fn wake_at(&mut self, policy: &Policy, due: Option<Instant>) -> Option<Instant> {
        let clock = self.clock();
        let wake = self.operation.as_ref().and_then(|operation| clock.at(operation.wake_at(policy)?));
        earlier(wake, due)
    }

    /// The moment at which the whole operation has ended, to which its caller gives so much time.
    pub(super) fn time_limit(&self, policy: &Policy, bound: Option<Duration>) -> Option<Instant> {
        self.clock().at(policy.time_limit(bound)?)
    }

    /// Returns whether the attempt that was sent last may take all the time that the operation has.
    pub(super) fn has_all_the_time(&self, policy: &Policy) -> bool {
        self.operation.as_ref().is_some_and(|operation| operation.has_all_the_time(policy, self.number))
    }

    /// The link of that attempt to its connection. One that is not the operation's first has a `retry`: the moment at which its
    /// time is up, if it ever is, and the delay before it.
    #[cold]
    pub(super) fn link(
        &mut self,
        policy: &Policy,
        number: u32,
        mut terms: LinkTerms,
        retry: Option<(Option<Instant>, Duration)>,
    ) -> ConnectionLink {
        terms.retry = retry.map(|(deadline, delay)| {
            let ledger = self.operation.as_ref().and_then(Operation::notes);
            let failed = ledger.into_iter().flat_map(Ledger::peers).map(|(_, peer)| peer.clone());
            RetryContext { failed: failed.collect(), deadline, delay }
        });
        if let Some(operation) = &self.operation {
            terms.is_suspect = operation.is_closed();
            terms.limit = operation.limit(policy).and_then(|limit| self.clock().at(limit));
        }
        ConnectionLink::remove(&mut self.links, number);
        let link = ConnectionLink::new(number, terms, self.links.take());
        self.links = Some(link.clone());
        link
    }

    /// Records the endpoint of that attempt, if it is known and needed.
    #[cold]
    fn record_peer(&mut self, policy: &Policy, number: u32, has_failed: bool) {
        let links = self.links.as_ref().filter(|_| has_failed || self.is_watched());
        let Some(link) = links.and_then(|link| link.find(number)) else { return };
        let (peer, delay) = (link.peer(), link.delay());
        let is_known = |ledger: &Ledger| ledger.delays().iter().any(|(other, _)| *other == number);
        let is_known = self.operation.as_ref().and_then(Operation::notes).is_some_and(is_known);
        if let Some(delay) = delay.filter(|_| !is_known) {
            if let Some(observed) = self.observed() {
                observed.waited(number, delay);
            }
            begun(&mut self.operation, policy).notes_mut(policy).waited(number, delay);
        }
        let Some(peer) = peer else { return };
        let ledger = self.operation.as_ref().and_then(Operation::notes);
        if ledger.is_some_and(|ledger| ledger.has_peer(number, &peer)) {
            return;
        }
        self.event(number, &peer);
        begun(&mut self.operation, policy).notes_mut(policy).went_to(number, peer);
    }

    /// That attempt has ended.
    fn unlink(&mut self, policy: &Policy, number: u32, has_failed: bool) {
        self.record_peer(policy, number, has_failed);
        self.postpones(policy, number);
        ConnectionLink::remove(&mut self.links, number);
    }

    /// When the time of that attempt begins, if that is not its start: its request has waited for something that takes none of it.
    #[inline]
    fn begins(&self, number: u32) -> Option<Duration> {
        let moment = self.links.as_ref()?.find(number)?.begins()?;
        Some(moment.saturating_duration_since(self.clock().began()))
    }

    /// Returns whether that attempt, whose time seems to be up, has spent it waiting, and has time left.
    #[cold]
    pub(super) fn postpones(&mut self, policy: &Policy, number: u32) -> bool {
        let begins = self.begins(number);
        begins.is_some_and(|start| begun(&mut self.operation, policy).postpone(policy, number, start))
    }

    /// That attempt has used up its time without a response: its connection may be dead.
    #[cold]
    pub(super) fn expire_link(&mut self, policy: &Policy, number: u32) {
        let link = self.links.as_ref().and_then(|link| link.find(number));
        let start = self.started(policy, number).map_or(Duration::ZERO, StartedAttempt::start);
        let time = self.elapsed().saturating_sub(start);
        if link.is_some_and(|link| link.expire(time)) {
            self.note(policy, Note::CONNECTION_GIVEN_UP);
        }
    }

    /// Returns whether the report of a success is wanted, or says more than that the first attempt succeeded.
    #[inline]
    pub(super) fn is_reported(&self) -> bool {
        self.reports || self.has_news()
    }

    /// Returns whether observers or the caller are notified of a success.
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.is_reported() || self.extras.as_ref().is_some_and(|extras| extras.observed.is_some())
    }

    /// Returns whether the report of a success says more than that the first attempt succeeded.
    #[inline]
    fn has_news(&self) -> bool {
        self.operation.as_ref().is_some_and(|operation| operation.notes().is_some())
    }

    /// The report of an operation that has ended; `stop` says why it failed.
    pub(crate) fn report(&mut self, policy: &Policy, stop: Option<Stop>, name: Name) -> OperationReport {
        let only = match stop {
            None if !self.has_news() => self.row(policy, self.number, AttemptResult::done(), self.elapsed()),
            _ => None,
        };
        begun(&mut self.operation, policy);
        let ended = self.operation.take().expect("it has begun");
        let mut report = OperationReport::new(name, ended.into_notes(policy), policy.version());
        let ledger = report.ledger_mut();
        if let Some(only) = only {
            ledger.push(only, Delivery::Unknown);
        }
        if policy.attempts_cap().is_some() {
            ledger.note(Note::ATTEMPTS_CAPPED);
        }
        if policy.hedging().is_some() {
            ledger.sort();
        }
        if let Some(stop) = stop {
            if stop.reason() == StopReason::NoLimits {
                ledger.note(Note::NO_LIMITS);
            }
            if stop.may_be_repetition() {
                ledger.note(Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED);
            }
            report.set_end(Some(stop.reason()), stop.not_attempted());
        }
        report
    }
}
