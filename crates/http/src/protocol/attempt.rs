//! Attempts over an HTTP service: requests are sent, responses and errors become facts.
#![allow(
    clippy::exhaustive_enums,
    missing_debug_implementations,
    missing_docs,
    reason = "for the crates of this repository alone"
)]

use crate::config::HttpConfig;
use crate::failure::{BodyNotOpened, NoBody, Part};
use crate::http_service::HttpService;
#[cfg(feature = "reqwest")]
use crate::note;
use crate::protocol::http_protocol::{AttemptOutcome, HTTP, HttpProtocol};
use crate::request::{CutOff, Replay};
#[cfg(feature = "reqwest")]
use crate::reqwest::Redirected;
use crate::response::{DRAIN_TIME, EndedEarly, HttpResponseBody, Read, ReadExtent, ResponseReader};
use gax_driver::__private::{earlier, until};
use gax_driver::Note;
use gax_driver::observe::Transport;
use gax_driver::protocol::{AttemptContext, Name, Protocol, RefusedCredentials, Start, Step};
use gax_retry::http::{HttpFailure, TransportFailure, retry_info_in_json};
use gax_retry::operation::{AttemptResult, Resend, Seen};
use gax_retry::{AttemptKind, Delivery, ServerDelay, StartedAttempt};
use gax_wire::__private::{BoxError, retry_after_in};
use http::header::CONNECTION;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use pin_project_lite::pin_project;
use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

pin_project! {
    /// An attempt in flight.
    #[project = AttemptProj]
    #[project_replace = AttemptOwned]
    pub enum HttpAttempt<F, R> {
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

impl<F, R> HttpAttempt<F, R> {
    /// Returns whether its request is out, and the head of the response has not come.
    pub fn is_sent(&self) -> bool {
        matches!(self, HttpAttempt::Sent { .. })
    }
}

/// The head of a response, and its body.
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct Head<R> {
    pub response: http::Response<R>,
    /// Ends the body of the request.
    pub cut: Option<CutOff>,
    /// The server has closed an idle connection by it: the request is sent again.
    pub is_parting: bool,
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    /// The head of a response has come: how far its body is read before anything follows from it. `None`: not
    /// at all, since its status is final.
    fn extent(
        &self,
        config: &HttpConfig,
        response: &http::Response<R>,
        ended_at: Duration,
        context: &AttemptContext<'_>,
    ) -> Option<ReadExtent> {
        let status = response.status();
        if status.is_success() {
            return Some(ReadExtent::to_end(config.limits.max_response_buffer));
        }
        let result = self.result(config, Some(HttpFailure::Status(status.as_u16())));
        // The response of a hedge may be held, for longer than its connection should be.
        let may_wait = config.policy.permits(result)
            || context.number() > 1 && config.policy.may_hold(result)
            || response.extensions().get::<RefusedCredentials>().is_some();
        let is_drained = self.request.is_replayable() && may_wait;
        is_drained.then(|| ReadExtent::drain(context.clock().at(ended_at.saturating_add(DRAIN_TIME))))
    }

    /// A response whose status is no success, as far as it was read.
    fn response(
        &mut self,
        config: &HttpConfig,
        mut response: http::Response<HttpResponseBody<R>>,
        ended_at: Duration,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let failure = HttpFailure::Status(response.status().as_u16());
        let delay = server_delay(response.headers(), response.body().with_bytes(retry_info_in_json));
        let refused = RefusedCredentials::take(response.extensions_mut());
        let result = self
            .failed(config, Some(failure), AttemptOutcome::Response(Box::new(response)), context)
            .with_server_delay(delay)
            .with_end(ended_at);
        refused.map_or(result, |refused| refused.add_to(result))
    }
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    /// Returns whether a server says by that response that it has closed a connection which was idle for too long: nobody had asked
    /// when it was sent. Such a connection is treated as closed, for requests that may be sent again.
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
            && self.client.shared.connections.knows(response.extensions())
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
            Read::Early(why) => self.ended_early(config, why, context),
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

impl<S: HttpService<B>, B: Replay> HttpProtocol<S, B, S::ResponseBody> {
    /// Sends the request, and awaits the head of its response.
    pub fn poll_head(
        &mut self,
        config: &HttpConfig,
        mut attempt: Pin<&mut HttpAttempt<S::Future, S::ResponseBody>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Head<S::ResponseBody>, AttemptResult>> {
        let (error, part) = loop {
            match attempt.as_mut().project() {
                AttemptProj::Ready => {
                    if let Err(error) = ready!(self.request.poll_open(cx)) {
                        break (BodyNotOpened(error).into(), Part::Head);
                    }
                    if let Err(error) = ready!(self.client.service.poll_ready(cx)) {
                        self.client.renew();
                        break (error.into(), Part::Readiness);
                    }
                    let Some((mut request, cut)) = self.request.write(context.started()) else {
                        break (NoBody.into(), Part::Head);
                    };
                    let unconnected =
                        self.result(config, Some(HttpFailure::Transport(TransportFailure::Connect)));
                    context.link(request.extensions_mut(), None, unconnected);
                    if let Some(mut outgoing) = context.sending() {
                        outgoing.add_headers(request.headers_mut());
                    }
                    let future = self.client.service.call(request);
                    attempt.set(HttpAttempt::Sent { future, cut });
                }
                AttemptProj::Sent { future, cut } => {
                    let response = match ready!(future.poll(cx)) {
                        Ok(response) => response,
                        Err(error) => break (error.into(), Part::Head),
                    };
                    let is_parting = self.is_parting(&response);
                    self.client.shared.connections.remember(response.extensions());
                    #[cfg(feature = "reqwest")]
                    if response.extensions().get::<Redirected>().is_some() {
                        context.note(note::FOLLOWED_REDIRECTS);
                    }
                    let cut = cut.take();
                    attempt.set(HttpAttempt::Done);
                    return Poll::Ready(Ok(Head { response, cut, is_parting }));
                }
                AttemptProj::Collecting { .. } | AttemptProj::Done => return Poll::Pending,
            }
        };
        Poll::Ready(Err(self.broken(config, error, part, context)))
    }

    /// Nothing of the request or its response has moved for too long.
    pub fn idle(
        &mut self,
        config: &HttpConfig,
        mut attempt: Pin<&mut HttpAttempt<S::Future, S::ResponseBody>>,
        error: BoxError,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        context.expire();
        attempt.set(HttpAttempt::Done);
        self.stalled(config, error, context)
    }
}

impl<S: HttpService<B>, B: Replay> Protocol for HttpProtocol<S, B, S::ResponseBody> {
    type Config = HttpConfig;
    type Attempt = HttpAttempt<S::Future, S::ResponseBody>;
    type Slot = Option<http::Response<HttpResponseBody<S::ResponseBody>>>;

    const TRANSPORT: &'static Transport = &HTTP;

    fn name(&self, _: &HttpConfig) -> Name {
        let parts = self.request.parts();
        Name::from(Cow::<'static, str>::Owned(format!("{} {}", parts.method, parts.uri.path())))
    }

    #[inline]
    fn start<'a>(&'a self, config: &'a HttpConfig) -> Start<'a> {
        self.client.shared.start().within(earlier(config.timeout, self.inbound.map(until)))
    }

    fn begin(
        &mut self,
        _: &HttpConfig,
        started: StartedAttempt,
        _: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        let failure = self.failure.take();
        // An attempt whose request is sent again immediately has not failed.
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
        if !matches!(*attempt, HttpAttempt::Collecting { .. }) {
            let head = match ready!(self.poll_head(config, attempt.as_mut(), context, cx)) {
                Ok(head) => head,
                Err(result) => return Poll::Ready(Step::Ended(result)),
            };
            let ended_at = context.clock().elapsed();
            let extent =
                if head.is_parting { None } else { self.extent(config, &head.response, ended_at, context) };
            let method = &self.request.parts().method;
            let reader =
                ResponseReader::new(method, head.response, config.limits.body_idle_timeout, head.cut);
            let status = reader.status();
            let Some(extent) = extent else {
                let response = reader.into_response(Read::NotYet, context.deadline());
                let result = self.response(config, response, ended_at, context);
                let result = if head.is_parting { result.with_resend(Resend::Stale) } else { result };
                return Poll::Ready(Step::Ended(result));
            };
            let ended_at = (!status.is_success()).then_some(ended_at);
            attempt.set(HttpAttempt::Collecting { reader: reader.reading(extent), ended_at });
        }
        let AttemptProj::Collecting { reader, .. } = attempt.as_mut().project() else {
            return Poll::Pending;
        };
        let read = ready!(reader.poll(cx));
        let owned = attempt.as_mut().project_replace(HttpAttempt::Done);
        let AttemptOwned::Collecting { reader, ended_at } = owned else { return Poll::Pending };
        Poll::Ready(Step::Ended(self.read(config, reader, read, ended_at, context, reply)))
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
                self.client.service = self.client.service.clone();
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

/// The delay that a response asks for: by `Retry-After`, or by the `google.rpc.RetryInfo` in what has come of its body.
pub fn server_delay(headers: &HeaderMap, in_body: Option<Duration>) -> ServerDelay {
    retry_after_in(headers).max(in_body).map_or(ServerDelay::None, ServerDelay::AtLeast)
}
