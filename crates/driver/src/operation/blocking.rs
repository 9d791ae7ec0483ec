//! An operation that blocks its thread: the driver's loop without a task.

use super::in_progress::InProgress;
use super::inbound::Inbound;
use super::jitter::Jitter;
use super::stacked::{self, counted};
use gax_retry::operation::{Action, AttemptResult, End, Ready, Stop};
use gax_retry::{Code, Policy, StartedAttempt, StopReason};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Runs attempts until the operation has ended. Nothing can cut one off that blocks: it is treated as what it says
/// when it returns. If the thread works for a request, the operation has no more time than that and no attempt follows its
/// end. `observe` installs those who are notified of the operation. The second part of the result says why it failed, if it did.
pub(crate) fn run_blocking(
    policy: &Policy,
    jitter: Jitter,
    observe: impl FnOnce(&mut InProgress),
    mut attempt: impl FnMut(StartedAttempt) -> AttemptResult,
) -> (InProgress, Option<Stop>) {
    let inbound = Inbound::current();
    let mut progress = InProgress::new();
    progress.begin(jitter);
    observe(&mut progress);
    let ready = if inbound.is_ended() { Ready::Never(StopReason::Cancelled) } else { Ready::Now };
    let mut action = progress.start(policy, inbound.time_left(), ready);
    loop {
        match action {
            Action::Send(started) => {
                progress.sends(started);
                if started.number() > 1 {
                    stacked::count();
                }
                let result = if started.has_no_time() {
                    AttemptResult::failed(Code::DeadlineExceeded).with_timed_out()
                } else {
                    let entered = progress.enter(started.number());
                    let (result, retries) = counted(|| attempt(started));
                    drop(entered);
                    if retries > 0 {
                        progress.retried_inside(policy, retries);
                    }
                    result
                };
                if progress.ended(policy, started.number(), result) {
                    if let Some(observed) = progress.take_observed() {
                        observed.succeeded();
                    }
                    return (progress, None);
                }
            }
            Action::Wait(until) => wait(until.unwrap_or_default(), &mut progress, &inbound),
            Action::Expire(_) | Action::Cancel(_) | Action::Finish(End::Reply(_)) => {}
            Action::Finish(End::Failure(stop)) => return (progress, Some(stop)),
        }
        if inbound.is_ended() {
            progress.cancel(policy);
        }
        action = progress.next(policy);
    }
}

/// Waits until that moment, or until the request has ended.
fn wait(until: Duration, progress: &mut InProgress, inbound: &Inbound) {
    let mut left = until.saturating_sub(progress.elapsed());
    let Some(end) = inbound.end() else {
        return thread::sleep(left);
    };
    let mut end = pin!(end);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    while !left.is_zero() && end.as_mut().poll(&mut context) == Poll::Pending {
        thread::park_timeout(left);
        left = until.saturating_sub(progress.elapsed());
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
