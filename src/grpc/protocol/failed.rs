//! The facts of an attempt that brought no good response.

use super::grpc_protocol::GrpcProtocol;
use crate::grpc::methods::MethodConfig;
use crate::grpc::request::ReplayableRequest;
use crate::grpc::response::{Remainder, ResponseBody};
use crate::grpc::status::cause::Nature;
use crate::grpc::status::{Failure, Messages, Suspect};
use crate::grpc::template::timeout;
use crate::grpc::transport::ServiceHandle;
use crate::operation::{AttemptContext, ConnectProblem, Driver, Note, OperationError, OperationReport};
use crate::transport::{Reach, blame};
use gax_retry::{
    AttemptResult, Code, Delivery, Replayable, Resend, RetryFact, Seen, SettingsError, StartedAttempt, Stop,
    StopReason,
};
use std::pin::Pin;
use tonic::Status;
use tonic::codegen::StdError;

/// How an attempt went wrong.
pub(crate) enum Bad {
    /// It ended with that.
    Ended(AttemptResult),
    /// It is not known yet.
    Suspected(Box<Suspect>),
}

impl<A: ServiceHandle, Q: ReplayableRequest> GrpcProtocol<A, Q> {
    /// The facts of an attempt that ended with that failure, which is kept.
    pub(super) fn ended(
        &mut self,
        config: &MethodConfig,
        mut failure: Box<Failure>,
        seen: Seen,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let replayable = self.request.replayable(config, current.number());
        if replayable == Replayable::OverLimit
            && let Some(note) = self.request.note(config)
        {
            current.note(note);
        }
        self.request.ended(current.number());
        let result = AttemptResult::failed(failure.code).with_seen(seen).with_replayable(replayable);
        let result = result.with_repetition(config.repetition());
        if self.failure.as_ref().is_none_or(|before| !before.is_held) {
            let mut before = self.failure.take();
            if config.policy.hedging().is_some()
                && let Some(before) = &mut before
            {
                // This attempt was sent before that one ended.
                before.take_messages();
            }
            failure.follow(before);
            self.failure = Some(failure);
        }
        result
    }

    pub(super) fn timed_out(
        &mut self,
        config: &MethodConfig,
        seen: Seen,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let timeout = current.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        self.ended(config, Box::new(Failure::timed_out(timeout)), seen, current).with_timed_out()
    }

    /// The attempt ended with a status, or with a response that has none.
    pub(crate) fn failed(
        &mut self,
        config: &MethodConfig,
        failure: Box<Failure>,
        seen: Seen,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        if config.shared.limits.server_timeouts_are_ours && failure.is_server_timeout() && time_is_up(current)
        {
            current.note(Note::CountedAsDeadlineExceeded);
            return self.timed_out(config, seen, current);
        }
        let server_delay = failure.server_delay();
        self.ended(config, failure, seen, current).with_server_delay(server_delay)
    }

    /// The connection or the stream broke; `has_begun` says that the response had begun.
    pub(crate) fn broken(
        &mut self,
        config: &MethodConfig,
        error: StdError,
        seen: Seen,
        current: &mut AttemptContext<'_>,
    ) -> Bad {
        if let Some(status) = self.request.error() {
            // Our own reset, since there is nothing to go on with.
            let failure = Failure::transport(status.into(), false).0;
            return Bad::Ended(self.hopeless(config, Box::new(failure), current));
        }
        let problem = ConnectProblem::of(&*error);
        let (failure, classification) = Failure::transport(error, seen != Seen::Nothing);
        let failure = Box::new(failure);
        if let Some(problem) = problem {
            current.note(Note::CannotConnect(problem));
            if !problem.may_recover() {
                return Bad::Ended(self.hopeless(config, failure, current).with_delivery(Delivery::NotSent));
            }
        }
        if classification.code == Code::DeadlineExceeded && time_is_up(current) {
            // tonic's own timer, which the header of the attempt has set.
            return Bad::Ended(self.timed_out(config, seen, current));
        }
        match classification.nature {
            Nature::CancelledByServer if time_is_up(current) => {
                current.note(Note::CountedAsDeadlineExceeded);
                return Bad::Ended(self.timed_out(config, seen, current));
            }
            Nature::Plain | Nature::CancelledByServer => {}
            Nature::Unreadable => return Bad::Ended(self.unreadable(config, failure, current)),
            Nature::Suspect(code) => {
                return Bad::Suspected(Box::new(Suspect::new(failure, code, seen, current.clock())));
            }
        }
        let result = self.ended(config, failure, seen, current);
        Bad::Ended(match classification.reach {
            Reach::NeverSent => result.with_delivery(Delivery::NotSent).with_resend(Resend::Lost),
            Reach::Refused => result.with_delivery(Delivery::NotProcessed).with_resend(Resend::Refused),
            Reach::Unconnected => result.with_delivery(Delivery::NotSent),
            Reach::MaybeSent => result,
            Reach::ChannelClosed => result.with_retry(RetryFact::No(StopReason::ChannelClosed)),
        })
    }

    /// It broke behind messages that the caller could have read.
    #[cold]
    pub(crate) fn broken_behind(
        &mut self,
        config: &MethodConfig,
        error: StdError,
        messages: Option<Messages>,
        current: &mut AttemptContext<'_>,
    ) -> Bad {
        let mut bad = self.broken(config, error, Seen::Headers, current);
        let failure = match &mut bad {
            Bad::Ended(_) => self.failure.as_mut(),
            Bad::Suspected(suspect) => Some(&mut suspect.failure),
        };
        if let Some(failure) = failure {
            failure.put_behind(messages);
        }
        bad
    }

    /// The response can't be read, and no other attempt would read it better.
    pub(crate) fn unreadable(
        &mut self,
        config: &MethodConfig,
        failure: Box<Failure>,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        current.note(Note::UnreadableResponse);
        self.hopeless(config, failure, current)
    }

    /// No other attempt can do better, whatever its code says.
    #[cold]
    fn hopeless(
        &mut self,
        config: &MethodConfig,
        failure: Box<Failure>,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        self.ended(config, failure, Seen::Nothing, current)
            .with_retry(RetryFact::No(StopReason::NonRetryable))
    }

    /// Whether it was this call's own response that could not be read is known now.
    #[cold]
    pub(super) fn cleared(
        &mut self,
        config: &MethodConfig,
        suspect: Suspect,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let Suspect { mut failure, code, seen, died, ended_at } = suspect;
        let result = if blame::was_alone(died) {
            failure.code = code;
            self.unreadable(config, failure, current)
        } else {
            self.ended(config, failure, seen, current)
        };
        result.with_end(ended_at)
    }

    /// The status that the operation ends with.
    fn status(&mut self, problem: Option<&SettingsError>, stop: Stop, report: OperationReport) -> Status {
        let failure = match self.failure.take() {
            before if stop.reason() == StopReason::Cancelled => {
                let mut ended = Failure::request_ended();
                ended.follow(before);
                ended
            }
            Some(failure) if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded => {
                let mut late = Failure::at_deadline();
                late.follow(Some(failure));
                late
            }
            Some(failure) => *failure,
            None => problem.map_or_else(Failure::no_time, Failure::invalid),
        };
        failure.into_status(report)
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest> Driver<GrpcProtocol<A, Q>> {
    /// The result of an operation that has failed: its status, or the messages that came before that.
    #[cold]
    pub(crate) fn ended(
        mut self: Pin<&mut Self>,
        stop: Stop,
    ) -> Result<http::Response<ResponseBody>, Status> {
        let failure = &mut self.as_mut().protocol().failure;
        let Some(messages) = failure.as_mut().and_then(|failure| failure.take_messages()) else {
            return Err(self.failed(stop));
        };
        self.as_mut().note(Note::FailedBehindMessages);
        let status = self.failed(stop);
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
    pub(crate) fn failed(mut self: Pin<&mut Self>, stop: Stop) -> Status {
        let report = self.as_mut().report(Some(stop));
        let config = self.config();
        self.protocol().status(config.policy.problem(), stop, report)
    }
}

/// Whether the attempt has used up its RPC timeout, or what the header said of it.
fn time_is_up(current: &AttemptContext<'_>) -> bool {
    let timeout = current.started().and_then(StartedAttempt::rpc_timeout).map(timeout::written);
    timeout.is_some_and(|timeout| current.elapsed() >= timeout)
}
