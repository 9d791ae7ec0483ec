//! What every rule set has in common: the questions that come before time and the number of attempts.

use super::{AttemptResult, Policy, Replayable, Seen, World};
use crate::operation::CommitPoint;
use crate::{Code, ServerDelay, StopReason};

/// Asks a failed attempt, in order: committed, drain the budget, retryable, idempotent, replayable, the
/// server's never, inside a retry, throttled. `server_delay` is what remains of the server's wishes by the policy.
///
/// # Errors
///
/// Why it is not retried.
pub(super) fn pass(
    policy: &Policy,
    code: Code,
    result: AttemptResult,
    server_delay: ServerDelay,
    world: &mut impl World,
) -> Result<(), StopReason> {
    if is_committed(policy, result) {
        return Err(StopReason::Committed);
    }
    let retryable = policy.retryable(code, result.retry);
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

/// Whether the caller has seen a part of the response, which no other attempt could take back, or the server was sent more
/// of the request than another attempt could be.
fn is_committed(policy: &Policy, result: AttemptResult) -> bool {
    if result.replayable == Replayable::OverLimit {
        return true;
    }
    match result.seen {
        Seen::Nothing => false,
        Seen::Headers => policy.commits_at == CommitPoint::Headers,
        // A hedged operation has no single stream that could be resumed.
        Seen::Messages { resumable } => !resumable || policy.hedging.is_some(),
    }
}
