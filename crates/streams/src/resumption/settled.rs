//! An attempt of a stream that failed, and what its strategy makes of it.

use crate::resumption::resumer::{FailureDecision, Resumer};
use crate::resumption::strategy::StreamResumption;
use gax_driver::protocol::AttemptContext;
use gax_retry::operation::{AttemptResult, Resend, RetryFact};
use gax_retry::{Policy, StopReason};
use tonic::Status;
use tonic_gax::note;

impl<Q, M, S: StreamResumption<Request = Q, Response = M> + ?Sized> Resumer<Q, M, S> {
    /// An attempt has failed. The strategy says whether the stream is resumed, unless the policy rules that out. Returns the facts
    /// as it has them, and the request of the next attempt, if one follows; `None`: that of the previous one.
    pub(crate) fn settle(
        &mut self,
        policy: &Policy,
        mut result: AttemptResult,
        failure: &Status,
        context: &mut AttemptContext<'_>,
    ) -> (AttemptResult, Option<Q>) {
        if result.retry() == RetryFact::ByCode
            && let Some(is_retryable) = self.is_retryable(failure)
        {
            let not = RetryFact::No(StopReason::NonRetryable);
            result = result.with_retry(if is_retryable { RetryFact::Yes } else { not });
        }
        // A request that was provably not sent is sent again as it is.
        if result.resend() != Resend::No || !policy.permits(result) {
            return (result, None);
        }
        match self.ask(failure) {
            FailureDecision::Again(next) => (result, next),
            FailureDecision::Stop => {
                context.note(note::NOT_RESUMED);
                let has_delivered = self.has_delivered();
                let reason = if has_delivered { StopReason::Committed } else { StopReason::NonRetryable };
                (result.with_retry(RetryFact::No(reason)), None)
            }
        }
    }
}
