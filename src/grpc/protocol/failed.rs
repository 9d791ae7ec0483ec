//! The facts of an attempt that brought no good response.

use super::grpc_protocol::GrpcProtocol;
use crate::grpc::methods::MethodConfig;
use crate::grpc::request::ReplayableRequest;
use crate::grpc::response::{Fault, Remainder, ResponseBody};
use crate::grpc::status::cause::{Nature, Progress};
use crate::grpc::status::{Failure, Messages};
use crate::grpc::transport::ServiceHandle;
use crate::note;
use gax_driver::protocol::{AttemptContext, Driver, Protocol};
use gax_driver::{Note, OperationError};
use gax_retry::operation::{AttemptResult, Replayable, Resend, RetryFact, Seen, Stop};
use gax_retry::{Code, Delivery, StartedAttempt, StopReason};
use gax_wire::__private::{Reach, time_is_up};
use gax_wire::ConnectProblem;
use std::pin::Pin;
use std::sync::Arc;
use tonic::Status;
use tonic::codegen::StdError;

/// A protocol whose operations fail with a status: the facts of its attempts' failures, the last of which is kept.
pub trait Failing: Protocol<Config = MethodConfig> {
    /// The failure that the last attempt ended with.
    fn kept(&mut self) -> &mut Option<Box<Failure>>;

    /// That attempt has failed. Whether its request can be sent again.
    fn replayable(&mut self, _: &MethodConfig, _: &mut AttemptContext<'_>) -> Replayable {
        Replayable::Yes
    }

    /// Why the request can't be read to its end.
    fn unreadable_request(&self) -> Option<Status> {
        None
    }

    /// The attempt has ended by our own clock. Returns whether it was never sent.
    fn give_up(&mut self, _: &Self::Attempt) -> bool {
        false
    }

    /// An attempt of it, for the facts of its end.
    fn at<'a, 'b>(
        &'a mut self,
        config: &'a MethodConfig,
        context: &'a mut AttemptContext<'b>,
    ) -> AttemptParts<'a, 'b, Self>
    where
        Self: Sized,
    {
        AttemptParts { protocol: self, config, context }
    }
}

/// An attempt as its protocol has it when it ends.
pub struct AttemptParts<'a, 'b, P> {
    pub protocol: &'a mut P,
    pub config: &'a MethodConfig,
    pub context: &'a mut AttemptContext<'b>,
}

impl<P: Failing> AttemptParts<'_, '_, P> {
    /// The facts of an attempt that ended with that failure, which is kept.
    pub fn ended(&mut self, mut failure: Box<Failure>, seen: Seen) -> AttemptResult {
        let replayable = self.protocol.replayable(self.config, self.context);
        let result = AttemptResult::failed(failure.code).with_seen(seen).with_replayable(replayable);
        let result = result.with_repetition(self.config.repetition());
        let kept = self.protocol.kept();
        if kept.as_ref().is_none_or(|before| !before.is_held) {
            let mut before = kept.take();
            if self.config.policy.hedging().is_some()
                && let Some(before) = &mut before
            {
                // This attempt was sent before that one ended.
                before.take_messages();
            }
            failure.follow(before);
            *kept = Some(failure);
        }
        result
    }

    pub fn timed_out(&mut self, seen: Seen) -> AttemptResult {
        let timeout = self.context.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        self.ended(Box::new(Failure::timed_out(timeout)), seen).with_timed_out()
    }

    /// The attempt ended with a status, or with a response that has none.
    pub fn failed(&mut self, failure: Box<Failure>, seen: Seen) -> AttemptResult {
        let may_be_ours = self.config.shared.replay.map_timeout_cancellations;
        if may_be_ours && failure.is_server_timeout() && time_is_up(self.context) {
            self.context.note(note::COUNTED_AS_DEADLINE_EXCEEDED);
            return self.timed_out(seen);
        }
        let server_delay = failure.server_delay();
        self.ended(failure, seen).with_server_delay(server_delay)
    }

    /// The service below was not ready to take the request, and has failed.
    #[cold]
    pub fn not_ready(&mut self, error: StdError) -> AttemptResult {
        self.lost(error, Seen::Nothing, Progress::NotReady)
    }

    /// The connection, the stream or a layer below broke.
    pub fn broken(&mut self, error: StdError, seen: Seen) -> AttemptResult {
        self.lost(error, seen, if seen == Seen::Nothing { Progress::Sent } else { Progress::Begun })
    }

    fn lost(&mut self, error: StdError, seen: Seen, progress: Progress) -> AttemptResult {
        if let Some(status) = self.protocol.unreadable_request() {
            // Our own reset, since there is nothing to continue with.
            return self.end_with(status);
        }
        let problem = ConnectProblem::behind(&*error);
        let (failure, classification) = Failure::transport(error, progress);
        let failure = Box::new(failure);
        if let Some(problem) = problem {
            self.context.note(problem.note());
            if !problem.may_recover() {
                return self.permanent(failure).with_delivery(Delivery::NotSent);
            }
        }
        let reach = classification.reach;
        match classification.nature {
            Nature::CancelledByServer if time_is_up(self.context) => {
                self.context.note(note::COUNTED_AS_DEADLINE_EXCEEDED);
                return self.timed_out(seen);
            }
            // tonic's own timer, which the header of the attempt has set.
            Nature::TimedOut if time_is_up(self.context) => return self.timed_out(seen),
            Nature::TimedOut => {
                self.context.note(Note::INNER_TIMEOUT);
            }
            Nature::Plain | Nature::CancelledByServer => {}
            Nature::Unreadable => return self.unreadable(failure),
            Nature::Final => return self.permanent(failure).with_delivery(reach.delivery()),
            Nature::ClosedByUs(code) => return self.closed_by_us(failure, code, seen),
        }
        let result = self.ended(failure, seen).with_delivery(reach.delivery());
        match reach {
            Reach::NeverSent => result.with_resend(Resend::Lost),
            Reach::Refused => result.with_resend(Resend::Refused),
            Reach::Unconnected | Reach::MaybeSent => result,
            Reach::ChannelClosed => result.with_retry(RetryFact::No(StopReason::ChannelClosed)),
        }
    }

    /// The response can't be read, and no other attempt would read it better.
    pub fn unreadable(&mut self, failure: Box<Failure>) -> AttemptResult {
        self.context.note(Note::UNREADABLE_RESPONSE);
        self.permanent(failure)
    }

    /// No other attempt can do better, regardless of its code.
    #[cold]
    pub fn permanent(&mut self, failure: Box<Failure>) -> AttemptResult {
        self.ended(failure, Seen::Nothing).with_retry(RetryFact::No(StopReason::NonRetryable))
    }

    /// Our own stack has closed the connection, for this response or for another one on it. If no other one was, that code is the
    /// error's.
    #[cold]
    fn closed_by_us(&mut self, mut failure: Box<Failure>, code: Code, seen: Seen) -> AttemptResult {
        if self.context.is_alone() {
            failure.code = code;
            return self.unreadable(failure);
        }
        self.context.note(Note::CONNECTION_CLOSED_FOR_A_RESPONSE);
        let result = self.ended(failure, seen);
        if self.config.policy.permits(result) { result.with_retry(RetryFact::ClosedByUs) } else { result }
    }

    /// No other attempt can do better than end with that status.
    #[cold]
    pub fn end_with(&mut self, status: Status) -> AttemptResult {
        self.permanent(Box::new(Failure::transport(status.into(), Progress::Sent).0))
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest> AttemptParts<'_, '_, GrpcProtocol<A, Q>> {
    /// The response can't be handed to the caller.
    #[cold]
    pub fn faulty(&mut self, fault: Fault) -> AttemptResult {
        match fault {
            Fault::Failed(failure) => self.failed(failure, Seen::Headers),
            Fault::Broke(error, None) => self.broken(error, Seen::Headers),
            Fault::Broke(error, messages) => self.broken_behind(error, messages),
            Fault::Unreadable(failure) => self.unreadable(failure),
        }
    }

    /// It broke behind messages that the caller could have read.
    #[cold]
    fn broken_behind(&mut self, error: StdError, messages: Option<Messages>) -> AttemptResult {
        let result = self.broken(error, Seen::Headers);
        if let Some(failure) = &mut self.protocol.failure {
            failure.put_behind(messages);
        }
        result
    }
}

/// The result of an operation that has failed: its status, or the messages that came before that.
#[cold]
pub(crate) fn failed_call<A: ServiceHandle, Q: ReplayableRequest>(
    mut driver: Pin<&mut Driver<GrpcProtocol<A, Q>>>,
    stop: Stop,
) -> Result<http::Response<ResponseBody>, Status> {
    let failure = &mut driver.as_mut().protocol().failure;
    let Some(messages) = failure.as_mut().and_then(|failure| failure.take_messages()) else {
        return Err(end_status(driver, stop));
    };
    driver.as_mut().note(note::FAILED_BEHIND_MESSAGES);
    let status = end_status(driver, stop);
    let report = OperationError::of(&status).map(|error| error.report().clone());
    let mut response =
        (*messages).map(|frames| ResponseBody::new(frames, Remainder::Failed(Box::new(status))));
    if let Some(report) = report {
        response.extensions_mut().insert(report);
    }
    Ok(response)
}

/// The status of an operation that has failed.
#[cold]
pub fn end_status<P: Failing>(mut driver: Pin<&mut Driver<P>>, stop: Stop) -> Status {
    let report = driver.as_mut().failed(stop);
    let config = Arc::clone(driver.config());
    Failure::at_end(driver.protocol().kept().take(), config.policy.problem(), stop).into_status(report)
}
