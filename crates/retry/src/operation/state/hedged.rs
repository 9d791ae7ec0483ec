//! The rules that only hedged operations have.

use super::operation_state::{State, spread_out};
use crate::nanos::{after, limited, nanos};
use crate::operation::{AttemptResult, Policy, RetryFact, World};
use crate::rules::Refusal;
use crate::{AttemptKind, ServerDelay, StartedAttempt, StopReason};
use std::time::Duration;

impl State {
    /// A gate is shut: the operation ends, unless hedges in flight may still win.
    pub(super) fn refused(&mut self, policy: &Policy, reason: StopReason) {
        // Attempts whose time is up at the same moment end one after the other.
        let others_may_win = matches!(
            reason,
            StopReason::TotalTimeout
                | StopReason::Throttled
                | StopReason::Pushback
                | StopReason::NotReplayable
        );
        if policy.hedging.is_some() && others_may_win && !self.in_flight.is_empty() {
            if reason != StopReason::Throttled {
                self.hedges.close(Refusal::new(reason));
            } else if self.started < policy.most_hedged() {
                self.hedges.withhold();
            }
            return;
        }
        self.stop(reason);
    }

    /// Returns whether the failure of the attempt that ended last waits for those that were sent before it: the one that was carried
    /// out may be among them.
    pub(super) fn holds(&self, policy: &Policy, result: AttemptResult) -> bool {
        policy.may_hold(result) && self.last.is_some_and(|last| self.in_flight.has_before(last.get()))
    }

    /// The operation ends with the failure that is held, once no attempt from before it can have a reply any longer.
    pub(super) fn release(&mut self) {
        if let Some(held) = self.held
            && !self.in_flight.has_before(held.get())
        {
            (self.last, self.may_be_repetition) = (Some(held), true);
            self.stop(StopReason::NonRetryable);
        }
    }

    /// A hedge is due: it is sent if the budget allows it, and asked for again later if not.
    #[cold]
    pub(super) fn hedge(
        &mut self,
        policy: &Policy,
        bound: u64,
        now: u64,
        world: &mut impl World,
    ) -> Option<StartedAttempt> {
        if policy.allows(world) && policy.takes_retry(world) {
            return self.start(policy, bound, AttemptKind::Hedge, self.hedges.delay(), now);
        }
        if self.in_flight.is_empty() {
            self.stop(StopReason::Throttled);
        } else {
            self.hedges.withhold();
            // A budget is empty while servers are slow, and many operations wait: they ask ever more rarely.
            let delay = policy.hedging_delay().unwrap_or_default().max(Duration::from_millis(1));
            self.hedges.schedule(now, nanos(delay).max(now / 4));
        }
        None
    }

    /// A failure that does not end the operation: the next hedge is sent immediately, or when the server says.
    #[cold]
    pub(super) fn hedge_after(
        &mut self,
        policy: &Policy,
        bound: u64,
        server_delay: ServerDelay,
        (ended, result): (StartedAttempt, AttemptResult),
        world: &mut impl World,
    ) {
        let now = limited(world.now());
        if result.retry == RetryFact::ClosedByUs {
            let spread = spread_out(policy, bound, 0, ended, now, world);
            self.hedges.hold(now, spread);
        }
        if self.started >= policy.most_hedged() {
            self.hedges.close(Refusal::new(StopReason::MaxAttempts));
        }
        match server_delay {
            ServerDelay::None | ServerDelay::Never => {}
            ServerDelay::Exactly(delay) => self.hedges.hold(now, nanos(delay)),
            ServerDelay::AtLeast(delay) => {
                let spread = policy.spread(delay, now, bound, world.jitter());
                self.hedges.hold(now, spread);
            }
        }
        self.hedges.schedule(now, 0);
        let wait = self.hedges.delay();
        let then = policy.start_hedge(after(now, wait), bound);
        if let Err(refusal) = then
            && wait > 0
        {
            let reason = StopReason::ServerDelayExceedsTotalTimeout;
            self.hedges.close(Refusal { reason, wait: Some(Duration::from_nanos(wait)), ..refusal });
        }
        if let Some(refusal) = self.hedges.closed()
            && self.in_flight.is_empty()
        {
            self.refuse(refusal);
        }
    }
}
