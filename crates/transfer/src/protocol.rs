//! Attempts of a transfer: each is a request over HTTP as any other, which its exchange makes and whose response it reads.

use crate::activity::Activity;
use crate::error::Failure;
use crate::exchange::{Boxed, Class, Ending, Exchange, Incoming, Prepared, Received};
use crate::progress::TransferProgress;
use crate::service::TransferService;
use bytes::Bytes;
use gax_driver::observe::Transport;
use gax_driver::protocol::{AttemptContext, Driver, Name, Protocol, RefusedCredentials, Start, Step};
use gax_driver::{Note, OperationReport};
use gax_http::__private::{
    AttemptOutcome, Broken, Head, HttpAttempt, HttpConfig, HttpProtocol, LayeredClient, Part, server_delay,
};
use gax_http::{HTTP, ReplayBody};
use gax_retry::http::{HttpFailure, retry_info_in_json};
use gax_retry::operation::{AttemptResult, Next, Resend, RetryFact};
use gax_retry::{Code, ServerDelay, StartedAttempt, StopReason};
use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// A program's callback for progress.
pub(super) type OnProgress<'a> = Box<dyn FnMut(&TransferProgress) + Send + 'a>;

/// A transfer on its way.
pub(super) struct TransferProtocol<'a, S: TransferService, X> {
    name: String,
    note: Option<Note>,
    base: HttpProtocol<S, ReplayBody, S::ResponseBody>,
    exchange: X,
    idle_timeout: Duration,
    /// Why the last attempt failed.
    failure: Option<Failure>,
    on_progress: Option<OnProgress<'a>>,
    reported: TransferProgress,
}

/// An attempt in flight.
pub(super) struct TransferAttempt<'a, P, A> {
    stage: Stage<'a, P>,
    request: Pin<Box<A>>,
    activity: Arc<Activity>,
}

enum Stage<'a, P> {
    /// The body of its request is being read from the source.
    Preparing(Boxed<'a, Prepared<P>>),
    /// The request is sent, and the response's head is awaited.
    Sent(P),
    /// The response is being read.
    Reading {
        step: P,
        reading: Boxed<'a, Received>,
        is_parting: bool,
    },
    Done,
}

/// The end of a transfer's operation.
pub(super) struct Ended {
    pub(super) result: Result<http::Response<Bytes>, Failure>,
    pub(super) report: OperationReport,
    pub(super) transfer: TransferProgress,
}

impl<'a, S: TransferService, X: Exchange<'a> + 'a> TransferProtocol<'a, S, X> {
    /// Runs the exchange as one operation of that name to its end. `note`: a fact that its requests don't show, for the report.
    pub(super) fn run(
        (name, note): (String, Option<Note>),
        client: LayeredClient<S>,
        config: Arc<HttpConfig>,
        exchange: X,
        idle_timeout: Option<Duration>,
        on_progress: Option<OnProgress<'a>>,
    ) -> Boxed<'a, Ended> {
        let protocol = Self {
            name,
            note,
            base: HttpProtocol::made_anew(client, &config, http::Request::new(ReplayBody::empty())),
            exchange,
            idle_timeout: idle_timeout.unwrap_or_else(|| config.idle_timeout_of_transfers()),
            failure: None,
            on_progress,
            reported: TransferProgress::default(),
        };
        let (mut driver, mut reply) = (Box::pin(Driver::new(protocol, Arc::clone(&config))), None);
        // A block that is `async` would forget the lifetime of the protocol.
        Box::pin(poll_fn(move |cx| {
            let (stop, report) = ready!(driver.as_mut().poll_end(cx, &mut reply));
            let protocol = driver.as_mut().protocol();
            let transfer = protocol.exchange.progress(0);
            let failure = protocol.failure.take();
            let without_attempt = || {
                let broken =
                    stop.map_or(Broken::NoTime, |stop| Broken::without_attempt(&config.policy, stop));
                Failure::of(broken, Part::Head)
            };
            let result = reply.take().ok_or_else(|| failure.unwrap_or_else(without_attempt));
            Poll::Ready(Ended { result, report: report.with_detail(transfer), transfer })
        }))
    }

    /// How far the transfer has come: as far as before, or farther, unless it was resumed since.
    fn progress(&mut self, place: u64) -> TransferProgress {
        let mut progress = self.exchange.progress(place);
        if progress.resumptions == self.reported.resumptions {
            progress.bytes = progress.bytes.max(self.reported.bytes);
        }
        std::mem::replace(&mut self.reported, progress)
    }

    /// Notifies the program of how far the transfer has come, if that has changed.
    fn report_progress(&mut self, activity: &Activity) {
        let before = self.progress(activity.place());
        if let Some(on_progress) = &mut self.on_progress
            && before != self.reported
        {
            on_progress(&self.reported);
        }
    }

    /// An attempt failed so, and is treated as that.
    fn failed(
        &mut self,
        config: &HttpConfig,
        failure: Failure,
        class: Class,
        progress: bool,
    ) -> AttemptResult {
        let response = failure.response.as_deref();
        let status = response.map(|response| HttpFailure::Status(response.status().as_u16()));
        let delay = response.map_or(ServerDelay::None, |response| {
            server_delay(response.headers(), retry_info_in_json(response.body()))
        });
        let by_code =
            |code, retry| self.base.with_request(AttemptResult::failed(code).with_retry(retry), None);
        let result = match class {
            Class::ByStatus => self.base.result(config, status),
            Class::Always(code) => by_code(code, RetryFact::Yes),
            Class::Never(code) => by_code(code, RetryFact::No(StopReason::NonRetryable)),
        };
        self.failure = Some(failure);
        result.with_progress(progress).with_server_delay(delay)
    }

    /// An attempt ended without a response, which is that for any request.
    fn lost(&mut self, config: &HttpConfig, step: Option<X::Step>, result: AttemptResult) -> AttemptResult {
        let (progress, fault) = self.exchange.lost(step);
        if let Some(fault) = fault {
            return self.failed(config, fault, Class::Never(Code::FailedPrecondition), progress);
        }
        self.broken(result, Part::Head).with_progress(progress)
    }

    /// A request or its response broke.
    fn broken(&mut self, result: AttemptResult, part: Part) -> AttemptResult {
        if let Some(AttemptOutcome::Broken(broken)) = self.base.take_outcome() {
            self.failure = Some(Failure::of(broken, part));
        }
        result
    }

    /// The outcome of an attempt that has a response.
    fn ended(
        &mut self,
        config: &HttpConfig,
        step: X::Step,
        received: Received,
        context: &mut AttemptContext<'_>,
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
            Ending::Early { why, progress } => {
                let result = self.base.ended_early(config, why, context);
                self.broken(result, Part::Body).with_progress(progress)
            }
            Ending::Failed { failure, class, progress } => self.failed(config, failure, class, progress),
        }
    }
}

impl<'a, S: TransferService, X: Exchange<'a> + 'a> Protocol for TransferProtocol<'a, S, X> {
    type Config = HttpConfig;
    type Attempt = TransferAttempt<'a, X::Step, HttpAttempt<S::Future, S::ResponseBody>>;
    type Slot = Option<http::Response<Bytes>>;

    const TRANSPORT: &'static Transport = &HTTP;

    fn name(&self, _: &HttpConfig) -> Name {
        Name::from(Cow::<'static, str>::Owned(self.name.clone()))
    }

    fn start<'b>(&'b self, config: &'b HttpConfig) -> Start<'b> {
        self.base.start(config)
    }

    fn begin(
        &mut self,
        config: &HttpConfig,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        if let Some(note) = self.note {
            context.note(note);
        }
        let activity = Activity::begin(context.clock());
        let stage = Stage::Preparing(self.exchange.prepare(&activity));
        TransferAttempt { stage, request: Box::pin(self.base.begin(config, started, context)), activity }
    }

    fn poll(
        &mut self,
        config: &HttpConfig,
        attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        reply: &mut Self::Slot,
    ) -> Poll<Step> {
        let TransferAttempt { stage, request, activity } = attempt.get_mut();
        let result = loop {
            match stage {
                Stage::Preparing(preparing) => match ready!(preparing.as_mut().poll(cx)) {
                    Ok((step, request)) => {
                        self.base.send_next(request);
                        *stage = Stage::Sent(step);
                    }
                    Err(failure) => {
                        break self.failed(config, failure, Class::Never(Code::FailedPrecondition), false);
                    }
                },
                Stage::Sent(step) => {
                    let step = *step;
                    activity.wake(cx.waker());
                    let was_sent = request.is_sent();
                    let head = self.base.poll_head(config, request.as_mut(), context, cx);
                    if !was_sent {
                        activity.touch();
                    }
                    let Head { response, cut, is_parting } = match head {
                        Poll::Ready(Ok(head)) => head,
                        Poll::Ready(Err(result)) => {
                            let step = request.is_sent().then_some(step);
                            break self.lost(config, step, result);
                        }
                        Poll::Pending => {
                            self.report_progress(activity);
                            if !activity.is_idle(self.idle_timeout) {
                                return Poll::Pending;
                            }
                            let idle = format!("nothing was sent or received for {:?}", self.idle_timeout);
                            let result = self.base.idle(config, request.as_mut(), idle.into(), context);
                            break self.lost(config, Some(step), result);
                        }
                    };
                    let (head, body) = response.into_parts();
                    let body = Incoming::new(&head, body, self.idle_timeout, cut, context.deadline());
                    let reading = self.exchange.read(step, head, body);
                    *stage = Stage::Reading { step, reading, is_parting };
                }
                Stage::Reading { step, reading, is_parting } => {
                    let Poll::Ready(mut received) = reading.as_mut().poll(cx) else {
                        self.report_progress(activity);
                        return Poll::Pending;
                    };
                    let refused = RefusedCredentials::take(&mut received.head.extensions);
                    let result = self.ended(config, *step, received, context, reply);
                    self.report_progress(activity);
                    break match refused {
                        Some(refused) => refused.add_to(result),
                        None if *is_parting => result.with_resend(Resend::Stale),
                        None => result,
                    };
                }
                Stage::Done => return Poll::Pending,
            }
        };
        *stage = Stage::Done;
        Poll::Ready(Step::Ended(result))
    }

    fn expire(
        &mut self,
        config: &HttpConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let Some(attempt) = attempt else {
            let result = self.base.expire(config, None, context);
            return self.lost(config, None, result);
        };
        let TransferAttempt { stage, request, .. } = attempt.get_mut();
        let step = match std::mem::replace(stage, Stage::Done) {
            Stage::Sent(step) => Some(step).filter(|_| request.is_sent()),
            Stage::Reading { step, .. } => Some(step),
            Stage::Preparing(_) | Stage::Done => None,
        };
        let result = self.base.expire(config, Some(request.as_mut()), context);
        self.lost(config, step, result)
    }

    /// Observers are notified of how far the transfer has come with it.
    fn ending(&mut self, context: &mut AttemptContext<'_>) {
        self.progress(0);
        context.event(&self.reported);
    }

    fn due(&self, attempt: &Self::Attempt) -> Option<Instant> {
        attempt.request.is_sent().then(|| attempt.activity.idle_at(self.idle_timeout)).flatten()
    }
}
