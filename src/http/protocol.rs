//! Attempts over an HTTP service: requests go out, responses and errors become facts.

use super::BoxError;
use super::body::HttpResponseBody;
use super::cause::{NoBody, Part};
use super::error::Broken;
use super::failure::Suspect;
use super::incoming::{DRAIN_TIME, Extent, Incoming, Read};
use super::open_body::EndedEarly;
use super::outgoing::Outgoing;
use super::plan::HttpPlan;
use super::replay::Replay;
use super::report::HttpReport;
use super::retry_after::asked_for;
use super::service::{Config, Limits};
use crate::grpc::inbound_deadline;
use crate::operation::{Current, Fact, Jitter, Name, Note, Protocol, Spare, Timer, until};
use gax_retry::{
    AttemptKind, AttemptResult, Code, HttpFailure, RetryFact, ServerDelay, StartedAttempt, StopReason,
};
use http::StatusCode;
use http_body::Body;
use pin_project_lite::pin_project;
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tower_service::Service;

/// One request on its way to its response.
pub(super) struct HttpProtocol<S, B, R> {
    service: S,
    spare: Spare<S>,
    pub(super) config: Arc<Config>,
    inbound: Option<Instant>,
    outgoing: Outgoing<B>,
    /// Whether the request may be sent twice, whatever became of it.
    pub(super) is_repeatable: bool,
    pub(super) http: Box<HttpReport>,
    /// How the last attempt failed.
    failure: Option<HttpFailure>,
    /// What it ended with.
    pub(super) ended: Option<Ended<R>>,
}

/// What an attempt ended with.
pub(super) enum Ended<R> {
    Response(Box<http::Response<HttpResponseBody<R>>>),
    Broken(Broken),
}

impl<R> Ended<R> {
    /// Lets go of the connection that a response still holds.
    fn cut(&mut self) {
        if let Ended::Response(response) = self {
            response.body_mut().cut();
        }
    }
}

pin_project! {
    /// An attempt in flight.
    #[project = AttemptProj]
    #[project_replace = AttemptOwned]
    pub(super) enum HttpAttempt<F, R> {
        // The service is asked whether it takes a request.
        Ready,
        // The request is out, and the head of the response is awaited.
        Sent { #[pin] future: F },
        // The body of the response comes in. A status that is no success has ended the attempt before.
        Collecting { incoming: Incoming<R>, extent: Extent, timer: Timer, ended_at: Option<Duration> },
        // It failed, and whether its own response was the reason is not known yet.
        Suspected { suspect: Suspect, timer: Timer },
        // It has ended.
        Done,
    }
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    pub(super) fn new(
        service: S,
        spare: Spare<S>,
        plan: &HttpPlan,
        config: Arc<Config>,
        outgoing: Outgoing<B>,
    ) -> Self {
        let verdict = plan.classify(outgoing.parts(), &outgoing.bytes().unwrap_or_default());
        let http = Box::new(HttpReport::new(verdict, plan.strategy));
        Self {
            service,
            spare,
            config,
            inbound: inbound_deadline(),
            is_repeatable: http.may_be_sent_again(),
            outgoing,
            http,
            failure: None,
            ended: None,
        }
    }

    /// What the operation is called in its report.
    pub(super) fn name(&self) -> Name {
        let parts = self.outgoing.parts();
        Name::from(Cow::<'static, str>::Owned(format!("{} {}", parts.method, parts.uri.path())))
    }

    /// What the report says besides the attempts.
    pub(super) fn details(&mut self) -> HttpReport {
        self.http.failures.extend(self.failure.take());
        (*self.http).clone()
    }

    fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// The facts of an attempt that failed so; `None`: by a fault of the request's own.
    fn result(&self, plan: &HttpPlan, failure: Option<HttpFailure>) -> AttemptResult {
        let (code, listed) = match failure {
            Some(failure) => plan.classified(failure),
            None => (Code::Unknown, Some(false)),
        };
        let retry = match listed {
            None => RetryFact::ByCode,
            Some(true) => RetryFact::Yes,
            Some(false) => RetryFact::No(StopReason::NonRetryable),
        };
        AttemptResult::failed(code)
            .with_retry(retry)
            .with_idempotent(self.is_repeatable)
            .with_replayable(self.outgoing.is_replayable())
    }

    /// The attempt failed so, and that is what is left of it.
    pub(super) fn failed(
        &mut self,
        plan: &HttpPlan,
        failure: Option<HttpFailure>,
        ended: Ended<R>,
        current: &mut Current<'_>,
    ) -> AttemptResult {
        self.failure = failure;
        self.ended = Some(ended);
        let result = self.result(plan, failure);
        if plan.policy.permits(result) && !self.outgoing.is_replayable() {
            current.note(self.outgoing.note());
        }
        result
    }

    /// The head of a response has come: how far its body is read before anything follows from it. `None`: not
    /// at all, since its status is final.
    fn extent(
        &self,
        plan: &HttpPlan,
        status: StatusCode,
        ended_at: Duration,
        current: &Current<'_>,
    ) -> Option<Extent> {
        if status.is_success() {
            return Some(Extent::to_end(self.limits().max_response_buffer));
        }
        let result = self.result(plan, Some(HttpFailure::Status(status.as_u16())));
        let is_drained = self.outgoing.is_replayable() && plan.policy.permits(result);
        is_drained.then(|| Extent::drain(current.clock().at(ended_at.saturating_add(DRAIN_TIME))))
    }

    /// A response whose status is no success, as far as it was read.
    fn response(
        &mut self,
        plan: &HttpPlan,
        response: http::Response<HttpResponseBody<R>>,
        ended_at: Duration,
        current: &mut Current<'_>,
    ) -> AttemptResult {
        let failure = HttpFailure::Status(response.status().as_u16());
        let asked = self.limits().retry_after.then(|| asked_for(response.headers())).flatten();
        let delay = asked.map_or(ServerDelay::None, ServerDelay::AtLeast);
        self.failed(plan, Some(failure), Ended::Response(Box::new(response)), current)
            .with_server_delay(delay)
            .with_end(ended_at)
    }

    /// The attempt's time was up before it had a status.
    fn timed_out(&mut self, plan: &HttpPlan, current: &mut Current<'_>) -> AttemptResult {
        let after = current.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        let broken = Broken::TimedOut { after };
        let failure = broken.failure().map(HttpFailure::Transport);
        self.failed(plan, failure, Ended::Broken(broken), current)
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
        plan: &HttpPlan,
        incoming: Incoming<R>,
        read: Read,
        ended_at: Option<Duration>,
        current: &mut Current<'_>,
    ) -> Fact<http::Response<HttpResponseBody<R>>> {
        if let Some(ended_at) = ended_at {
            let response = incoming.into_response(read, current.deadline());
            return Fact::Ended(self.response(plan, response, ended_at, current));
        }
        Fact::Ended(match read {
            Read::Early(EndedEarly::TimedOut) => self.timed_out(plan, current),
            Read::Early(why @ EndedEarly::Idle(_)) => self.stalled(plan, why.into_error(), current),
            Read::Early(why) => self.broken(plan, why.into_error(), Part::Body, current),
            // The operation's clock stops: what is still to come may take as long as it likes.
            Read::NotYet | Read::Whole | Read::TooLong => {
                if !matches!(read, Read::Whole) {
                    current.note(Note::ResponseTooLargeToJudge);
                }
                return Fact::Replied(incoming.into_response(read, None));
            }
        })
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
    type Plan = HttpPlan;
    type Attempt = HttpAttempt<S::Future, R>;
    type Reply = http::Response<HttpResponseBody<R>>;

    fn bound(&self, plan: &HttpPlan) -> Option<Duration> {
        [plan.timeout, self.inbound.map(until)].into_iter().flatten().min()
    }

    fn jitter(&self, _: &HttpPlan) -> Jitter {
        self.config.jitter.next()
    }

    fn begin(&mut self, _: &HttpPlan, started: StartedAttempt, _: &mut Current<'_>) -> Self::Attempt {
        let failure = self.failure.take();
        // One that is sent again in silence is as if it had not been sent before.
        self.http.failures.extend(failure.filter(|_| started.kind() != AttemptKind::Resend));
        // The connection of the attempt before goes to this one.
        self.ended = None;
        HttpAttempt::Ready
    }

    fn poll(
        &mut self,
        plan: &HttpPlan,
        mut attempt: Pin<&mut Self::Attempt>,
        current: &mut Current<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Fact<Self::Reply>> {
        loop {
            match attempt.as_mut().project() {
                AttemptProj::Ready => match ready!(self.service.poll_ready(cx)) {
                    Ok(()) => {
                        let Some(request) = self.outgoing.write() else {
                            let error: BoxError = Box::new(NoBody);
                            return ended(self.broken(plan, error, Part::Head, current));
                        };
                        let future = self.service.call(request);
                        attempt.set(HttpAttempt::Sent { future });
                    }
                    Err(error) => {
                        // A service that has failed is neither called nor asked again.
                        self.service = self.spare.copy();
                        return ended(self.broken(plan, error.into(), Part::Head, current));
                    }
                },
                AttemptProj::Sent { future } => match ready!(future.poll(cx)) {
                    Ok(response) => {
                        self.config.connections.remember(response.extensions());
                        let ended_at = current.clock().elapsed();
                        let method = &self.outgoing.parts().method;
                        let incoming = Incoming::new(method, response, self.limits().body_idle_timeout);
                        let status = incoming.status();
                        let Some(extent) = self.extent(plan, status, ended_at, current) else {
                            let response = incoming.into_response(Read::NotYet, current.deadline());
                            return ended(self.response(plan, response, ended_at, current));
                        };
                        let ended_at = (!status.is_success()).then_some(ended_at);
                        let timer = Timer::default();
                        attempt.set(HttpAttempt::Collecting { incoming, extent, timer, ended_at });
                    }
                    Err(error) => match Suspect::of(error.into(), Part::Head, current) {
                        Ok(suspect) => attempt.set(suspect.waiting()),
                        Err(error) => return ended(self.broken(plan, error, Part::Head, current)),
                    },
                },
                AttemptProj::Collecting { incoming, extent, timer, .. } => {
                    let read = ready!(incoming.poll(*extent, timer, cx));
                    let owned = attempt.as_mut().project_replace(HttpAttempt::Done);
                    let AttemptOwned::Collecting { incoming, ended_at, .. } = owned else {
                        return Poll::Pending;
                    };
                    let read = match read {
                        Read::Early(EndedEarly::Broke(error)) if ended_at.is_none() => {
                            match Suspect::of(error, Part::Body, current) {
                                Ok(suspect) => {
                                    attempt.set(suspect.waiting());
                                    continue;
                                }
                                Err(error) => Read::Early(EndedEarly::Broke(error)),
                            }
                        }
                        read => read,
                    };
                    return Poll::Ready(self.read(plan, incoming, read, ended_at, current));
                }
                AttemptProj::Suspected { suspect, timer } => {
                    ready!(timer.poll_at(Some(suspect.until()), cx));
                    let AttemptOwned::Suspected { suspect, .. } = attempt.project_replace(HttpAttempt::Done)
                    else {
                        return Poll::Pending;
                    };
                    return ended(self.cleared(plan, suspect, current));
                }
                AttemptProj::Done => return Poll::Pending,
            }
        }
    }

    fn expire(
        &mut self,
        plan: &HttpPlan,
        attempt: Pin<&mut Self::Attempt>,
        current: &mut Current<'_>,
    ) -> AttemptResult {
        match attempt.project_replace(HttpAttempt::Done) {
            AttemptOwned::Ready => {
                // A place in the service's queue must not be held through a delay.
                self.service = self.service.clone();
            }
            AttemptOwned::Collecting { incoming, ended_at, .. } => {
                if let Some(ended_at) = ended_at {
                    let late = Read::Early(EndedEarly::TimedOut);
                    let response = incoming.into_response(late, current.deadline());
                    return self.response(plan, response, ended_at, current);
                }
            }
            AttemptOwned::Suspected { suspect, .. } => return self.cleared(plan, suspect, current),
            AttemptOwned::Sent { .. } | AttemptOwned::Done => {}
        }
        self.timed_out(plan, current)
    }

    fn before_wait(&mut self) {
        if let Some(ended) = &mut self.ended {
            ended.cut();
        }
    }
}

fn ended<R>(result: AttemptResult) -> Poll<Fact<R>> {
    Poll::Ready(Fact::Ended(result))
}
