//! Attempts that deliver the messages of a stream, one connection after the other.

use super::codec::{Measured, StreamCodec};
use super::connection::{Connection, ConnectionEnd};
use super::tapped_body::BodyEnd;
use crate::grpc::GRPC;
use crate::grpc::methods::MethodConfig;
use crate::grpc::protocol::{EndsWithStatus, GrpcAttempt, GrpcProtocol};
use crate::grpc::request::ReplayableRequest;
use crate::grpc::response::{ResponseBody, pass_on};
use crate::grpc::status::{Failure, received};
use crate::grpc::transport::ServiceHandle;
use crate::note;
use crate::operation::{
    AttemptContext, Name, Note, ObservedTransport, OperationReport, Protocol, Start, Step, Unsendable,
};
use crate::resumption::{Resumer, StreamProgress};
use gax_retry::operation::{AttemptResult, CommitPoint, RetryFact, Seen, Stop};
use gax_retry::{Code, Delivery, SettingsError, StartedAttempt};
use http::HeaderMap;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;

/// A stream of responses: its connections are opened as those of any other call are, and a strategy says what becomes of their
/// messages.
pub(crate) struct ResumedProtocol<A, Q, C: StreamCodec> {
    base: GrpcProtocol<A, Q>,
    codec: C,
    resumer: Resumer<C::Request, C::Response>,
    /// The message that the next attempt is sent, where it is not the one before.
    next: Option<bytes::Bytes>,
    progress: StreamProgress,
    /// One attempt is the operation's: no other is in flight.
    is_committed: bool,
    /// Nobody takes its messages any more.
    is_abandoned: bool,
    /// The caller has the headers of a connection: no response can be handed on as it comes in place of the stream.
    has_head: bool,
    trailers: Option<HeaderMap>,
    /// A response that is handed on as it comes.
    passed: Option<http::Response<ResponseBody>>,
}

pin_project! {
    /// An attempt in flight.
    #[project = ResumedProj]
    pub(crate) enum ResumedAttempt<F, M> {
        Opening { #[pin] attempt: GrpcAttempt<F> },
        Streaming { connection: Box<Connection<M>> },
    }
}

/// The place of a message for the caller.
#[derive(Debug)]
pub(crate) struct StreamSlot<M> {
    pub(crate) message: Option<M>,
    /// The headers of the connection that was opened last.
    pub(crate) head: Option<HeaderMap>,
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> ResumedProtocol<A, Q, C> {
    pub(crate) fn new(
        base: GrpcProtocol<A, Q>,
        codec: C,
        resumer: Resumer<C::Request, C::Response>,
        wait_timeout: Option<Duration>,
    ) -> Self {
        Self {
            base,
            codec,
            resumer,
            next: None,
            progress: StreamProgress::new(wait_timeout),
            is_committed: false,
            is_abandoned: false,
            has_head: false,
            trailers: None,
            passed: None,
        }
    }

    /// How often the stream was begun anew.
    pub(crate) fn restarts(&self) -> u64 {
        self.resumer.restarts()
    }

    /// Nobody takes its messages: the next poll ends it.
    pub(crate) fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// The trailers of a stream that has ended well.
    pub(crate) fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    /// A response that is handed on as it comes, or what is left of one: the caller gets it behind the messages so far.
    pub(crate) fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        self.passed.take()
    }

    /// The messages that were withheld as the stream ended.
    pub(crate) fn take_withheld(&mut self) -> impl Iterator<Item = C::Response> {
        self.resumer.release();
        std::iter::from_fn(|| self.resumer.released())
    }

    /// The caller gets the headers of that connection. Those of a later one can't name another compression.
    fn hand_over_head(&mut self, connection: &Connection<C::Response>, slot: &mut StreamSlot<C::Response>) {
        slot.head = Some(connection.head.clone());
        if !std::mem::replace(&mut self.has_head, true) {
            self.base.request_mut().refuse_compression();
        }
    }

    /// The response is handed on as it comes: the stream can't be taken up any more.
    fn pass(
        &mut self,
        mut response: http::Response<ResponseBody>,
        note: Note,
        context: &mut AttemptContext<'_>,
    ) {
        pass_on(&mut response, note, context);
        self.passed = Some(response);
    }

    /// Whether other attempts may be in flight.
    fn competes(&self, config: &MethodConfig) -> bool {
        config.policy.hedging().is_some() && !self.is_committed
    }

    /// Goes on with the messages of a response that has begun.
    #[inline]
    fn poll_messages(
        &mut self,
        config: &MethodConfig,
        connection: &mut Connection<C::Response>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut StreamSlot<C::Response>,
    ) -> Poll<Step> {
        loop {
            if let Some(step) = self.resumer.next_step(&mut self.progress, &mut slot.message) {
                return Poll::Ready(step);
            }
            let polled = connection.poll(cx);
            for data in connection.arrived() {
                context.received(&data);
            }
            let Measured { message, size } = match polled {
                Poll::Pending => {
                    let Some(end) = self.progress.wait.over(context.clock()) else { return Poll::Pending };
                    return Poll::Ready(Step::Ended(self.waited(config, end, context)));
                }
                Poll::Ready(Err(end)) => match self.ended(config, connection, end, context) {
                    Some(result) => return Poll::Ready(Step::Ended(result)),
                    None => continue,
                },
                Poll::Ready(Ok(message)) => message,
            };
            self.progress.arrived();
            if self.competes(config) {
                self.is_committed = true;
                self.hand_over_head(connection, slot);
                connection.first = Some(Measured { message, size });
                return Poll::Ready(Step::Committed(CommitPoint::FirstMessage));
            }
            let (progress, slot) = (&mut self.progress, &mut slot.message);
            match self.resumer.step_behind(message, size, progress, context, cx, slot) {
                Ok(Some(polled)) => return polled,
                Ok(None) => {}
                Err(full) => {
                    let failure = Box::new(Failure::transport(full.into(), false).0);
                    return Poll::Ready(Step::Ended(self.base.hopeless(config, failure, context)));
                }
            }
        }
    }

    /// The messages of a connection have come to their end. `None`: the stream is done, but for what was withheld.
    #[cold]
    fn ended(
        &mut self,
        config: &MethodConfig,
        connection: &mut Connection<C::Response>,
        end: ConnectionEnd,
        context: &mut AttemptContext<'_>,
    ) -> Option<AttemptResult> {
        let head = || connection.head.clone();
        let (trailers, is_whole) = match end {
            ConnectionEnd::Unreadable(status) => return Some(self.unreadable(config, status, context)),
            ConnectionEnd::Body { end: BodyEnd::Broke(status), .. } => {
                let result = self.base.broken(config, status.into(), Seen::Headers, context);
                return Some(self.settled(config, result, context));
            }
            ConnectionEnd::Body { end: BodyEnd::TooLong(rest), .. } => {
                let mut response = http::Response::new(rest);
                *response.headers_mut() = head();
                self.pass(response, config.too_large, context);
                self.resumer.finish(&mut self.progress);
                return None;
            }
            ConnectionEnd::Body { end: BodyEnd::WithoutTrailers, is_whole } => (None, is_whole),
            ConnectionEnd::Body { end: BodyEnd::Trailers { trailers, is_malformed }, is_whole } => {
                if is_malformed {
                    context.note(note::MALFORMED_STATUS_DETAILS);
                }
                (Some(trailers), is_whole)
            }
        };
        let code = received::code(trailers.as_ref().unwrap_or(&connection.head));
        let failure = match (code, trailers) {
            (Some(Code::Ok), _) if !is_whole => {
                let status = Status::internal("the stream ended within a message");
                return Some(self.unreadable(config, status, context));
            }
            (Some(Code::Ok), trailers) => {
                self.trailers = trailers;
                self.resumer.finish(&mut self.progress);
                return None;
            }
            (Some(code), trailers) => Failure::by_server(code, Some(head()), trailers.unwrap_or_default()),
            (None, trailers) => {
                let mut headers = head();
                headers.extend(trailers.unwrap_or_default());
                Failure::without_status(connection.status, headers)
            }
        };
        let result = self.base.failed(config, Box::new(failure), Seen::Headers, context);
        Some(self.settled(config, result, context))
    }

    /// No other attempt would read it better.
    fn unreadable(
        &mut self,
        config: &MethodConfig,
        status: Status,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let is_too_long = status.code() == tonic::Code::OutOfRange;
        let failure = Box::new(Failure::transport(status.into(), false).0);
        if is_too_long {
            context.note(note::MESSAGE_ABOVE_DECODING_LIMIT);
            return self.base.hopeless(config, failure, context);
        }
        self.base.unreadable(config, failure, context)
    }

    /// The caller has waited for a message for too long.
    #[cold]
    fn waited(
        &mut self,
        config: &MethodConfig,
        end: Duration,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = self.base.ended(config, Box::new(Failure::waited()), Seen::Headers, context);
        self.settled(config, result.with_retry(RetryFact::Yes).with_end(end), context)
    }

    /// The facts of an attempt that failed, with what the strategy makes of them.
    #[cold]
    fn settled(
        &mut self,
        config: &MethodConfig,
        result: AttemptResult,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        if self.competes(config) {
            return result.with_seen(Seen::Nothing);
        }
        let seen = self.progress.seen(config.shared.compatibility);
        let result = result.with_seen(seen);
        let Some(status) = self.base.failure().map(Failure::peek) else { return result };
        let (result, next) = self.resumer.settle(&config.policy, result, &status, context);
        match next.map(|request| self.codec.encode(request)) {
            None => result,
            Some(Ok(message)) => {
                self.next = Some(message);
                result
            }
            Some(Err(status)) => {
                let failure = Box::new(Failure::transport(status.into(), false).0);
                self.base.hopeless(config, failure, context).with_seen(seen)
            }
        }
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> Protocol for ResumedProtocol<A, Q, C> {
    type Config = MethodConfig;
    type Attempt = ResumedAttempt<<A::Service as GrpcService<Body>>::Future, C::Response>;
    type Slot = StreamSlot<C::Response>;

    const TRANSPORT: &'static ObservedTransport = &GRPC;

    fn name(&self, config: &MethodConfig) -> Name {
        self.base.name(config)
    }

    fn is_described(&self, config: &MethodConfig) -> bool {
        self.base.is_described(config)
    }

    fn start<'a>(&'a self, config: &'a MethodConfig) -> Start<'a> {
        self.base.start(config)
    }

    fn is_prepared(&self) -> bool {
        self.base.is_prepared()
    }

    fn prepare(&mut self, config: &MethodConfig, cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        self.base.prepare(config, cx)
    }

    fn begin(
        &mut self,
        config: &MethodConfig,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        self.resumer.begin();
        self.progress.wait.reset();
        if let Some(message) = self.next.take() {
            self.base.request_mut().replace(message);
        }
        ResumedAttempt::Opening { attempt: self.base.begin(config, started, context) }
    }

    fn poll(
        &mut self,
        config: &MethodConfig,
        mut attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut StreamSlot<C::Response>,
    ) -> Poll<Step> {
        if self.is_abandoned {
            let failure = Box::new(Failure::left_alone());
            return Poll::Ready(Step::Ended(self.base.hopeless(config, failure, context)));
        }
        let mut opening = match attempt.as_mut().project() {
            ResumedProj::Streaming { connection } => {
                return self.poll_messages(config, connection, context, cx, slot);
            }
            ResumedProj::Opening { attempt } => attempt,
        };
        let mut reply = Poll::Pending;
        let result = match self.base.poll(config, opening.as_mut(), context, cx, &mut reply) {
            Poll::Pending => {
                let Some(end) = self.progress.wait.over(context.clock()) else { return Poll::Pending };
                let is_unsent = self.base.give_up(&opening);
                let result = self.waited(config, end, context);
                let delivery = if is_unsent { Delivery::NotSent } else { Delivery::Unknown };
                return Poll::Ready(Step::Ended(result.with_delivery(delivery)));
            }
            Poll::Ready(Step::Ended(result)) => result,
            Poll::Ready(step) => return Poll::Ready(step),
        };
        let Poll::Ready(Ok(response)) = reply else {
            return Poll::Ready(Step::Ended(self.settled(config, result, context)));
        };
        if !self.codec.can_read(response.headers()) {
            if self.has_head {
                let problem = "the response is compressed, which its request did not allow";
                return Poll::Ready(Step::Ended(self.unreadable(config, Status::internal(problem), context)));
            }
            self.pass(response, note::RESUMPTION_UNUSED, context);
            let result = AttemptResult::done().with_seen(Seen::Messages { resumable: false });
            return Poll::Ready(Step::Ended(result));
        }
        let max_message = self.codec.max_message(config);
        match Connection::open(response, &self.codec, context.watches_transfers(), max_message) {
            Ok(connection) => {
                self.progress.opened();
                let competes = self.competes(config);
                if competes {
                    self.is_committed = config.policy.commit_point() == CommitPoint::Headers;
                }
                if !competes || self.is_committed {
                    self.hand_over_head(&connection, slot);
                }
                attempt.set(ResumedAttempt::Streaming { connection: Box::new(connection) });
                match attempt.project() {
                    ResumedProj::Streaming { connection } if !competes => {
                        self.poll_messages(config, connection, context, cx, slot)
                    }
                    _ => Poll::Ready(Step::Committed(CommitPoint::Headers)),
                }
            }
            Err(status) => Poll::Ready(Step::Ended(self.unreadable(config, status, context))),
        }
    }

    fn expire(
        &mut self,
        config: &MethodConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = match attempt.map(|attempt| attempt.project()) {
            Some(ResumedProj::Streaming { .. }) => self.base.timed_out(config, Seen::Headers, context),
            Some(ResumedProj::Opening { attempt }) => self.base.expire(config, Some(attempt), context),
            None => self.base.expire(config, None, context),
        };
        self.settled(config, result, context)
    }

    fn ending(&mut self, context: &mut AttemptContext<'_>) {
        self.progress.end(context);
    }

    fn due(&self, _: &Self::Attempt) -> Option<Instant> {
        self.progress.wait.due()
    }

    fn is_hedgeable(&self, config: &MethodConfig) -> bool {
        self.base.is_hedgeable(config)
    }

    fn hold(&mut self) {
        self.base.hold();
    }

    fn before_wait(&mut self) {
        self.base.before_wait();
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> EndsWithStatus for ResumedProtocol<A, Q, C> {
    fn status(&mut self, problem: Option<&SettingsError>, stop: Stop, report: OperationReport) -> Status {
        self.base.status(problem, stop, report)
    }
}
