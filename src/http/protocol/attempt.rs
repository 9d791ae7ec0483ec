//! Attempts over an HTTP service: requests go out, responses and errors become facts.

use crate::http::config::HttpConfig;
use crate::http::failure::{BodyNotOpened, NoBody, Part};
use crate::http::note;
use crate::http::protocol::http_protocol::HTTP;
use crate::http::protocol::http_protocol::{AttemptOutcome, HttpProtocol};
use crate::http::request::{CutOff, Replay};
#[cfg(feature = "reqwest")]
use crate::http::response::Redirected;
use crate::http::response::{DRAIN_TIME, EndedEarly, HttpResponseBody, Read, ReadExtent, ResponseReader};
use crate::operation::{
    AttemptContext, Name, Note, ObservedTransport, Protocol, Start, Step, earlier, until,
};
use crate::transport::{BoxError, retry_after_in};
use gax_retry::http::{HttpFailure, retry_info_in_json};
use gax_retry::operation::{AttemptResult, Resend, Seen};
use gax_retry::{AttemptKind, Delivery, ServerDelay, StartedAttempt};
use http::StatusCode;
use http::header::CONNECTION;
use http_body::Body;
use pin_project_lite::pin_project;
use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tower_service::Service;

pin_project! {
    /// An attempt in flight.
    #[project = AttemptProj]
    #[project_replace = AttemptOwned]
    pub(crate) enum HttpAttempt<F, R> {
        // The body is being opened, or the service is not ready yet.
        Ready,
        // The request was sent, and the response's headers are awaited.
        Sent { #[pin] future: F, cut: Option<CutOff> },
        // The body of a success is being read. Any other status has ended the attempt already.
        Collecting { reader: ResponseReader<R>, ended_at: Option<Duration> },
        // It has ended.
        Done,
    }
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    /// The head of a response has come: how far its body is read before anything follows from it. `None`: not
    /// at all, since its status is final.
    fn extent(
        &self,
        config: &HttpConfig,
        status: StatusCode,
        ended_at: Duration,
        context: &AttemptContext<'_>,
    ) -> Option<ReadExtent> {
        if status.is_success() {
            return Some(ReadExtent::to_end(config.limits.max_response_buffer));
        }
        let result = self.result(config, Some(HttpFailure::Status(status.as_u16())));
        // The response of a hedge may be held, for longer than its connection should be.
        let may_wait =
            config.policy.permits(result) || context.number() > 1 && config.policy.may_hold(result);
        let is_drained = self.request.is_replayable() && may_wait;
        is_drained.then(|| ReadExtent::drain(context.clock().at(ended_at.saturating_add(DRAIN_TIME))))
    }

    /// A response whose status is no success, as far as it was read.
    fn response(
        &mut self,
        config: &HttpConfig,
        response: http::Response<HttpResponseBody<R>>,
        ended_at: Duration,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let failure = HttpFailure::Status(response.status().as_u16());
        let delay = asked_for(&response).map_or(ServerDelay::None, ServerDelay::AtLeast);
        self.failed(config, Some(failure), AttemptOutcome::Response(Box::new(response)), context)
            .with_server_delay(delay)
            .with_end(ended_at)
    }
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    /// Whether a server says by that response that it has closed a connection which was idle for too long: nobody had asked
    /// when it was sent. Such a connection counts as closed, for requests that may be sent again.
    fn is_parting(&self, response: &http::Response<R>) -> bool {
        let closes = || {
            let values =
                response.headers().get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
            let mut tokens = values.flat_map(|value| value.split(','));
            tokens.any(|token| token.trim().eq_ignore_ascii_case("close"))
        };
        response.status() == StatusCode::REQUEST_TIMEOUT
            && self.is_repeatable
            && self.http.is_safe()
            && closes()
            && self.shared.connections.knows(response.extensions())
    }
}

impl<S, B, R> HttpProtocol<S, B, R>
where
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    /// A response that was read so far. A status that is no success stands, however its body ends.
    fn read(
        &mut self,
        config: &HttpConfig,
        reader: ResponseReader<R>,
        read: Read,
        ended_at: Option<Duration>,
        context: &mut AttemptContext<'_>,
        reply: &mut Option<http::Response<HttpResponseBody<R>>>,
    ) -> AttemptResult {
        if let Some(ended_at) = ended_at {
            let response = reader.into_response(read, context.deadline());
            return self.response(config, response, ended_at, context);
        }
        match read {
            Read::Early(EndedEarly::TimedOut) => self.timed_out(config, context),
            Read::Early(why @ EndedEarly::Idle(_)) => self.stalled(config, why.into_error(), context),
            Read::Early(why) => self.broken(config, why.into_error(), Part::Body, context),
            // The operation's clock stops: the rest of the body may take as long as it likes.
            Read::NotYet | Read::Whole | Read::TooLong => {
                let mut result = AttemptResult::done();
                if !matches!(read, Read::Whole) {
                    context.note(Note::RESPONSE_TOO_LARGE_TO_BUFFER);
                    result = result.with_seen(Seen::Messages { resumable: false });
                }
                *reply = Some(reader.into_response(read, None));
                result
            }
        }
    }
}

impl<S, B, R> Protocol for HttpProtocol<S, B, R>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    type Config = HttpConfig;
    type Attempt = HttpAttempt<S::Future, R>;
    type Slot = Option<http::Response<HttpResponseBody<R>>>;

    const TRANSPORT: &'static ObservedTransport = &HTTP;

    fn name(&self, _: &HttpConfig) -> Name {
        let parts = self.request.parts();
        Name::from(Cow::<'static, str>::Owned(format!("{} {}", parts.method, parts.uri.path())))
    }

    #[inline]
    fn start<'a>(&'a self, config: &'a HttpConfig) -> Start<'a> {
        self.shared.start().within(earlier(config.timeout, self.inbound.map(until)))
    }

    fn begin(
        &mut self,
        _: &HttpConfig,
        started: StartedAttempt,
        _: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        let failure = self.failure.take();
        // An attempt whose request is sent again at once has not failed.
        self.http.failures.extend(failure.filter(|_| started.kind() != AttemptKind::Resend));
        // The connection of the attempt before goes to this one.
        self.ended = None;
        self.request.close();
        HttpAttempt::Ready
    }

    fn poll(
        &mut self,
        config: &HttpConfig,
        mut attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        reply: &mut Self::Slot,
    ) -> Poll<Step> {
        loop {
            match attempt.as_mut().project() {
                AttemptProj::Ready => {
                    if let Err(error) = ready!(self.request.poll_open(cx)) {
                        let error: BoxError = Box::new(BodyNotOpened(error));
                        return Poll::Ready(Step::Ended(self.broken(config, error, Part::Head, context)));
                    }
                    if let Err(error) = ready!(self.service.poll_ready(cx)) {
                        // A service that has failed is neither called nor asked again.
                        self.service = self.spare.copy();
                        return Poll::Ready(Step::Ended(self.broken(
                            config,
                            error.into(),
                            Part::Head,
                            context,
                        )));
                    }
                    let Some((mut request, cut)) = self.request.write(context.started()) else {
                        let error: BoxError = Box::new(NoBody);
                        return Poll::Ready(Step::Ended(self.broken(config, error, Part::Head, context)));
                    };
                    #[cfg(feature = "connection")]
                    context.link(request.extensions_mut(), None);
                    if let Some(mut outgoing) = context.sending() {
                        outgoing.add_headers(request.headers_mut());
                    }
                    let future = self.service.call(request);
                    attempt.set(HttpAttempt::Sent { future, cut });
                }
                AttemptProj::Sent { future, cut } => match ready!(future.poll(cx)) {
                    Ok(response) => {
                        let is_parting = self.is_parting(&response);
                        self.shared.connections.remember(response.extensions());
                        #[cfg(feature = "reqwest")]
                        if response.extensions().get::<Redirected>().is_some() {
                            context.note(note::FOLLOWED_REDIRECTS);
                        }
                        let ended_at = context.clock().elapsed();
                        let method = &self.request.parts().method;
                        let idle_timeout = config.limits.body_idle_timeout;
                        let reader = ResponseReader::new(method, response, idle_timeout, cut.take());
                        let status = reader.status();
                        if is_parting {
                            let response = reader.into_response(Read::NotYet, context.deadline());
                            let result = self.response(config, response, ended_at, context);
                            return Poll::Ready(Step::Ended(result.with_resend(Resend::Stale)));
                        }
                        let Some(extent) = self.extent(config, status, ended_at, context) else {
                            let response = reader.into_response(Read::NotYet, context.deadline());
                            return Poll::Ready(Step::Ended(
                                self.response(config, response, ended_at, context),
                            ));
                        };
                        let ended_at = (!status.is_success()).then_some(ended_at);
                        attempt.set(HttpAttempt::Collecting { reader: reader.reading(extent), ended_at });
                    }
                    Err(error) => {
                        return Poll::Ready(Step::Ended(self.broken(
                            config,
                            error.into(),
                            Part::Head,
                            context,
                        )));
                    }
                },
                AttemptProj::Collecting { reader, .. } => {
                    let read = ready!(reader.poll(cx));
                    let owned = attempt.as_mut().project_replace(HttpAttempt::Done);
                    let AttemptOwned::Collecting { reader, ended_at } = owned else {
                        return Poll::Pending;
                    };
                    return Poll::Ready(Step::Ended(
                        self.read(config, reader, read, ended_at, context, reply),
                    ));
                }
                AttemptProj::Done => return Poll::Pending,
            }
        }
    }

    fn expire(
        &mut self,
        config: &HttpConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let Some(attempt) = attempt else {
            return self.timed_out(config, context).with_delivery(Delivery::NotSent);
        };
        match attempt.project_replace(HttpAttempt::Done) {
            AttemptOwned::Ready => {
                // A place in the service's queue must not be held through a delay.
                self.service = self.service.clone();
            }
            AttemptOwned::Collecting { reader, ended_at } => {
                if let Some(ended_at) = ended_at {
                    let late = Read::Early(EndedEarly::TimedOut);
                    let response = reader.into_response(late, context.deadline());
                    return self.response(config, response, ended_at, context);
                }
            }
            AttemptOwned::Sent { .. } | AttemptOwned::Done => {}
        }
        self.timed_out(config, context)
    }

    fn due(&self, attempt: &Self::Attempt) -> Option<Instant> {
        match attempt {
            HttpAttempt::Collecting { reader, .. } => reader.due(),
            HttpAttempt::Ready | HttpAttempt::Sent { .. } | HttpAttempt::Done => None,
        }
    }

    fn hold(&mut self) {
        self.held = self.ended.take();
    }

    fn before_wait(&mut self) {
        self.request.close();
        if let Some(ended) = &mut self.ended {
            ended.cut();
        }
    }
}

/// The wait that a response asks for: by `Retry-After`, or by `google.rpc.RetryInfo` in what has come of its body.
fn asked_for<R>(response: &http::Response<HttpResponseBody<R>>) -> Option<Duration> {
    let in_body = response.body().with_bytes(retry_info_in_json);
    retry_after_in(response.headers()).max(in_body)
}
