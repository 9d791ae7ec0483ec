//! The gates of every rule set: the questions that come before time and the number of attempts.

use super::{AttemptResult, Policy, Replayable, RetryFact, Seen, World};
use crate::operation::CommitPoint;
use crate::{Code, ServerDelay, StopReason};

/// Asks a failed attempt, in order: ended with the operation's time, committed, drain the budget, retryable, idempotent,
/// replayable, the server's never, inside a retry, throttled. `server_delay` is what remains of the server's wishes by the
/// policy; `is_at_limit` says that our own clock ended the attempt, with the operation's time.
///
/// # Errors
///
/// Why it is not retried.
pub(super) fn pass(
    policy: &Policy,
    code: Code,
    result: AttemptResult,
    is_at_limit: bool,
    server_delay: ServerDelay,
    world: &mut impl World,
) -> Result<(), StopReason> {
    if is_at_limit {
        return Err(StopReason::TotalTimeout);
    }
    let is_asked = matches!(server_delay, ServerDelay::AtLeast(_) | ServerDelay::Exactly(_));
    let retryable = policy.retryable(code, result.retry, is_asked);
    if is_committed(policy, result) {
        return Err(after_commit(retryable));
    }
    let never = server_delay == ServerDelay::Never;
    if let Some(budget) = &policy.budget
        && (retryable.is_ok() || never)
    {
        budget.failed();
    }
    retryable?;
    if !result.is_repeatable() {
        return Err(StopReason::NonRetryable);
    }
    if result.replayable == Replayable::No {
        return Err(StopReason::NotReplayable);
    }
    if never {
        return Err(StopReason::Pushback);
    }
    if policy.is_inside_retry() {
        return Err(StopReason::NestedRetry);
    }
    if policy.allows(world) { Ok(()) } else { Err(StopReason::Throttled) }
}

/// A code that isn't retryable wins over what is committed.
fn after_commit(retryable: Result<(), StopReason>) -> StopReason {
    retryable.err().unwrap_or(StopReason::Committed)
}

impl Policy {
    /// Why an operation ends whose response was handed on before its end, and then failed with that code. `is_at_limit` says
    /// that our own clock ended it, with the [operation's time](super::Operation::has_all_the_time).
    #[must_use]
    pub fn reason_after_commit(&self, code: Code, is_at_limit: bool) -> StopReason {
        if is_at_limit {
            StopReason::TotalTimeout
        } else {
            after_commit(self.retryable(code, RetryFact::ByCode, false))
        }
    }
}

/// Returns whether the caller has seen a part of the response, which no other attempt could take back, or the server was sent more
/// of the request than another attempt could be.
fn is_committed(policy: &Policy, result: AttemptResult) -> bool {
    if result.replayable == Replayable::OverLimit {
        return true;
    }
    match result.seen {
        Seen::Nothing | Seen::Begun => false,
        Seen::Headers => policy.commits_at == CommitPoint::Headers,
        Seen::Messages { resumable } => !resumable,
    }
}
