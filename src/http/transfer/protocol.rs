//! Attempts of a transfer: each is one request over the HTTP service below the layer.

use crate::http::ReplayBody;
use crate::http::config::HttpConfig;
use crate::http::failure::{Cause, Part, classify};
use crate::http::protocol::HTTP;
use crate::http::protocol::resend;
use crate::http::request::{CutOff, Replay as _};
use crate::http::response::{OpenBody, announced_length};
use crate::http::shared_state::SharedState;
use crate::http::transfer::activity::Activity;
use crate::http::transfer::error::{Failure, TransferErrorKind};
use crate::http::transfer::exchange::{Boxed, Class, End, Ending, Exchange, Incoming, Prepared, Received};
use crate::http::transfer::progress::{TransferProgress, TransferReport};
use crate::http::transfer::service::TransferService;
use crate::operation::{
    AttemptContext, Name, ObservedTransport, Protocol, Start, Step, earlier, inbound_deadline, until,
};
use crate::transport::{BoxError, SharedService, retry_after_in};
use bytes::{Buf as _, Bytes};
use gax_retry::http::{HttpFailure, IdempotencyStrategy, TransportFailure};
use gax_retry::operation::{AttemptResult, Next, RetryFact};
use gax_retry::{Code, Delivery, ServerDelay, StartedAttempt, StopReason};
use http_body_util::BodyExt as _;
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// A program's callback for progress.
pub(super) type OnProgress<'a> = Box<dyn FnMut(&TransferProgress) + Send + 'a>;

/// A transfer on its way.
pub(super) struct TransferProtocol<'a, S, X> {
    service: S,
    spare: SharedService<S>,
    shared: Arc<SharedState>,
    inbound: Option<Instant>,
    idle_timeout: Duration,
    pub(super) exchange: X,
    /// Why the last attempt failed.
    pub(super) failure: Option<Failure>,
    on_progress: Option<OnProgress<'a>>,
    reported: TransferProgress,
}

/// A request in flight.
pub(super) struct TransferAttempt<'a, P, F> {
    stage: Stage<'a, P, F>,
    activity: Arc<Activity>,
}

/// Nothing in it is pinned in its place.
impl<P, F> Unpin for TransferAttempt<'_, P, F> {}

enum Stage<'a, P, F> {
    /// Its body is being read from the source.
    Preparing(Boxed<'a, Prepared<P>>),
    /// The service is not ready yet.
    Ready {
        step: P,
        request: Box<http::Request<ReplayBody>>,
    },
    /// The request goes out, and the response's head is awaited.
    Sent {
        step: P,
        future: Pin<Box<F>>,
        cut: Option<CutOff>,
    },
    /// The response is being read.
    Reading {
        step: P,
        reading: Boxed<'a, Received>,
    },
    Done,
}

impl<'a, S: Clone, X: Exchange<'a>> TransferProtocol<'a, S, X> {
    pub(super) fn new(
        service: (S, SharedService<S>),
        shared: Arc<SharedState>,
        exchange: X,
        idle_timeout: Duration,
        on_progress: Option<OnProgress<'a>>,
    ) -> Self {
        let (service, spare) = service;
        Self {
            service,
            spare,
            shared,
            inbound: inbound_deadline(),
            idle_timeout,
            exchange,
            failure: None,
            on_progress,
            reported: TransferProgress::default(),
        }
    }

    /// Notifies the program of how far the transfer has come, if that has changed.
    fn report_progress(&mut self, activity: &Activity) {
        if let Some(on_progress) = &mut self.on_progress {
            let progress = self.exchange.progress(activity);
            if progress != self.reported {
                self.reported = progress;
                on_progress(&progress);
            }
        }
    }

    /// An attempt has ended: observers are notified of how far the transfer has come with it.
    fn over(&self, result: AttemptResult, context: &mut AttemptContext<'_>) -> Poll<Step> {
        let TransferReport { bytes, resumptions } = self.exchange.summary();
        context.transferred(bytes, resumptions);
        Poll::Ready(Step::Ended(result))
    }

    /// An attempt failed so, and counts as the layer has it.
    fn failed(
        &mut self,
        config: &HttpConfig,
        failure: Failure,
        class: Class,
        progress: bool,
    ) -> AttemptResult {
        let delay = failure.response.as_ref().and_then(|response| retry_after_in(response.headers()));
        let result = match class {
            Class::As(failure) => config.failed(Some(failure)),
            Class::Always(code) => AttemptResult::failed(code).with_retry(RetryFact::Yes),
            Class::Never(code) => {
                AttemptResult::failed(code).with_retry(RetryFact::No(StopReason::NonRetryable))
            }
        };
        self.failure = Some(failure);
        result
            .with_idempotent(may_be_retried(config))
            .with_progress(progress)
            .with_server_delay(delay.map_or(ServerDelay::None, ServerDelay::AtLeast))
    }

    /// The outcome of an attempt that has a response.
    fn ended(
        &mut self,
        config: &HttpConfig,
        step: X::Step,
        received: Received,
        reply: &mut Option<http::Response<Bytes>>,
    ) -> AttemptResult {
        match self.exchange.received(step, received) {
            Ending::Done(response) => {
                *reply = Some(*response);
                AttemptResult::done()
            }
            Ending::NotDone { progress } => {
                // A failure before the progress is not why the transfer ends later.
                self.failure = self.failure.take().filter(|_| !progress);
                AttemptResult::not_done(Next::Now).with_progress(progress)
            }
            Ending::Failed { failure, class, progress } => self.failed(config, failure, class, progress),
        }
    }

    /// The request or its response broke.
    fn broken(
        &mut self,
        config: &HttpConfig,
        step: Option<X::Step>,
        error: BoxError,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let (progress, fault) = self.exchange.lost(step);
        if let Some(fault) = fault {
            return self.failed(config, fault, Class::Never(Code::FailedPrecondition), progress);
        }
        let mut cause = classify(&*error, Part::Head);
        if cause.is_closed_by_us && context.is_culprit() {
            cause = Cause::UNREADABLE;
        }
        if let Some(problem) = cause.problem {
            context.note(problem.note());
        }
        let may_be_retried = may_be_retried(config);
        let resend = resend(cause, Part::Head, &error, may_be_retried, &self.shared.connections);
        let failure =
            Failure::new(TransferErrorKind::Connection, "the connection failed").with_source(plain(error));
        let result = match cause.failure {
            Some(transport) => {
                self.failed(config, failure, Class::As(HttpFailure::Transport(transport)), progress)
            }
            None => self.failed(config, failure, Class::Never(Code::Unknown), progress),
        };
        cause.add_to(result, may_be_retried).with_resend(resend)
    }

    /// Our own clock ended the attempt.
    fn timed_out(&mut self, config: &HttpConfig, step: Option<X::Step>, problem: String) -> AttemptResult {
        let (progress, fault) = self.exchange.lost(step);
        if let Some(fault) = fault {
            return self.failed(config, fault, Class::Never(Code::FailedPrecondition), progress);
        }
        let failure = Failure::new(TransferErrorKind::TimedOut, problem);
        self.failed(config, failure, Class::As(HttpFailure::Transport(TransportFailure::Timeout)), progress)
    }
}

/// Whether the strategy retries anything at all. The requests of a session are safe to retry: it knows what it has.
fn may_be_retried(config: &HttpConfig) -> bool {
    config.strategy != IdempotencyStrategy::Never
}

/// The error of a client without the URI, which may be that of a session.
fn plain(error: BoxError) -> BoxError {
    #[cfg(feature = "reqwest")]
    let error = match crate::http::failure::FirstHop::unwrap(error).downcast::<reqwest::Error>() {
        Ok(error) => Box::new(error.without_url()),
        Err(error) => error,
    };
    error
}

impl<'a, S, X> Protocol for TransferProtocol<'a, S, X>
where
    S: TransferService,
    X: Exchange<'a>,
{
    type Config = HttpConfig;
    type Attempt = TransferAttempt<'a, X::Step, S::Future>;
    type Slot = Option<http::Response<Bytes>>;

    const TRANSPORT: &'static ObservedTransport = &HTTP;

    fn name(&self, _: &HttpConfig) -> Name {
        Name::from(Cow::<'static, str>::Owned(self.exchange.name().to_owned()))
    }

    fn start<'b>(&'b self, config: &'b HttpConfig) -> Start<'b> {
        self.shared.start().within(earlier(config.timeout, self.inbound.map(until)))
    }

    fn begin(
        &mut self,
        _: &HttpConfig,
        _: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        if let Some(note) = self.exchange.note() {
            context.note(note);
        }
        let activity = Activity::begin(context.clock());
        TransferAttempt { stage: Stage::Preparing(self.exchange.prepare(&activity)), activity }
    }

    fn poll(
        &mut self,
        config: &HttpConfig,
        attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        reply: &mut Self::Slot,
    ) -> Poll<Step> {
        let attempt = attempt.get_mut();
        loop {
            match &mut attempt.stage {
                Stage::Preparing(preparing) => match ready!(preparing.as_mut().poll(cx)) {
                    Ok((step, request)) => attempt.stage = Stage::Ready { step, request: Box::new(request) },
                    Err(failure) => {
                        attempt.stage = Stage::Done;
                        let class = Class::Never(Code::FailedPrecondition);
                        let result = self.failed(config, failure, class, false);
                        return self.over(result, context);
                    }
                },
                Stage::Ready { .. } => {
                    if let Err(error) = ready!(self.service.poll_ready(cx)) {
                        // A service that has failed is neither called nor asked again.
                        self.service = self.spare.copy();
                        attempt.stage = Stage::Done;
                        let result = self.broken(config, None, error.into(), context);
                        return self.over(result, context);
                    }
                    let Stage::Ready { step, request } = std::mem::replace(&mut attempt.stage, Stage::Done)
                    else {
                        return Poll::Pending;
                    };
                    let mut request = *request;
                    #[cfg(feature = "connection")]
                    context.link(request.extensions_mut(), None);
                    if let Some(mut outgoing) = context.sending() {
                        outgoing.add_headers(request.headers_mut());
                    }
                    let cut = request.body_mut().cut_off();
                    attempt.activity.touch();
                    let future = Box::pin(self.service.call(request));
                    attempt.stage = Stage::Sent { step, future, cut };
                }
                Stage::Sent { step, future, cut } => {
                    let step = *step;
                    attempt.activity.wake(cx.waker());
                    let response = match future.as_mut().poll(cx) {
                        Poll::Ready(Ok(response)) => response,
                        Poll::Ready(Err(error)) => {
                            attempt.stage = Stage::Done;
                            let result = self.broken(config, Some(step), error.into(), context);
                            return self.over(result, context);
                        }
                        Poll::Pending => {
                            self.report_progress(&attempt.activity);
                            if !attempt.activity.is_idle(self.idle_timeout) {
                                return Poll::Pending;
                            }
                            #[cfg(feature = "connection")]
                            context.expire();
                            attempt.stage = Stage::Done;
                            let problem = format!("nothing was sent or received for {:?}", self.idle_timeout);
                            let result = self.timed_out(config, Some(step), problem);
                            return self.over(result, context);
                        }
                    };
                    self.shared.connections.remember(response.extensions());
                    let (head, body) = response.into_parts();
                    let length = announced_length(&http::Method::GET, &head);
                    let body = body
                        .map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
                        .map_err(Into::into)
                        .boxed_unsync();
                    let body = OpenBody::new(body, length, Some(self.idle_timeout), cut.take());
                    let reading = self.exchange.read(step, head, Incoming::new(body));
                    attempt.stage = Stage::Reading { step, reading };
                }
                Stage::Reading { step, reading } => {
                    let step = *step;
                    let Poll::Ready(received) = reading.as_mut().poll(cx) else {
                        self.report_progress(&attempt.activity);
                        return Poll::Pending;
                    };
                    attempt.stage = Stage::Done;
                    let result = self.ended(config, step, received, reply);
                    self.report_progress(&attempt.activity);
                    return self.over(result, context);
                }
                Stage::Done => return Poll::Pending,
            }
        }
    }

    fn expire(
        &mut self,
        config: &HttpConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let after = context.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        let problem = format!("the last attempt timed out after {after:?}");
        let Some(attempt) = attempt else {
            return self.timed_out(config, None, problem).with_timed_out().with_delivery(Delivery::NotSent);
        };
        let step = match std::mem::replace(&mut attempt.get_mut().stage, Stage::Done) {
            Stage::Sent { step, .. } | Stage::Reading { step, .. } => Some(step),
            Stage::Ready { .. } => {
                // A place in the service's queue must not be held through a delay.
                self.service = self.service.clone();
                None
            }
            Stage::Preparing(_) | Stage::Done => None,
        };
        let result = self.timed_out(config, step, problem).with_timed_out();
        let TransferReport { bytes, resumptions } = self.exchange.summary();
        context.transferred(bytes, resumptions);
        result
    }

    fn due(&self, attempt: &Self::Attempt) -> Option<Instant> {
        match attempt.stage {
            Stage::Sent { .. } => attempt.activity.idle_at(self.idle_timeout),
            _ => None,
        }
    }
}

/// The failure of a response that ended early.
pub(super) fn ended_early(end: End, progress: bool) -> Option<Ending> {
    let (kind, problem, error) = match end {
        End::Whole => return None,
        End::Failed(failure) => {
            return Some(Ending::Failed { failure, class: Class::Never(Code::FailedPrecondition), progress });
        }
        End::Broken(error) => (TransferErrorKind::Connection, "the response broke off", error),
        End::Stalled(error) => (TransferErrorKind::TimedOut, "the response stalled", error),
    };
    let transport = match kind {
        TransferErrorKind::TimedOut => Some(TransportFailure::Timeout),
        _ => classify(&*error, Part::Body).failure,
    };
    let class =
        transport.map_or(Class::Never(Code::Unknown), |failure| Class::As(HttpFailure::Transport(failure)));
    Some(Ending::Failed { failure: Failure::new(kind, problem).with_source(plain(error)), class, progress })
}
