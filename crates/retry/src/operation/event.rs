//! The events that observers are notified of, in the order of gax's tracers.

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
    /// It is sent again as if it had never been sent: a transparent retry.
    TransparentRetry(StartedAttempt),
    /// Its server asks for a delay, or for no further attempt.
    PushbackReceived(Attempt, ServerDelay),
    /// It would be retried, but the retry budget is exhausted.
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
    /// Without one, and the operation continues: after this delay, or, if it is `None`, with the attempts that are
    /// still in flight.
    Failed(Option<Duration>),
    /// With an error that is retried, but a limit, the budget or the server allows no further attempt.
    RetriesExhausted(StopReason),
    /// With an error that is not retried.
    PermanentFailure(StopReason),
    /// It was dropped: another attempt won, or the caller wants no result any longer.
    Cancelled,
}

impl Event {
    /// The event of an attempt that is sent.
    #[must_use]
    pub fn started(attempt: StartedAttempt) -> Self {
        match attempt.kind() {
            AttemptKind::Resend => Event::TransparentRetry(attempt),
            _ => Event::Started(attempt),
        }
    }

    /// The events of an attempt that has ended so, made once [`Operation::ended`] was reported and before
    /// [`Operation::next`] is asked.
    ///
    /// There is none of an attempt whose request is sent again immediately: it hasn't ended.
    pub fn ended<N>(
        policy: &Policy,
        operation: &Operation<N>,
        attempt: &Attempt,
        result: AttemptResult,
        notify: &mut dyn FnMut(Event),
    ) {
        let follow_up = operation.follow_up();
        if follow_up == FollowUp::Resend {
            return;
        }
        let asked = policy.heeded(result.server_delay());
        if asked != ServerDelay::None && matches!(result.outcome, Outcome::Failed(_)) {
            notify(Event::PushbackReceived(attempt.clone(), asked));
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
            notify(Event::RetryThrottled(attempt.clone()));
        }
        notify(Event::Ended(attempt.clone(), end));
    }

    /// The event of an attempt in flight that is dropped at that time.
    #[must_use]
    pub fn cancelled(attempt: StartedAttempt, now: Duration) -> Self {
        let attempt = Attempt::new(attempt, now, Code::Cancelled);
        Event::Ended(attempt, AttemptEnd::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Resend;
    use crate::operation::tests::ByHand;
    use crate::{Hedging, RetryBudget, RetrySettings};

    const MS: Duration = Duration::from_millis(1);

    /// Three attempts, UNAVAILABLE is retried after 100 ms.
    fn policy() -> Policy {
        let settings =
            RetrySettings::builder().max_attempts(3).initial_retry_delay(100 * MS).build().unwrap();
        Policy::new(&settings, Code::Unavailable)
    }

    fn unavailable() -> AttemptResult {
        AttemptResult::failed(Code::Unavailable)
    }

    /// The events of a first attempt that ends so.
    fn events(policy: &Policy, result: AttemptResult) -> Vec<Event> {
        let mut operation = ByHand::begin(policy);
        let attempt = operation.send();
        events_of(policy, &mut operation, attempt, result)
    }

    fn events_of(
        policy: &Policy,
        operation: &mut ByHand,
        attempt: StartedAttempt,
        result: AttemptResult,
    ) -> Vec<Event> {
        operation.ended(attempt.number(), result);
        let mut events = Vec::new();
        Event::ended(policy, operation.operation(), &row(attempt), result, &mut |event| events.push(event));
        events
    }

    fn row(attempt: StartedAttempt) -> Attempt {
        Attempt::new(attempt, attempt.start(), Code::Unavailable)
    }

    fn ended(attempt: &Attempt, end: AttemptEnd) -> Event {
        Event::Ended(attempt.clone(), end)
    }

    /// The row of a first attempt of that policy.
    fn first(policy: &Policy) -> Attempt {
        row(ByHand::begin(policy).send())
    }

    #[test]
    fn attempts_and_transparent_retries_start_by_different_names() {
        let policy = policy();
        let mut operation = ByHand::begin(&policy);
        let attempt = operation.send();
        assert_eq!(Event::started(attempt), Event::Started(attempt));

        let lost = unavailable().with_resend(Resend::Lost);
        assert_eq!(events_of(&policy, &mut operation, attempt, lost), []);
        let again = operation.send();
        assert_eq!(Event::started(again), Event::TransparentRetry(again));
    }

    #[test]
    fn an_attempt_ends_by_what_comes_after_it() {
        let policy = policy();
        let attempt = first(&policy);
        for (result, end) in [
            (AttemptResult::done(), AttemptEnd::Succeeded),
            (unavailable(), AttemptEnd::Failed(Some(100 * MS))),
            (AttemptResult::failed(Code::Internal), AttemptEnd::PermanentFailure(StopReason::NonRetryable)),
        ] {
            assert_eq!(events(&policy, result), [ended(&attempt, end)]);
        }
        let single = policy.clone().without_retries();
        let exhausted = AttemptEnd::RetriesExhausted(StopReason::MaxAttempts);
        assert_eq!(events(&single, unavailable()), [ended(&attempt, exhausted)]);
    }

    #[test]
    fn a_server_s_delay_is_reported_before_the_end_of_its_attempt() {
        let policy = policy();
        let attempt = first(&policy);
        let later = ServerDelay::Exactly(70 * MS);
        let pushback = |asked| Event::PushbackReceived(attempt.clone(), asked);
        assert_eq!(
            events(&policy, unavailable().with_server_delay(later)),
            [pushback(later), ended(&attempt, AttemptEnd::Failed(Some(70 * MS)))]
        );
        let never = ServerDelay::Never;
        assert_eq!(
            events(&policy, unavailable().with_server_delay(never)),
            [pushback(never), ended(&attempt, AttemptEnd::RetriesExhausted(StopReason::Pushback))]
        );
        // A reply brings nothing to wait for, and rules that heed no server have nothing to report of one.
        assert_eq!(
            events(&policy, AttemptResult::done().with_server_delay(later)),
            [ended(&attempt, AttemptEnd::Succeeded)]
        );
        assert_eq!(
            events(&policy.clone().with_server_delays(false), unavailable().with_server_delay(later)),
            [ended(&attempt, AttemptEnd::Failed(Some(100 * MS)))]
        );
    }

    #[test]
    fn a_retry_that_the_budget_withholds_is_reported_before_the_end() {
        let policy = policy().with_budget(RetryBudget::tokens(2, 1.0));
        let attempt = first(&policy);
        let throttled = AttemptEnd::RetriesExhausted(StopReason::Throttled);
        assert_eq!(
            events(&policy, unavailable()),
            [Event::RetryThrottled(attempt.clone()), ended(&attempt, throttled)]
        );
    }

    #[test]
    fn an_attempt_that_leaves_another_one_in_flight_has_failed_with_nothing_to_wait_for() {
        let settings = RetrySettings::no_retry(Duration::from_secs(5));
        let policy = Policy::new(&settings, crate::CodeSet::EMPTY)
            .with_hedging(Hedging::new(2).delay(10 * MS).non_fatal_codes(Code::Unavailable));
        let mut operation = ByHand::begin(&policy);
        let original = operation.send();
        let until = operation.wait();
        let hedge = operation.at(until).send();
        assert_eq!(Event::started(hedge), Event::Started(hedge));
        assert_eq!(
            events_of(&policy, &mut operation, original, unavailable()),
            [ended(&row(original), AttemptEnd::Failed(None))]
        );
        let end = Attempt::new(hedge, 25 * MS, Code::Cancelled);
        assert_eq!((end.delay(), end.start(), end.end()), (10 * MS, 10 * MS, 25 * MS));
        assert_eq!(Event::cancelled(hedge, 25 * MS), ended(&end, AttemptEnd::Cancelled));
    }
}
