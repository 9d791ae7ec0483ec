//! What few operations have.

use super::{Observed, Outgoing};
use crate::operation::Jitter;
use gax_retry::operation::{AttemptResult, Event, Operation, Stop};
use gax_retry::{Attempt, Policy, StartedAttempt};
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio_util::sync::WaitForCancellationFutureOwned;

/// What few operations have, behind one pointer, which is all that the others pay for it.
#[derive(Default)]
pub(crate) struct Rare {
    /// A sequence that a seed repeats.
    pub(crate) jitter: Jitter,
    /// Those who are told of the operation, until it is closed.
    pub(crate) observed: Option<Box<Observed>>,
    /// Resolves when the request has ended that the operation's thread works for.
    pub(crate) request_end: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Rare {
    /// The operation has no reply.
    #[cold]
    pub(crate) fn failed(&mut self, stop: Stop) {
        if let Some(observed) = self.observed.take() {
            observed.failed(stop);
        }
    }

    /// The attempt of that number was dropped, so long after the operation's start.
    #[cold]
    pub(crate) fn cancelled(&mut self, number: u32, end: Duration) {
        if let Some(observed) = &mut self.observed {
            observed.attempt_cancelled(number, end);
        }
    }

    /// An attempt is sent.
    #[cold]
    pub(crate) fn started(&mut self, attempt: StartedAttempt) {
        if let Some(observed) = &mut self.observed {
            observed.tell(Event::started(attempt));
        }
    }

    /// An attempt has ended, as the operation was told.
    #[cold]
    pub(crate) fn ended<N>(
        &mut self,
        policy: &Policy,
        operation: &Operation<N>,
        attempt: &Attempt,
        result: AttemptResult,
    ) {
        if let Some(observed) = &mut self.observed {
            Event::ended(policy, operation, attempt, result, &mut |event| observed.tell(event));
            if operation.held() == Some(attempt.number()) {
                observed.held(attempt.code());
            }
        }
    }

    /// Whether that request has ended. It is said once.
    pub(crate) fn request_has_ended(&mut self, cx: &mut Context<'_>) -> bool {
        let has_ended = self.request_end.as_mut().is_some_and(|end| end.as_mut().poll(cx).is_ready());
        if has_ended {
            self.request_end = None;
        }
        has_ended
    }

    #[cold]
    pub(crate) fn sending(&mut self, number: u32) -> Option<Box<Outgoing>> {
        self.observed.as_mut()?.sending(number)
    }

    #[cold]
    pub(crate) fn received(&mut self, number: u32, data: &[u8]) {
        if let Some(observed) = &mut self.observed {
            observed.received(number, data);
        }
    }

    #[cold]
    pub(crate) fn committed(&mut self, number: u32) {
        if let Some(observed) = &mut self.observed {
            observed.committed(number);
        }
    }
}
