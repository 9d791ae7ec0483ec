//! An operation that blocks its thread: the same as the driver's, without a task.

use super::in_progress::InProgress;
use super::jitter::Jitter;
use gax_retry::{Action, AttemptResult, End, Policy, StartedAttempt, Stop};

/// Runs attempts until the operation has ended. Nothing can cut one off that blocks: it counts as what it says
/// when it returns. `observe` installs those who are told of it. The second part of the result says why it failed, if it did.
pub(crate) fn run_blocking(
    policy: &Policy,
    jitter: Jitter,
    observe: impl FnOnce(&mut InProgress),
    mut attempt: impl FnMut(StartedAttempt) -> AttemptResult,
) -> (InProgress, Option<Stop>) {
    let mut progress = InProgress::new(policy);
    progress.begin(policy, None, jitter);
    observe(&mut progress);
    loop {
        match progress.next(policy) {
            Action::Send(started) => {
                let result = progress.send(started, policy, |_| attempt(started));
                progress.ended(policy, result);
            }
            Action::Wait(until) => {
                let wait = until.unwrap_or_default().saturating_sub(progress.elapsed());
                std::thread::sleep(wait);
            }
            Action::Expire(_) | Action::Cancel(_) => {}
            Action::Finish(End::Reply(_)) => {
                if let Some(observed) = progress.take_observed() {
                    observed.succeeded();
                }
                return (progress, None);
            }
            Action::Finish(End::Failure(stop)) => return (progress, Some(stop)),
        }
    }
}
