//! An attempt of a stream that failed, and what its strategy makes of it.

use crate::operation::Note;
use crate::resumption::resumer::{Asked, Resumer};
use crate::resumption::strategy::StreamResumption;
use gax_retry::operation::{AttemptResult, RetryFact, Seen};
use gax_retry::{Compatibility, Policy, StopReason};
use tonic::Status;

/// How far the response of an attempt has come. Later points are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Brought {
    Nothing,
    Headers,
    /// Messages, of which the caller has none.
    Messages,
    /// Messages for the caller.
    Delivered,
}

impl Brought {
    /// As much as that counts by those rules, of a stream that can be taken up.
    pub(crate) fn seen(self, compatibility: Compatibility) -> Seen {
        match self {
            Brought::Nothing => Seen::Nothing,
            Brought::Delivered => Seen::Messages { resumable: true },
            // Java counts any message as progress, whether the caller gets it or not.
            Brought::Messages if compatibility == Compatibility::GaxJava => {
                Seen::Messages { resumable: true }
            }
            Brought::Headers | Brought::Messages => Seen::Begun,
        }
    }
}

/// The facts of an attempt that failed, as its strategy has them.
#[derive(Debug)]
pub(crate) struct Settled<Q> {
    pub(crate) result: AttemptResult,
    /// The request of the next attempt, if one follows; `None`: that of the one before.
    pub(crate) next: Option<Q>,
    /// The strategy has stopped the stream.
    pub(crate) note: Option<Note>,
}

impl<Q, M, S: StreamResumption<Request = Q, Response = M> + ?Sized> Resumer<Q, M, S> {
    /// An attempt has failed. The strategy says whether the stream is taken up, unless the policy rules that out.
    pub(crate) fn settle(
        &mut self,
        policy: &Policy,
        mut result: AttemptResult,
        failure: &Status,
    ) -> Settled<Q> {
        if result.retry() == RetryFact::ByCode
            && let Some(is_retryable) = self.is_retryable(failure)
        {
            let not = RetryFact::No(StopReason::NonRetryable);
            result = result.with_retry(if is_retryable { RetryFact::Yes } else { not });
        }
        // A request that was provably not sent goes out again as it is.
        if result.resends() || !policy.permits(result) {
            return Settled { result, next: None, note: None };
        }
        match self.ask(failure) {
            Asked::Again(next) => Settled { result, next, note: None },
            Asked::Stop => {
                let has_delivered = self.has_delivered();
                let reason = if has_delivered { StopReason::Committed } else { StopReason::NonRetryable };
                let result = result.with_retry(RetryFact::No(reason));
                Settled { result, next: None, note: Some(Note::NotResumed) }
            }
        }
    }
}

/// More was withheld than is allowed.
#[cold]
pub(crate) fn withheld_too_much() -> Status {
    Status::resource_exhausted("more of the stream was withheld than its resumption allows")
}
