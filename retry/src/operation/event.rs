//! What observers are told of attempts, in the order of gax's tracers.

use super::action::FollowUp;
use super::{AttemptResult, End, Operation, Outcome, Policy};
use crate::{Attempt, AttemptKind, Code, ServerDelay, StartedAttempt, StopReason};
use std::time::Duration;

/// Something that happened to an attempt.
///
/// Drivers and simulations make events by the same two functions, [`Event::started`] and [`Event::ended`], so that
/// observers, recorded cases and plans can't disagree about their order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever passes events on has to pass on every kind")]
pub enum Event {
    /// It starts.
    Started(StartedAttempt),
    /// It is sent once more as if it had never been sent: a transparent retry.
    TransparentRetry(StartedAttempt),
    /// Its server asks for a delay, or for no further attempt.
    PushbackReceived(Attempt, ServerDelay),
    /// It would be retried, but the retry budget is spent.
    RetryThrottled(Attempt),
    /// It has ended.
    Ended(Attempt, AttemptEnd),
}

/// How an attempt ended, in the words of gax's tracers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever passes events on has to pass on every kind")]
pub enum AttemptEnd {
    /// With the reply.
    Succeeded,
    /// Without one, and the operation goes on: after this delay, or, where it is `None`, with the attempts that are
    /// still in flight.
    Failed(Option<Duration>),
    /// With an error that is retried, but a limit, the budget or the server allows no further attempt.
    RetriesExhausted(StopReason),
    /// With an error that is not retried.
    PermanentFailure(StopReason),
    /// It was dropped: another attempt won, or the caller wants no result any more.
    Cancelled,
}

impl Event {
    /// What is told as an attempt is sent.
    #[must_use]
    pub fn started(attempt: StartedAttempt) -> Self {
        match attempt.kind() {
            AttemptKind::Resend => Event::TransparentRetry(attempt),
            _ => Event::Started(attempt),
        }
    }

    /// What is told of an attempt that has ended so, once [`Operation::ended`] was told and before
    /// [`Operation::next`] is asked.
    ///
    /// Of an attempt that is sent once more in silence nothing is told: it hasn't ended.
    pub fn ended(
        policy: &Policy,
        operation: &Operation,
        attempt: &Attempt,
        result: AttemptResult,
        tell: &mut dyn FnMut(Event),
    ) {
        let follow_up = operation.follow_up();
        if follow_up == FollowUp::Resend {
            return;
        }
        let asked = policy.heeded(result.server_delay());
        if asked != ServerDelay::None && matches!(result.outcome, Outcome::Failed(_)) {
            tell(Event::PushbackReceived(attempt.clone(), asked));
        }
        let end = match (result.outcome, follow_up) {
            (Outcome::Done, _) => AttemptEnd::Succeeded,
            (_, FollowUp::Attempt(delay)) => AttemptEnd::Failed(Some(delay)),
            (_, FollowUp::End(End::Failure(stop))) if stop.reason().is_of_retries() => {
                AttemptEnd::RetriesExhausted(stop.reason())
            }
            (_, FollowUp::End(End::Failure(stop))) => AttemptEnd::PermanentFailure(stop.reason()),
            (_, FollowUp::InFlight | FollowUp::Resend | FollowUp::End(End::Reply(_))) => {
                AttemptEnd::Failed(None)
            }
        };
        if end == AttemptEnd::RetriesExhausted(StopReason::Throttled) {
            tell(Event::RetryThrottled(attempt.clone()));
        }
        tell(Event::Ended(attempt.clone(), end));
    }

    /// What is told of an attempt in flight that is dropped at that time.
    #[must_use]
    pub fn cancelled(attempt: StartedAttempt, now: Duration) -> Self {
        let attempt = Attempt::new(attempt, attempt.delay(), attempt.start(), now, Code::Cancelled);
        Event::Ended(attempt, AttemptEnd::Cancelled)
    }
}
