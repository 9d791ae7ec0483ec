//! Everything that an operation knows once something has gone wrong, or more than one attempt is in flight.

use super::closed::spread;
use super::due::Due;
use super::hedges::Hedges;
use super::in_flight::{Ended, InFlight};
use super::polls::Polls;
use super::resends::Resends;
use crate::nanos::{FOREVER, after, bounded, limited, nanos};
use crate::operation::{
    Action, AttemptResult, Delivery, End, Next, NotAttempted, Outcome, Policy, Replayable, Resend, RetryFact,
    Seen, Stop, World, action::FollowUp, gates,
};
use crate::rules::{Ask, Progress, Refusal, Wait};
use crate::{AttemptKind, Code, ServerDelay, StartedAttempt, StopReason};
use std::num::NonZeroU32;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "none of them follows from another one")]
pub(in crate::operation) struct State {
    progress: Progress,
    /// The number of the attempt that was started last.
    pub(super) started: u32,
    /// How many of them don't count any longer, since back-off started again after them.
    forgotten: u32,
    pub(super) in_flight: InFlight,
    due: Due,
    pub(super) hedges: Hedges,
    resends: Resends,
    /// The attempt that the caller has part of.
    committed: Option<NonZeroU32>,
    polls: Polls,
    /// The attempt that ended last lost a connection that our own stack has closed.
    is_closed: bool,
    /// The attempt that ended last.
    pub(super) last: Option<NonZeroU32>,
    /// `true` if its failure can come of another attempt that was carried out.
    pub(super) may_be_repetition: bool,
    /// How many attempts are known not to have been carried out.
    not_carried_out: u32,
    /// The hedge whose failure the operation ends with, unless an attempt in flight has a reply.
    pub(super) held: Option<NonZeroU32>,
    /// A stream has been resumed: no hedge follows.
    is_resumed: bool,
    /// The end was handed out.
    is_finished: bool,
}

impl State {
    fn new(progress: Progress) -> Self {
        Self {
            progress,
            started: 0,
            forgotten: 0,
            in_flight: InFlight::default(),
            due: Due::Nothing,
            hedges: Hedges::default(),
            resends: Resends::default(),
            committed: None,
            polls: Polls::default(),
            is_closed: false,
            last: None,
            may_be_repetition: false,
            not_carried_out: 0,
            held: None,
            is_resumed: false,
            is_finished: false,
        }
    }

    /// Nothing has been sent: the first attempt is due.
    pub(in crate::operation) fn before_first(policy: &Policy, now: Duration) -> Self {
        let first = Due::After { kind: AttemptKind::Original, delay: 0, at: limited(now) };
        Self { due: first, ..Self::new(policy.rules.begin()) }
    }

    /// The first attempt is in flight.
    pub(in crate::operation) fn after_first(policy: &Policy, first: StartedAttempt) -> Self {
        let progress = policy.after_first.clone();
        Self { started: 1, in_flight: InFlight::of(first), ..Self::new(progress) }
    }

    pub(in crate::operation) fn next(
        &mut self,
        policy: &Policy,
        bound: u64,
        world: &mut impl World,
    ) -> Action {
        loop {
            if self.is_finished {
                return Action::Wait(None);
            }
            if let Some(loser) = self.loser() {
                return Action::Cancel(loser);
            }
            match self.due {
                Due::End(end) => {
                    self.is_finished = true;
                    return Action::Finish(end);
                }
                Due::Now(attempt) => {
                    self.due = Due::Nothing;
                    return self.send(attempt);
                }
                Due::Nothing | Due::After { .. } => {}
            }
            let now = match self.due_at(world) {
                Ok(now) => now,
                Err(wake) => return Action::Wait(bounded(wake)),
            };
            if let Some(expired) = self.in_flight.expired(now) {
                return Action::Expire(expired);
            }
            let started = match self.due {
                Due::After { kind, delay, at } if now >= at => {
                    self.due = Due::Nothing;
                    self.start(policy, bound, kind, delay, now)
                }
                // Nothing else can be due. A hedge starts when it was due, so that those after it don't drift.
                _ => self.hedge(policy, bound, self.hedges.due().unwrap_or(now), world),
            };
            if let Some(attempt) = started {
                return self.send(attempt);
            }
        }
    }

    /// The time, where something is due.
    ///
    /// # Errors
    ///
    /// When something will be; [`FOREVER`] is never.
    fn due_at(&self, world: &mut impl World) -> Result<u64, u64> {
        // An attempt that follows immediately starts when the previous one ended.
        if let Due::After { delay: 0, at, .. } = self.due {
            return Ok(at);
        }
        let wake = self.wakes();
        if wake == FOREVER {
            return Err(FOREVER);
        }
        let now = limited(world.now());
        if now < wake { Err(wake) } else { Ok(now) }
    }

    pub(in crate::operation) fn wake_at(&self) -> Option<Duration> {
        if self.is_finished { None } else { bounded(self.wakes()) }
    }

    /// [`wake_at`](Self::wake_at) in nanoseconds; [`FOREVER`] is never.
    fn wakes(&self) -> u64 {
        self.in_flight.deadline().min(self.due.at()).min(self.hedges.wakes())
    }

    /// The first attempt has the reply, and all is over.
    pub(in crate::operation) fn replied(&mut self) {
        self.finish(End::Reply(1));
        self.is_finished = true;
    }

    /// That attempt has delivered a message. The first one of a resumption gives back the token that the break before it took, so
    /// that a stream may break any number of times.
    pub(in crate::operation) fn progressed(&mut self, policy: &Policy, attempt: u32) {
        self.resends.progressed();
        if self.in_flight.progressed(attempt)
            && self.is_resumed
            && let Some(budget) = &policy.budget
        {
            budget.resumed();
        }
    }

    pub(in crate::operation) fn committed(&mut self, attempt: u32) -> bool {
        if self.committed.is_some() || self.in_flight.get(attempt).is_none() {
            return false;
        }
        self.committed = NonZeroU32::new(attempt);
        self.due.set(Due::Nothing);
        self.hedges.clear();
        true
    }

    pub(in crate::operation) fn close_hedges(&mut self) {
        self.hedges.close(Refusal::new(StopReason::NotReplayable));
    }

    pub(in crate::operation) fn has_withheld_hedges(&self) -> bool {
        self.hedges.is_withheld()
    }

    pub(in crate::operation) fn held(&self) -> Option<u32> {
        self.held.map(NonZeroU32::get)
    }

    pub(in crate::operation) fn in_flight(&self, number: u32) -> Option<StartedAttempt> {
        self.in_flight.get_or_kept(number)
    }

    pub(in crate::operation) fn is_resending(&self) -> bool {
        matches!(self.due, Due::Now(_))
    }

    pub(in crate::operation) fn follow_up(&self) -> FollowUp {
        self.due.follow_up().unwrap_or_else(|| match self.hedges.due() {
            Some(_) => FollowUp::Attempt(Duration::from_nanos(self.hedges.delay())),
            None => FollowUp::InFlight,
        })
    }

    pub(in crate::operation) fn cancelled(&mut self) {
        self.stop(StopReason::Cancelled);
    }

    /// Returns whether the operation has ended with that attempt's reply, and nothing else is in flight.
    pub(in crate::operation) fn ended(
        &mut self,
        policy: &Policy,
        bound: u64,
        attempt: u32,
        mut result: AttemptResult,
        world: &mut impl World,
    ) -> bool {
        let Some(Ended { attempt: ended, has_progressed }) = self.in_flight.remove(attempt) else {
            return false;
        };
        let has_lost = self.committed.is_some_and(|winner| winner.get() != attempt);
        if has_lost || self.due.end().is_some() {
            return false;
        }
        if let Outcome::Failed(_) = result.outcome
            && self.resends(ended, result, world)
        {
            let mut again = ended.resent();
            if result.resend == Resend::Renewed {
                self.polls.failed(result.progress);
                again = again.renewed(limited(world.now()), bound.min(policy.rules.time_limit()));
            }
            self.due = Due::Now(again);
            return false;
        }
        self.last = NonZeroU32::new(attempt);
        match result.outcome {
            Outcome::Done => {
                policy.succeeded(world);
                let first = if attempt == 1 { Some(ended) } else { self.in_flight.get(1) };
                if let Some(first) = first {
                    policy.first_took(world.now().saturating_sub(first.start()));
                }
                self.finish(End::Reply(attempt));
                // With others to be cancelled, the end comes after them.
                self.is_finished = self.in_flight.is_empty();
                self.in_flight.keep(ended);
            }
            Outcome::NotDone(next) => {
                policy.succeeded(world);
                result.progress |= has_progressed;
                self.poll(policy, bound, next, result, world);
            }
            Outcome::Failed(code) => {
                result.seen = self.seen(result, has_progressed);
                self.failed(policy, bound, code, ended, result, world);
            }
        }
        self.is_finished
    }

    /// How much of the response of an attempt that failed the caller has, by all that was reported of it.
    fn seen(&self, result: AttemptResult, has_progressed: bool) -> Seen {
        match result.seen {
            Seen::Messages { .. } | Seen::Begun => result.seen,
            _ if has_progressed || self.committed.is_some() => Seen::Messages { resumable: false },
            seen => seen,
        }
    }

    /// The reply says that what was asked for is not done yet.
    fn poll(
        &mut self,
        policy: &Policy,
        bound: u64,
        next: Next,
        result: AttemptResult,
        world: &mut impl World,
    ) {
        if result.progress {
            self.resends.progressed();
            self.reset_backoff(policy, bound);
        }
        // It has not failed, so that it is none of the attempts that are retried.
        self.forgotten = self.forgotten.saturating_add(1);
        let (polls, next) = self.polls.not_done(policy, next, result.progress);
        let (now, is_now) = ended_at(result, world);
        let ask = Ask {
            counted: polls.count,
            now,
            bound,
            server_delay: ServerDelay::None,
            longest: Duration::ZERO,
            is_endless: false,
        };
        match policy.rules.poll_next(&mut polls.progress, next, ask, world.jitter()) {
            Ok(Wait(wait)) => {
                let wait = Wait(policy.before_poll(next, wait));
                self.due_after(AttemptKind::Poll, wait, (now, is_now), world);
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn reset_backoff(&mut self, policy: &Policy, bound: u64) {
        self.forgotten = self.started.saturating_sub(1);
        policy.rules.reset_backoff(&mut self.progress, bound);
    }

    /// An attempt of that kind follows the one which ended `now`, or just now if that `is_now`, after that wait.
    fn due_after(
        &mut self,
        kind: AttemptKind,
        Wait(delay): Wait,
        (now, is_now): (u64, bool),
        world: &mut impl World,
    ) {
        let mut at = after(now, delay);
        if !is_now {
            at = at.max(limited(world.now()));
        }
        self.due = Due::After { kind, delay, at };
    }

    /// Returns whether that attempt is made again silently, which needs a request that can be sent again and time for the
    /// response.
    fn resends(&mut self, ended: StartedAttempt, result: AttemptResult, world: &mut impl World) -> bool {
        if result.progress {
            self.resends.progressed();
        }
        result.replayable == Replayable::Yes
            && self.committed.is_none()
            && (result.resend != Resend::Renewed || result.is_repeatable())
            && ended.expires_at().is_none_or(|end| world.now() < end)
            && self.resends.allow(result.resend)
    }

    fn failed(
        &mut self,
        policy: &Policy,
        bound: u64,
        code: Code,
        ended: StartedAttempt,
        result: AttemptResult,
        world: &mut impl World,
    ) {
        self.polls.failed(result.progress);
        self.is_closed = result.retry == RetryFact::ClosedByUs;
        let is_at_limit = result.timed_out && policy.ends_with(ended, bound);
        let server_delay = policy.heeded(result.server_delay());
        self.may_be_repetition = policy.may_be_repetition(result);
        if result.delivery != Delivery::Unknown {
            self.not_carried_out = self.not_carried_out.saturating_add(1);
        }
        match gates::pass(policy, code, result, is_at_limit, server_delay, world) {
            _ if self.held.is_some() => self.release(),
            Err(StopReason::NonRetryable) if self.holds(policy, result) => {
                self.held = self.last;
                self.hedges.close(Refusal::new(StopReason::NonRetryable));
            }
            Err(reason) => self.refused(policy, reason),
            Ok(()) if self.is_resumable(result) => {
                // Losers of a hedged operation are dropped before another attempt begins.
                self.committed = NonZeroU32::new(ended.number());
                self.is_resumed = true;
                if result.seen != Seen::Begun {
                    self.reset_backoff(policy, bound);
                }
                self.follow(policy, bound, AttemptKind::Resume, server_delay, (ended, result), world);
            }
            Ok(()) if policy.hedging.is_some() && !self.is_resumed => {
                self.hedge_after(policy, bound, server_delay, (ended, result), world);
            }
            Ok(()) => {
                if result.progress {
                    self.reset_backoff(policy, bound);
                }
                self.follow(policy, bound, AttemptKind::Retry, server_delay, (ended, result), world);
            }
        }
    }

    /// Returns whether another attempt takes the stream up where that one left it: the stream is the operation's own.
    fn is_resumable(&self, result: AttemptResult) -> bool {
        match result.seen {
            Seen::Messages { resumable } => resumable,
            Seen::Begun => self.committed.is_some(),
            Seen::Nothing | Seen::Headers => false,
        }
    }

    /// The rule set says whether another attempt follows, and when.
    fn follow(
        &mut self,
        policy: &Policy,
        bound: u64,
        kind: AttemptKind,
        server_delay: ServerDelay,
        (ended, result): (StartedAttempt, AttemptResult),
        world: &mut impl World,
    ) {
        let (now, is_now) = ended_at(result, world);
        let counted = self.started.saturating_sub(self.forgotten);
        let longest = policy.max_server_delay;
        let ask = Ask { counted, now, bound, server_delay, longest, is_endless: policy.is_endless };
        match policy.rules.next(&mut self.progress, ask, world.jitter()) {
            // Another operation may have taken the last one meanwhile.
            Ok(_) if !policy.takes_retry(world) => self.stop(StopReason::Throttled),
            Ok(Wait(wait)) => {
                let wait = match result.retry {
                    RetryFact::ClosedByUs => spread_out(policy, bound, wait, ended, now, world),
                    _ if kind == AttemptKind::Resume => policy.before_resume(wait, server_delay),
                    _ => wait,
                };
                self.due_after(kind, Wait(wait), (now, is_now), world);
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    pub(in crate::operation) fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(in crate::operation) fn postpone(
        &mut self,
        attempt: u32,
        start: Duration,
        limit: Option<Duration>,
    ) -> bool {
        self.in_flight.postpone(attempt, start, limit)
    }

    /// Starts the attempt that is due, if there is time for it.
    pub(super) fn start(
        &mut self,
        policy: &Policy,
        bound: u64,
        kind: AttemptKind,
        delay: u64,
        now: u64,
    ) -> Option<StartedAttempt> {
        let started = match kind {
            AttemptKind::Hedge => policy.start_hedge(now, bound),
            AttemptKind::Poll => policy.start(self.polls.progress(policy), false, now, bound),
            // gax-java settles a timeout together with its wait, which does not know of the spread.
            _ if self.is_closed => {
                policy.start(&mut self.progress, false, now, bound.min(policy.rules.time_limit()))
            }
            _ => policy.start(&mut self.progress, self.started == 0, now, bound),
        };
        match started {
            Ok(timeout) => {
                self.resends.begin_attempt();
                if kind == AttemptKind::Resume {
                    self.committed = None;
                }
                self.started = self.started.saturating_add(1);
                self.hedges.clear();
                if policy.hedging.is_some()
                    && !self.is_resumed
                    && self.started < policy.most_hedged()
                    && let Some(delay) = policy.hedging_delay()
                {
                    self.hedges.schedule(now, nanos(delay));
                }
                let first = StartedAttempt::first(timeout, policy.rules.has_whole_milliseconds());
                return Some(first.following(self.started, kind, delay, now));
            }
            Err(refusal) if !self.in_flight.is_empty() => self.hedges.close(refusal),
            Err(refusal) => self.refuse(refusal),
        }
        None
    }

    fn send(&mut self, attempt: StartedAttempt) -> Action {
        self.in_flight.push(attempt);
        Action::Send(attempt)
    }

    /// An attempt in flight that can't win any longer. It is reported once.
    fn loser(&mut self) -> Option<u32> {
        let loser = match (self.due.end(), self.committed) {
            (Some(_), _) => self.in_flight.remove_other_than(None),
            (None, Some(winner)) => self.in_flight.remove_other_than(Some(winner.get())),
            (None, None) => None,
        }?;
        self.in_flight.keep(loser);
        Some(loser.number())
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) {
        let number = self.started.saturating_add(1);
        let not_attempted = refusal.wait.map(|wait| NotAttempted::new(number, wait));
        let stop = self.stop_for(refusal.reason).before(not_attempted).at_deadline(refusal.at_deadline);
        self.finish(End::Failure(stop));
    }

    pub(in crate::operation) fn stop(&mut self, reason: StopReason) {
        let stop = self.stop_for(reason);
        self.finish(End::Failure(stop));
    }

    /// The end with the error of the attempt that ended last. Another one may be why, if it was carried out for all that is
    /// known.
    fn stop_for(&self, reason: StopReason) -> Stop {
        let has_others = self.started.saturating_sub(self.not_carried_out) > 1;
        Stop::new(reason, self.last).by_repetition(self.may_be_repetition && has_others)
    }

    fn finish(&mut self, end: End) {
        self.due.set(Due::End(end));
        self.hedges.clear();
    }
}

/// When an attempt ended, in nanoseconds, and whether that was just now.
fn ended_at(result: AttemptResult, world: &mut impl World) -> (u64, bool) {
    match result.end() {
        FOREVER => (limited(world.now()), true),
        earlier => (earlier, false),
    }
}

/// That wait, far enough apart from those of others on a connection that our own stack has closed.
#[cold]
pub(super) fn spread_out(
    policy: &Policy,
    bound: u64,
    wait: u64,
    ended: StartedAttempt,
    now: u64,
    world: &mut impl World,
) -> u64 {
    let took = now.saturating_sub(nanos(ended.start()));
    spread(wait, took, now, policy.rules.time_limit().min(bound), world.jitter())
}
