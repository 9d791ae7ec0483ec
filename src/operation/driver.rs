//! The one driver: it has the clock, the timer and the attempt in flight, carries out what the operation asks
//! for, and reports what happens.

use super::in_progress::InProgress;
use super::inbound::entered;
use super::observe::Observed;
use super::protocol::{Current, Protocol};
use super::report::{Note, OperationReport};
use super::several::Several;
use super::timer::Timer;
use gax_retry::operation::{Action, AttemptResult, End, Outcome, Stop};
use gax_retry::{Policy, StartedAttempt};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

pin_project! {
    /// An operation on its way. It is polled by the caller's task, so that to drop it stops everything at once.
    pub(crate) struct Driver<P: Protocol> {
        // It is dropped first: servers see its attempts reset before `progress` tells observers that the operation was
        // cancelled.
        #[pin]
        slot: Slot<P::Attempt>,
        protocol: P,
        plan: Arc<P::Plan>,
        progress: InProgress,
        timer: Timer,
    }
}

pin_project! {
    #[project = SlotProj]
    enum Slot<A> {
        // The operation has not begun.
        Unbegun,
        // Its request is being made ready.
        Preparing,
        // Nothing is in flight.
        Empty,
        // This attempt starts as soon as other tasks have had their turn.
        Held { attempt: StartedAttempt },
        InFlight { #[pin] attempt: A },
        // The attempts of a hedged operation.
        Several { attempts: Several<A> },
        // It has ended without an attempt, and the caller will be told.
        Refused { stop: Stop },
        // The caller was told how it ended.
        Finished,
    }
}

impl<A> Slot<A> {
    /// The slot with the first attempt in flight.
    #[inline]
    fn of(policy: &Policy, number: u32, attempt: A) -> Self {
        if policy.hedging().is_some() { Self::several(number, attempt) } else { Self::InFlight { attempt } }
    }

    /// The slot of a hedged operation.
    #[cold]
    fn several(number: u32, attempt: A) -> Self {
        Self::Several { attempts: Several::of(number, attempt) }
    }
}

impl<P: Protocol> Driver<P> {
    /// An operation that starts when it is first polled.
    #[inline]
    pub(crate) fn new(protocol: P, plan: Arc<P::Plan>) -> Self {
        let progress = InProgress::new((*plan).as_ref());
        Self { protocol, plan, progress, timer: Timer::default(), slot: Slot::Unbegun }
    }

    /// Starts the operation now. What its first attempt needs is there: that is to be sent at once, and told by
    /// [`sent`](Self::sent). `None`: there is none.
    #[expect(clippy::inline_always, reason = "every call goes this way (bench `speed`, instructions)")]
    #[inline(always)]
    pub(crate) fn start(&mut self, bound: Option<Duration>) -> Option<StartedAttempt> {
        begin(&mut self.progress, &self.protocol, &self.plan, bound);
        match self.progress.send_first((*self.plan).as_ref()) {
            None => self.start_otherwise(),
            first => first,
        }
    }

    /// Something stands in the way of the first attempt, or it is not the only one.
    #[cold]
    fn start_otherwise(&mut self) -> Option<StartedAttempt> {
        let policy = (*self.plan).as_ref();
        self.slot = match self.progress.next(policy) {
            Action::Send(started) => {
                close_hedges(&mut self.progress, &self.protocol, &self.plan);
                self.progress.sends(started);
                if !started.has_no_time() {
                    return Some(started);
                }
                Slot::Empty
            }
            Action::Finish(End::Failure(stop)) => Slot::Refused { stop },
            Action::Finish(End::Reply(_)) | Action::Wait(_) | Action::Expire(_) | Action::Cancel(_) => {
                Slot::Empty
            }
        };
        None
    }

    /// What it takes to send the first attempt.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut P, &P::Plan, Current<'_>) {
        let policy = (*self.plan).as_ref();
        (&mut self.protocol, &self.plan, self.progress.current(policy))
    }

    /// The first attempt is in flight.
    #[inline]
    pub(crate) fn sent(&mut self, attempt: P::Attempt) {
        let slot = Slot::of((*self.plan).as_ref(), self.progress.number, attempt);
        // What was there holds nothing, and to drop it would be a call (bench `speed`, instructions).
        std::mem::forget(std::mem::replace(&mut self.slot, slot));
    }

    pub(crate) fn protocol(self: Pin<&mut Self>) -> &mut P {
        self.project().protocol
    }

    pub(crate) fn plan(&self) -> Arc<P::Plan> {
        Arc::clone(&self.plan)
    }

    /// Whether the report of a success tells more than that the first attempt succeeded.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.progress.has_news()
    }

    /// Whether the attempt with the reply may take all the time that the operation has.
    pub(crate) fn has_all_the_time(&self) -> bool {
        self.progress.has_all_the_time((*self.plan).as_ref())
    }

    /// An operation that has a reply, as its observers know it: to be closed by whoever knows what the reply is worth.
    #[inline]
    pub(crate) fn take_observed(self: Pin<&mut Self>) -> Option<Box<Observed>> {
        self.project().progress.take_observed()
    }

    /// Writes down what the attempts alone don't tell.
    pub(crate) fn note(self: Pin<&mut Self>, note: Note) {
        let this = self.project();
        this.progress.note((**this.plan).as_ref(), note);
    }

    /// The report of an operation that has ended; `stop` says why it failed.
    pub(crate) fn report(self: Pin<&mut Self>, stop: Option<Stop>) -> OperationReport {
        let this = self.project();
        this.progress.report((**this.plan).as_ref(), stop, this.protocol.name(this.plan))
    }

    /// Starts the operation now, whose request has to be read first, on its time.
    #[cold]
    pub(crate) fn prepare(&mut self, bound: Option<Duration>) {
        begin(&mut self.progress, &self.protocol, &self.plan, bound);
        let policy = (*self.plan).as_ref();
        // An operation whose options can't work does not wait for its request.
        let stop = policy.problem().map(|_| self.progress.next(policy));
        self.slot = match stop {
            Some(Action::Finish(End::Failure(stop))) => Slot::Refused { stop },
            _ => Slot::Preparing,
        };
    }

    /// Goes on until the operation has ended: `None` if it has a reply, which is in `reply` then, or why it failed. The
    /// failure is with the protocol.
    #[inline]
    pub(crate) fn poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        reply: &mut P::Reply,
    ) -> Poll<Option<Stop>> {
        let mut this = self.project();
        let (protocol, plan, progress) = (this.protocol, &**this.plan, this.progress);
        let policy = plan.as_ref();
        loop {
            if progress.request_has_ended(cx)
                && let Some(stop) = abandon(&mut this.slot.as_mut(), protocol, plan, progress)
            {
                return Poll::Ready(Some(stop));
            }
            match this.slot.as_mut().project() {
                SlotProj::InFlight { mut attempt } => {
                    let mut current = progress.current(policy);
                    match protocol.poll(plan, attempt.as_mut(), &mut current, cx, reply) {
                        // No other attempt is in flight, so that nothing is left to do.
                        Poll::Ready(result) if result.outcome() == Outcome::Done => {
                            this.slot.set(Slot::Finished);
                            progress.replied(policy, result);
                            return Poll::Ready(None);
                        }
                        Poll::Ready(result) => {
                            this.slot.set(Slot::Empty);
                            progress.ended(policy, result);
                        }
                        Poll::Pending => {
                            progress.pended();
                            let due = protocol.due(&attempt);
                            ready!(this.timer.poll_at(progress.wake_at(policy, due), cx));
                        }
                    }
                }
                SlotProj::Several { attempts } => match attempts.poll(protocol, plan, progress, cx, reply) {
                    Poll::Ready(Some((number, result))) => {
                        ended(progress, protocol, plan, number, result);
                        if result.outcome() == Outcome::Done {
                            attempts.cancel_losers::<P>(plan, progress);
                            this.slot.set(Slot::Finished);
                            return Poll::Ready(None);
                        }
                    }
                    Poll::Ready(None) => {}
                    Poll::Pending => {
                        progress.pended();
                        let due = attempts.due(protocol);
                        ready!(this.timer.poll_at(progress.wake_at(policy, due), cx));
                    }
                },
                SlotProj::Empty => {
                    ready!(this.timer.poll_at(progress.wake_at(policy, None), cx));
                }
                SlotProj::Held { attempt } => {
                    let attempt = *attempt;
                    let state =
                        progress.send(attempt, policy, |current| protocol.begin(plan, attempt, current));
                    this.slot.set(Slot::of(policy, attempt.number(), state));
                    continue;
                }
                SlotProj::Unbegun => {
                    begin(progress, protocol, plan, protocol.bound(plan));
                    let Poll::Ready(ready) = protocol.prepare(plan, cx) else {
                        this.slot.set(Slot::Preparing);
                        continue;
                    };
                    progress.prepared(policy, ready, Duration::ZERO);
                    if let Some(started) = progress.send_first(policy) {
                        let attempt = protocol.begin(plan, started, &mut progress.current(policy));
                        this.slot.set(Slot::InFlight { attempt });
                        continue;
                    }
                    this.slot.set(Slot::Empty);
                }
                SlotProj::Preparing => {
                    let ready = match protocol.prepare(plan, cx) {
                        Poll::Ready(ready) => ready,
                        // Whether there is time for an attempt is decided when it starts.
                        Poll::Pending => {
                            ready!(this.timer.poll_at(progress.time_limit(policy), cx));
                            Ok(())
                        }
                    };
                    let now = progress.elapsed();
                    progress.prepared(policy, ready, now);
                    this.slot.set(Slot::Empty);
                }
                SlotProj::Refused { stop } => {
                    let stop = *stop;
                    this.slot.set(Slot::Finished);
                    return Poll::Ready(Some(stop));
                }
                SlotProj::Finished => return Poll::Pending,
            }
            match follow(&mut this.slot.as_mut(), protocol, plan, progress) {
                Then::Poll => {}
                Then::Yield => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Then::Finish(End::Failure(stop)) => return Poll::Ready(Some(stop)),
                // The caller has it already.
                Then::Finish(End::Reply(_)) => return Poll::Pending,
            }
        }
    }
}

/// The operation's time runs from now on, and its observers are told.
#[expect(clippy::inline_always, reason = "few of its arguments are looked at (bench `speed`, instructions)")]
#[inline(always)]
fn begin<P: Protocol>(progress: &mut InProgress, protocol: &P, plan: &P::Plan, bound: Option<Duration>) {
    let policy = plan.as_ref();
    progress.begin(policy, bound, protocol.jitter(plan));
    if let Some(inbound) = entered() {
        progress.work_for(policy, &inbound);
    }
    if let Some(observers) = protocol.observers(plan) {
        progress.observe(policy, observers, protocol.name(plan), P::TRANSPORT);
    }
}

/// The request has ended that the operation's thread works for: its attempts are dropped. The result is the operation's end,
/// unless that is known already.
#[cold]
fn abandon<P: Protocol>(
    slot: &mut Pin<&mut Slot<P::Attempt>>,
    protocol: &mut P,
    plan: &P::Plan,
    progress: &mut InProgress,
) -> Option<Stop> {
    match slot.as_mut().project() {
        SlotProj::Refused { .. } | SlotProj::Finished => return None,
        SlotProj::Unbegun | SlotProj::Preparing => slot.set(Slot::Empty),
        SlotProj::Empty | SlotProj::Held { .. } | SlotProj::InFlight { .. } | SlotProj::Several { .. } => {}
    }
    progress.cancel(plan.as_ref());
    match follow(slot, protocol, plan, progress) {
        Then::Finish(End::Failure(stop)) => Some(stop),
        Then::Poll | Then::Yield | Then::Finish(End::Reply(_)) => None,
    }
}

/// No hedge goes out while an attempt is in flight, if the request can't be sent a second time then.
fn close_hedges<P: Protocol>(progress: &mut InProgress, protocol: &P, plan: &P::Plan) {
    if !protocol.is_hedgeable(plan) {
        progress.close_hedges();
    }
}

/// An attempt of several has ended, or one whose time was up.
fn ended<P: Protocol>(
    progress: &mut InProgress,
    protocol: &mut P,
    plan: &P::Plan,
    number: u32,
    result: AttemptResult,
) {
    progress.ended_of(plan.as_ref(), number, result);
    if progress.is_held(number) {
        protocol.hold();
    }
}

/// What comes after the actions.
enum Then {
    /// Poll what is in flight, or wait.
    Poll,
    /// Let other tasks have their turn.
    Yield,
    Finish(End),
}

/// Carries out what the operation asks for, now that something has happened.
#[inline]
fn follow<P: Protocol>(
    slot: &mut Pin<&mut Slot<P::Attempt>>,
    protocol: &mut P,
    plan: &P::Plan,
    progress: &mut InProgress,
) -> Then {
    let policy = plan.as_ref();
    loop {
        match progress.next(policy) {
            // It is over before it is sent.
            Action::Send(started) if started.has_no_time() => progress.sends(started),
            Action::Send(started) if policy.hedging().is_some() => {
                close_hedges(progress, protocol, plan);
                let attempt =
                    progress.send(started, policy, |current| protocol.begin(plan, started, current));
                match slot.as_mut().project() {
                    SlotProj::Several { attempts } => attempts.push(started.number(), attempt),
                    _ => slot.set(Slot::of(policy, started.number(), attempt)),
                }
            }
            Action::Send(attempt) if progress.yields_before(attempt) => {
                slot.set(Slot::Held { attempt });
                return Then::Yield;
            }
            Action::Send(started) => {
                let attempt =
                    progress.send(started, policy, |current| protocol.begin(plan, started, current));
                slot.set(Slot::InFlight { attempt });
                return Then::Poll;
            }
            Action::Expire(number) => {
                let result = match slot.as_mut().project() {
                    SlotProj::InFlight { attempt } => {
                        let result = protocol.expire(plan, Some(attempt), &mut progress.current(policy));
                        slot.set(Slot::Empty);
                        result
                    }
                    SlotProj::Several { attempts } => {
                        let mut attempt = attempts.take(number);
                        let attempt = attempt.as_mut().map(Pin::as_mut);
                        protocol.expire(plan, attempt, &mut progress.current_of(policy, number))
                    }
                    _ => protocol.expire(plan, None, &mut progress.current(policy)),
                };
                ended(progress, protocol, plan, number, result);
            }
            Action::Cancel(number) => {
                match slot.as_mut().project() {
                    SlotProj::Several { attempts } => drop(attempts.take(number)),
                    _ => slot.set(Slot::Empty),
                }
                progress.cancelled(policy, number);
            }
            Action::Wait(_) => {
                let waits = match slot.as_mut().project() {
                    SlotProj::Empty => true,
                    SlotProj::Several { attempts } => {
                        progress.note_withheld_hedges(policy);
                        attempts.is_empty()
                    }
                    _ => false,
                };
                if waits {
                    protocol.before_wait();
                }
                return Then::Poll;
            }
            Action::Finish(end) => {
                slot.set(Slot::Finished);
                return Then::Finish(end);
            }
        }
    }
}
