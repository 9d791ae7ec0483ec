//! A call's strategy at work.
#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "partly for the crates of this repository alone"
)]
#![allow(missing_debug_implementations, reason = "for the crates of this repository alone")]

use crate::resumption::Resumption;
use crate::resumption::strategy::{Resume, StreamResumption};
use crate::resumption::withheld::{Full, Withheld, WithheldLimits};
use gax_driver::protocol::AttemptContext;
use gax_retry::operation::{AttemptResult, Resend, RetryFact};
use gax_retry::{Policy, StopReason};
use tonic::Status;
use tonic_gax::note;

/// After how many messages in a row that the caller does not get other tasks have their turn.
const YIELD_EVERY: u8 = 32;

/// The strategy of a call, and the messages that it withholds.
pub struct Resumer<Q, M, S = dyn StreamResumption<Request = Q, Response = M>>
where
    S: StreamResumption<Request = Q, Response = M> + ?Sized,
{
    /// `None`: gax-java's own, by which a stream is final from its first message on.
    strategy: Option<Box<S>>,
    withheld: Withheld<M>,
    has_delivered: bool,
    /// Messages that the caller did not get since other tasks last had their turn.
    kept: u8,
    /// The next attempt starts again.
    is_anew: bool,
    restarts: u64,
}

/// A message that the strategy was asked about.
#[derive(Debug, PartialEq, Eq)]
pub enum MessageDecision<M> {
    /// It goes to the caller.
    Deliver(M),
    /// The caller gets nothing for now.
    Kept,
    /// Nor does it now, and it has not for so long that other tasks are to have their turn.
    KeptForLong,
    /// There is no room for it.
    Full,
}

/// The strategy's reply to a failure.
#[derive(Debug, PartialEq, Eq)]
pub enum FailureDecision<Q> {
    /// Another attempt, with that request; `None`: with the previous one.
    Again(Option<Q>),
    /// None.
    Stop,
}

impl<Q, M, S: StreamResumption<Request = Q, Response = M> + ?Sized> Resumer<Q, M, S> {
    /// `resumption` has the limits, and made the strategy.
    pub fn new(strategy: Option<Box<S>>, resumption: Option<&Resumption>) -> Self {
        Self::within(strategy, resumption.map(|resumption| resumption.limits).unwrap_or_default())
    }

    /// A strategy that withholds no more than that.
    pub(crate) fn within(strategy: Option<Box<S>>, limits: WithheldLimits) -> Self {
        Self {
            strategy,
            withheld: Withheld::new(limits),
            has_delivered: false,
            kept: 0,
            is_anew: false,
            restarts: 0,
        }
    }

    /// The strategy itself.
    pub fn strategy(&mut self) -> Option<&mut S> {
        self.strategy.as_deref_mut()
    }

    /// A message has come, of so many bytes.
    #[inline]
    pub fn take(&mut self, mut message: M, size: usize) -> MessageDecision<M> {
        let taken = match &mut self.strategy {
            None => Ok(Some(message)),
            Some(strategy) => {
                let processed = strategy.process(&mut message);
                self.withheld.take(message, size, processed)
            }
        };
        match taken {
            Ok(Some(message)) => {
                self.has_delivered = true;
                self.kept = 0;
                MessageDecision::Deliver(message)
            }
            Ok(None) => {
                self.kept = (self.kept + 1) % YIELD_EVERY;
                if self.kept == 0 { MessageDecision::KeptForLong } else { MessageDecision::Kept }
            }
            Err(Full) => MessageDecision::Full,
        }
    }

    /// A message that was released.
    #[inline]
    pub fn released(&mut self) -> Option<M> {
        self.withheld.pop()
    }

    /// The stream has ended: the caller gets all that was withheld.
    pub fn release(&mut self) {
        self.withheld.release();
    }

    /// All that was withheld, for the caller.
    pub fn drain(&mut self) -> Vec<M> {
        self.release();
        std::iter::from_fn(|| self.released()).collect()
    }

    /// Returns whether that failure is retried; `None`: as its code says.
    pub fn is_retryable(&self, failure: &Status) -> Option<bool> {
        self.strategy.as_ref()?.is_retryable(failure)
    }

    /// An attempt has failed, in a way that is retried.
    pub fn ask(&mut self, failure: &Status) -> FailureDecision<Q> {
        let Some(strategy) = &mut self.strategy else {
            return if self.has_delivered { FailureDecision::Stop } else { FailureDecision::Again(None) };
        };
        match strategy.resume(failure) {
            Resume::Again(request) => FailureDecision::Again(Some(request)),
            Resume::Anew(request) => {
                self.is_anew = true;
                FailureDecision::Again(Some(request))
            }
            Resume::Stop => FailureDecision::Stop,
        }
    }

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

    /// Another attempt begins.
    pub fn begin(&mut self) {
        if std::mem::take(&mut self.is_anew) {
            self.withheld.forget();
            self.restarts += 1;
        }
    }

    gax_text::getters! { self:
        /// Returns whether the caller has got a message.
        pub has_delivered: bool = self.has_delivered;

        /// How often the stream was restarted.
        pub restarts: u64 = self.restarts;
    }
}
