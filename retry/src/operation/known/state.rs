//! What an operation knows once something has gone wrong, or more than one attempt is in flight.

use super::due::Due;
use super::hedges::Hedges;
use super::in_flight::InFlight;
use super::resends::Resends;
use crate::nanos::{FOREVER, after, bounded, limited, nanos};
use crate::operation::action::FollowUp;
use crate::operation::{
    Action, AttemptResult, Delivery, End, NotAttempted, Outcome, Policy, Replayable, Seen, Stop, World, gates,
};
use crate::rules::{Ask, Progress, Refusal, Wait};
use crate::{AttemptKind, Code, ServerDelay, StartedAttempt, StopReason};
use std::num::NonZeroU32;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub(in crate::operation) struct State {
    progress: Progress,
    /// The number of the attempt that was started last.
    pub(super) started: u32,
    /// How many of them don't count any more, since back-off began anew after them.
    forgotten: u32,
    pub(super) in_flight: InFlight,
    /// The attempt that is to be sent next.
    due: Option<Due>,
    pub(super) hedges: Hedges,
    resends: Resends,
    /// The attempt that the caller has part of.
    committed: Option<u32>,
    /// The attempt that ended last.
    pub(super) last: Option<NonZeroU32>,
    /// Whether its failure can come of another attempt that was carried out.
    pub(super) may_be_repetition: bool,
    /// How many attempts are known not to have been carried out.
    not_carried_out: u32,
    /// The hedge whose failure the operation ends with, unless an attempt in flight has a reply.
    pub(super) held: Option<NonZeroU32>,
    end: Option<End>,
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
            due: None,
            hedges: Hedges::default(),
            resends: Resends::default(),
            committed: None,
            last: None,
            may_be_repetition: false,
            not_carried_out: 0,
            held: None,
            end: None,
            is_finished: false,
        }
    }

    /// Nothing has been sent: the first attempt is due.
    pub(in crate::operation) fn before_first(policy: &Policy, now: Duration) -> Self {
        let first = Due::After { kind: AttemptKind::Original, delay: 0, at: limited(now) };
        Self { due: Some(first), ..Self::new(policy.rules.begin()) }
    }

    /// The first attempt is in flight, and may have committed.
    pub(in crate::operation) fn after_first(
        policy: &Policy,
        first: StartedAttempt,
        committed: Option<u32>,
    ) -> Self {
        let progress = policy.after_first.clone();
        Self { committed, started: 1, in_flight: InFlight::of(first), ..Self::new(progress) }
    }

    /// All is over, and the end may have been handed out.
    pub(in crate::operation) fn ended_with(policy: &Policy, end: End, is_finished: bool) -> Self {
        Self { end: Some(end), is_finished, ..Self::new(policy.rules.begin()) }
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
            if let Some(end) = self.end {
                self.is_finished = true;
                return Action::Finish(end);
            }
            if let Some(Due::Now(attempt)) = self.due {
                self.due = None;
                return self.send(attempt);
            }
            let now = match self.due_at(world) {
                Ok(now) => now,
                Err(wake) => return Action::Wait(bounded(wake)),
            };
            if let Some(expired) = self.in_flight.expired(now) {
                return Action::Expire(expired);
            }
            let started = match self.due {
                Some(Due::After { kind, delay, at }) if now >= at => {
                    self.due = None;
                    self.start(policy, bound, kind, delay, now)
                }
                // Nothing else can be due.
                _ => self.hedge(policy, bound, now, world),
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
        // An attempt that follows at once starts when the one before it ended.
        if let Some(Due::After { delay: 0, at, .. }) = self.due {
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

    /// The same in nanoseconds; [`FOREVER`] is never.
    fn wakes(&self) -> u64 {
        let due = self.due.map_or(FOREVER, Due::at);
        self.in_flight.deadline().min(due).min(self.hedges.due().unwrap_or(FOREVER))
    }

    pub(in crate::operation) fn committed(&mut self, attempt: u32) -> bool {
        if self.committed.is_some() || self.in_flight.get(attempt).is_none() {
            return false;
        }
        self.committed = Some(attempt);
        self.due = None;
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

    pub(in crate::operation) fn unsendable(&mut self) {
        self.stop(StopReason::NonRetryable);
    }

    pub(in crate::operation) fn in_flight(&self, number: u32) -> Option<StartedAttempt> {
        self.in_flight.get_known(number)
    }

    pub(in crate::operation) fn is_resending(&self) -> bool {
        matches!(self.due, Some(Due::Now(_)))
    }

    pub(in crate::operation) fn follow_up(&self) -> FollowUp {
        match (self.end, self.due, self.hedges.due()) {
            (Some(end), _, _) => FollowUp::End(end),
            (None, Some(due), _) => due.follow_up(),
            (None, None, Some(_)) => FollowUp::Attempt(Duration::from_nanos(self.hedges.delay())),
            (None, None, None) => FollowUp::InFlight,
        }
    }

    pub(in crate::operation) fn cancelled(&mut self) {
        self.stop(StopReason::Cancelled);
    }

    pub(in crate::operation) fn ended(
        &mut self,
        policy: &Policy,
        bound: u64,
        attempt: u32,
        result: AttemptResult,
        world: &mut impl World,
    ) {
        let Some(ended) = self.in_flight.remove(attempt) else {
            return;
        };
        let has_lost = self.committed.is_some_and(|winner| winner != attempt);
        if has_lost || self.end.is_some() {
            return;
        }
        if let Outcome::Failed(_) = result.outcome
            && self.resends(ended, result, world)
        {
            self.due = Some(Due::Now(ended.resent()));
            return;
        }
        self.last = NonZeroU32::new(attempt);
        match result.outcome {
            Outcome::Done => {
                policy.succeeded(world);
                let first = if attempt == 1 { Some(ended) } else { self.in_flight.get(1) };
                if let Some(first) = first {
                    policy.first_took(world.now().saturating_sub(first.start()));
                }
                self.in_flight.keep(ended);
                self.finish(End::Reply(attempt));
            }
            Outcome::NotDone => {
                policy.succeeded(world);
                self.follow(policy, bound, AttemptKind::Poll, result.server_delay(), result.end(), world);
            }
            Outcome::Failed(code) => {
                let is_at_limit = result.timed_out && policy.ends_with(ended, bound);
                self.failed(policy, bound, code, result, is_at_limit, world);
            }
        }
    }

    /// Whether that attempt is made again in silence, which needs a request that can be sent again and time for
    /// the response.
    fn resends(&mut self, ended: StartedAttempt, result: AttemptResult, world: &mut impl World) -> bool {
        result.replayable == Replayable::Yes
            && self.committed.is_none()
            && ended.expires_at().is_none_or(|end| world.now() < end)
            && self.resends.allow(result.resend)
    }

    fn failed(
        &mut self,
        policy: &Policy,
        bound: u64,
        code: Code,
        result: AttemptResult,
        is_at_limit: bool,
        world: &mut impl World,
    ) {
        let server_delay = policy.heeded(result.server_delay());
        let seen = match self.committed {
            Some(_) if !matches!(result.seen, Seen::Messages { .. }) => Seen::Messages { resumable: false },
            _ => result.seen,
        };
        self.may_be_repetition = policy.may_be_repetition(result);
        if result.delivery != Delivery::Unknown {
            self.not_carried_out = self.not_carried_out.saturating_add(1);
        }
        match gates::pass(policy, code, result.with_seen(seen), is_at_limit, server_delay, world) {
            _ if self.held.is_some() => self.release(),
            Err(StopReason::NonRetryable) if self.holds(policy, result) => {
                self.held = self.last;
                self.hedges.close(Refusal::new(StopReason::NonRetryable));
            }
            Err(reason) => self.refused(policy, reason),
            Ok(()) if policy.hedging.is_some() => {
                self.hedge_after(policy, bound, server_delay, world);
            }
            Ok(()) if result.seen == (Seen::Messages { resumable: true }) => {
                self.committed = None;
                self.forgotten = self.started.saturating_sub(1);
                policy.rules.reset_backoff(&mut self.progress, bound);
                self.follow(policy, bound, AttemptKind::Resume, server_delay, result.end(), world);
            }
            Ok(()) => self.follow(policy, bound, AttemptKind::Retry, server_delay, result.end(), world),
        }
    }

    /// The rule set says whether another attempt follows, and when. `ended_at` is in nanoseconds; [`FOREVER`] is just now.
    fn follow(
        &mut self,
        policy: &Policy,
        bound: u64,
        kind: AttemptKind,
        server_delay: ServerDelay,
        ended_at: u64,
        world: &mut impl World,
    ) {
        let is_now = ended_at == FOREVER;
        let now = if is_now { limited(world.now()) } else { ended_at };
        let counted = self.started.saturating_sub(self.forgotten);
        let ask = Ask { counted, now, bound, server_delay, longest: policy.max_server_delay };
        match policy.rules.next(&mut self.progress, ask, world.jitter()) {
            // Another operation may have taken the last one meanwhile.
            Ok(_) if kind != AttemptKind::Poll && !policy.takes_retry(world) => {
                self.stop(StopReason::Throttled);
            }
            Ok(Wait(delay)) => {
                let mut at = after(now, delay);
                if !is_now {
                    at = at.max(limited(world.now()));
                }
                self.due = Some(Due::After { kind, delay, at });
            }
            Err(refusal) => self.refuse(refusal),
        }
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
            _ => policy.start(&mut self.progress, self.started == 0, now, bound),
        };
        match started {
            Ok(timeout) => {
                self.resends.begin_attempt();
                self.started = self.started.saturating_add(1);
                self.hedges.clear();
                if policy.hedging.is_some()
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

    /// An attempt in flight that can't win any more. It is told once.
    fn loser(&mut self) -> Option<u32> {
        let loser = match (self.end, self.committed) {
            (Some(_), _) => self.in_flight.remove_other_than(None),
            (None, Some(winner)) => self.in_flight.remove_other_than(Some(winner)),
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

    pub(super) fn stop(&mut self, reason: StopReason) {
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
        self.end.get_or_insert(end);
        self.due = None;
        self.hedges.clear();
    }
}
