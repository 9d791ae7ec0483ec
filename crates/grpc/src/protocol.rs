//! Operations over a transport of the `grpc` crate: results of attempts, as facts for the driver.

use crate::attempt::{Attempt, Received};
use crate::failure::{Failure, trailers};
use crate::metadata;
use crate::request::RequestBuffer;
use bytes::Bytes;
use gax_driver::Note;
use gax_driver::ReplayOptions;
use gax_driver::observe::Transport;
use gax_driver::protocol::{
    AttemptContext, AttemptResult, CommitPoint, Name, OperationConfig, Protocol, Repetition, RetryFact,
    Start, Step,
};
use gax_retry::{Code, Delivery, MethodKind, StartedAttempt, StopReason};
use gax_wire::__private::{end_text, time_is_up};
use gax_wire::note;
use grpc::StatusCodeError;
use grpc::client::{CallOptions, Invoke};
use grpc::core::{RequestHeaders, ResponseHeaders, Trailers};
use http::HeaderMap;
use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// One call.
pub(crate) struct Call<I> {
    pub(crate) invoke: I,
    pub(crate) headers: RequestHeaders,
    pub(crate) options: CallOptions,
    /// The time that the caller gives it.
    pub(crate) bound: Option<Duration>,
    pub(crate) replay: ReplayOptions,
    /// The kind of the RPC, as far as descriptors say.
    pub(crate) kind: Option<MethodKind>,
    pub(crate) is_read_only: bool,
    pub(crate) counts_attempts: bool,
    pub(crate) request: RequestBuffer,
    /// The failure that the last attempt ended with.
    pub(crate) failure: Option<Failure>,
    /// The headers of the response, for the caller.
    pub(crate) response_headers: Option<ResponseHeaders>,
    /// The status for a message of the response that the caller could not decode.
    pub(crate) unreadable: Option<Trailers>,
}

/// A part of the response, for the caller.
pub(crate) enum Part {
    /// A message of a stream.
    Message(Bytes),
    /// The end of the response, with the message that came before it if there is one that the caller does not have.
    End(Option<Bytes>, Trailers),
}

/// gRPC, by the name that observers see over tonic as well.
const GRPC: Transport = Transport::new("grpc").with_wire().with_rpc_names();

impl<I> Call<I> {
    /// Returns whether the first message of a response is held until the trailers may have come.
    fn holds_messages(&self) -> bool {
        !self.request.is_stream() && self.kind.is_none_or(MethodKind::is_unary)
    }

    /// Commits to an attempt, and hands the headers of its response to the caller.
    fn hand_over<J: Invoke>(&mut self, attempt: &mut Attempt<J>, number: u32) {
        self.request.commit(number);
        if let Some(headers) = attempt.headers.take() {
            self.response_headers = Some(headers);
        }
    }

    /// The facts of an attempt that ended with that failure, which is kept.
    fn ended<J: Invoke + Clone + 'static>(
        &mut self,
        attempt: Option<&mut Attempt<J>>,
        mut failure: Failure,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let replayable = self.request.replayable(context.number());
        let mut result = AttemptResult::failed(failure.code).with_replayable(replayable);
        if self.is_read_only {
            result = result.with_repetition(Repetition::No);
        }
        match attempt {
            Some(attempt) => {
                context.ended_after(attempt.delivered_at_end());
                (failure.headers, failure.message) = (attempt.headers.take(), attempt.message.take());
                result = result.with_seen(attempt.seen());
                if attempt.is_unsent(&self.request) {
                    result = result.with_delivery(Delivery::NotSent);
                }
            }
            None => result = result.with_delivery(Delivery::NotSent),
        }
        if self.failure.as_ref().is_none_or(|before| !before.is_held) {
            failure.follow(self.failure.take());
            self.failure = Some(failure);
        }
        result
    }

    fn timed_out<J: Invoke + Clone + 'static>(
        &mut self,
        attempt: Option<&mut Attempt<J>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let timeout = context.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        self.ended(attempt, Failure::timed_out(timeout), context).with_timed_out()
    }

    /// Ends an attempt with an error that another one would have too.
    fn permanent<J: Invoke + Clone + 'static>(
        &mut self,
        attempt: &mut Attempt<J>,
        trailers: Trailers,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = self.ended(Some(attempt), Failure::status(Code::Internal, trailers), context);
        result.with_retry(RetryFact::No(StopReason::NonRetryable))
    }

    /// Ends an attempt whose response has an error status.
    fn failed<J: Invoke + Clone + 'static>(
        &mut self,
        attempt: &mut Attempt<J>,
        trailers: Trailers,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let (code, message) = match trailers.status() {
            Ok(()) => (Code::Unknown, ""),
            Err(status) => (Code::from_wire(status.code() as i32), status.message()),
        };
        if end_text::is_timeout_expired(code, || Some(message.as_bytes()))
            && self.replay.map_timeout_cancellations
            && time_is_up(context)
        {
            context.note(note::COUNTED_AS_DEADLINE_EXCEEDED);
            return self.timed_out(Some(attempt), context);
        }
        let server_delay = metadata::server_delay(trailers.metadata());
        self.ended(Some(attempt), Failure::status(code, trailers), context).with_server_delay(server_delay)
    }

    /// Ends an attempt whose response is complete.
    fn replied<J: Invoke + Clone + 'static>(
        &mut self,
        attempt: &mut Attempt<J>,
        trailers: Trailers,
        context: &mut AttemptContext<'_>,
        slot: &mut Option<Part>,
    ) -> AttemptResult {
        self.hand_over(attempt, context.number());
        context.ended_after(attempt.delivered_at_end());
        *slot = Some(Part::End(attempt.message.take(), trailers));
        AttemptResult::done().with_replayable(self.request.replayable(context.number()))
    }

    /// Hands a message to the caller.
    fn deliver<J: Invoke + Clone + 'static>(
        &mut self,
        attempt: &mut Attempt<J>,
        message: Bytes,
        context: &mut AttemptContext<'_>,
        slot: &mut Option<Part>,
    ) -> Poll<Step> {
        if attempt.delivered == 0 {
            context.note(Note::COMMITTED);
        }
        self.hand_over(attempt, context.number());
        attempt.unreported = None;
        attempt.delivered += 1;
        *slot = Some(Part::Message(message));
        Poll::Ready(Step::Yielded)
    }
}

impl<I: Invoke + Clone + 'static> Protocol for Call<I> {
    type Config = OperationConfig;
    type Attempt = Attempt<I>;
    type Slot = Option<Part>;

    const TRANSPORT: &'static Transport = &GRPC;

    fn name(&self, _: &OperationConfig) -> Name {
        Name::from(Cow::Owned(self.headers.method_name().clone()))
    }

    fn start<'a>(&'a self, config: &'a OperationConfig) -> Start<'a> {
        config.start().within(self.bound)
    }

    fn begin(
        &mut self,
        _: &OperationConfig,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Attempt<I> {
        if let Some(failure) = &mut self.failure {
            (failure.headers, failure.message) = (None, None);
        }
        let (mut headers, mut options) = (self.headers.clone(), self.options.clone());
        let metadata = headers.metadata_mut();
        metadata::set_timeout(metadata, started.deadline());
        metadata::set_previous_attempts(
            metadata,
            if self.counts_attempts { started.number() - 1 } else { 0 },
        );
        if let Some(deadline) = context.deadline() {
            options.set_deadline(deadline.into_std());
        }
        let mut added = HeaderMap::new();
        context.add_headers(&mut added);
        metadata::add(metadata, &added);
        Attempt::new(started.number(), &self.invoke, headers, options)
    }

    fn poll(
        &mut self,
        config: &OperationConfig,
        mut attempt: Pin<&mut Attempt<I>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut Option<Part>,
    ) -> Poll<Step> {
        let attempt = &mut *attempt;
        if let Some(unreadable) = self.unreadable.take() {
            context.note(Note::UNREADABLE_RESPONSE);
            return Poll::Ready(Step::Ended(self.permanent(attempt, unreadable, context)));
        }
        if let Some(error) = self.request.error() {
            let status =
                trailers(StatusCodeError::Internal, format!("the request can't be encoded: {error}"));
            return Poll::Ready(Step::Ended(self.permanent(attempt, status, context)));
        }
        if let Some(note) = self.request.note().filter(|_| context.number() == 1) {
            context.note(note);
        }
        if let Some(note) = attempt.send(&mut self.request, cx) {
            context.note(note);
            return Poll::Ready(Step::Committed(CommitPoint::OverLimit));
        }
        // The caller takes one message before there can be another.
        if slot.is_some() {
            return Poll::Pending;
        }
        loop {
            let received = match attempt.receive(cx) {
                Poll::Ready(received) => received,
                Poll::Pending => {
                    let is_whole = self.kind.is_some_and(MethodKind::is_unary);
                    if !is_whole && let Some(message) = attempt.message.take() {
                        return self.deliver(attempt, message, context, slot);
                    }
                    let Some(point) = attempt.unreported.take() else { return Poll::Pending };
                    if point >= config.as_ref().commit_point() {
                        self.hand_over(attempt, context.number());
                    }
                    return Poll::Ready(Step::Committed(point));
                }
            };
            let result = match received {
                Received::Headers(headers) => {
                    attempt.headers = Some(headers);
                    // A stream of requests and its response may be a conversation.
                    let is_stream = self.request.is_stream();
                    let point = if is_stream { CommitPoint::FirstMessage } else { CommitPoint::Headers };
                    attempt.unreported = Some(point);
                    continue;
                }
                Received::Message(message) => match attempt.message.take() {
                    None if attempt.delivered == 0 && self.holds_messages() => {
                        if message.len() <= self.replay.max_response_buffer {
                            attempt.message = Some(message);
                            continue;
                        }
                        context.note(Note::RESPONSE_TOO_LARGE_TO_BUFFER);
                        return self.deliver(attempt, message, context, slot);
                    }
                    None => return self.deliver(attempt, message, context, slot),
                    Some(first) => {
                        attempt.message = Some(message);
                        return self.deliver(attempt, first, context, slot);
                    }
                },
                Received::Trailers(trailers) if trailers.status().is_ok() => {
                    self.replied(attempt, trailers, context, slot)
                }
                Received::Trailers(trailers) => self.failed(attempt, trailers, context),
                Received::Nothing => {
                    context.note(Note::UNREADABLE_RESPONSE);
                    let status =
                        trailers(StatusCodeError::Internal, "the response has ended without a status");
                    self.permanent(attempt, status, context)
                }
            };
            return Poll::Ready(Step::Ended(result));
        }
    }

    fn expire(
        &mut self,
        _: &OperationConfig,
        attempt: Option<Pin<&mut Attempt<I>>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        self.timed_out(attempt.map(Pin::get_mut), context)
    }

    fn is_hedgeable(&self, _: &OperationConfig) -> bool {
        self.request.note().is_none()
    }

    fn hold(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.is_held = true;
        }
    }
}
