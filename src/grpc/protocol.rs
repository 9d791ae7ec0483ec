//! Attempts over a gRPC service: requests go out, responses, statuses and errors become facts.

use super::access::{Access, ready_now};
use super::cause::{Nature, Reach};
use super::deadline;
use super::failure::{Failure, Suspect};
use super::incoming::{Incoming, Judge, Step};
use super::outgoing::Outgoing;
use super::plan::MethodPlan;
use super::rest::Tail;
use crate::operation::{
    ConnectProblem, Current, Fact, Jitter, Name, Note, OperationReport, Protocol, Unsendable, blame, until,
};
use gax_retry::{
    AttemptKind, AttemptResult, Code, Delivery, Resend, RetryFact, Seen, StartedAttempt, Stop, StopReason,
};
use http::HeaderValue;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::StdError;

/// One call on its way to its response.
#[derive(Debug)]
pub(crate) struct GrpcProtocol<A, Q> {
    access: A,
    request: Q,
    judge: Judge,
    /// Time has passed since the attempt began, so that less than its RPC timeout is left.
    is_late: bool,
    /// What the attempt in hand may take.
    rpc_timeout: Option<Duration>,
    /// What the last attempt ended with.
    failure: Option<Box<Failure>>,
}

/// A response to hand on: its head and what was held back of it, and what follows.
pub(crate) struct Reply {
    pub(crate) incoming: Incoming,
    pub(crate) tail: Tail,
}

pin_project! {
    /// An attempt in flight.
    #[project = AttemptProj]
    pub(crate) enum GrpcAttempt<F> {
        // The service is asked whether it takes a request.
        Ready,
        // The request is out, and the head of the response is awaited.
        Sent { #[pin] future: F },
        // The response comes in, in more than one go.
        Collecting { incoming: Box<Incoming> },
        // The service takes no request any more.
        Broken { error: Option<StdError> },
        // It failed, and whether its own response was the reason is not known yet.
        Suspected { suspect: Option<Box<Suspect>>, until: Instant },
    }
}

/// How an attempt went wrong.
pub(crate) enum Bad {
    /// It ended with that.
    Ended(AttemptResult),
    /// It is not known yet.
    Suspected(Box<Suspect>),
}

impl<A: Access, Q: Outgoing> GrpcProtocol<A, Q> {
    #[inline]
    pub(crate) fn new(access: A, request: Q, judge: Judge) -> Self {
        Self { access, request, judge, is_late: false, rpc_timeout: None, failure: None }
    }

    pub(crate) fn request(&self) -> &Q {
        &self.request
    }

    /// What the operation is called in its report.
    pub(crate) fn name(&self) -> Name {
        Name::from(self.request.path())
    }

    /// Sends the first attempt now if `service` takes it: the caller's own request, which `complete` makes that of
    /// an attempt with the timeout in hand.
    #[inline]
    pub(crate) fn send_now(
        &mut self,
        service: &mut A::Service,
        plan: &MethodPlan,
        started: StartedAttempt,
        current: &mut Current<'_>,
        request: http::Request<Body>,
        complete: impl FnOnce(&mut Q, http::Request<Body>, Option<HeaderValue>) -> http::Request<Body>,
    ) -> GrpcAttempt<<A::Service as GrpcService<Body>>::Future> {
        self.begun(plan, started, current);
        let timeout = self.timeout(plan, current);
        let request = complete(&mut self.request, request, timeout);
        match ready_now(service) {
            Poll::Ready(Ok(())) => GrpcAttempt::Sent { future: service.call(request) },
            Poll::Ready(Err(error)) => GrpcAttempt::Broken { error: Some(error.into()) },
            // Whether it is ready is asked again when the call is polled, and nobody knows when that will be.
            Poll::Pending => {
                self.request.put_off(request);
                self.is_late = true;
                GrpcAttempt::Ready
            }
        }
    }

    #[inline]
    fn begun(&mut self, plan: &MethodPlan, started: StartedAttempt, current: &mut Current<'_>) {
        self.rpc_timeout = started.rpc_timeout();
        if let Some(note) = self.request.note(plan).filter(|_| started.number() == 1) {
            current.note(note);
        }
    }

    /// The `grpc-timeout` of the attempt in hand.
    #[inline]
    fn timeout(&self, plan: &MethodPlan, current: &Current<'_>) -> Option<HeaderValue> {
        if self.is_late {
            self.rpc_timeout?;
            return current.deadline().map(until).map(deadline::header_value);
        }
        if self.rpc_timeout == plan.first_rpc_timeout {
            return plan.first_timeout.clone();
        }
        self.rpc_timeout.map(deadline::header_value)
    }

    /// The facts of an attempt that ended with that failure, which is kept.
    fn ended(&mut self, plan: &MethodPlan, mut failure: Box<Failure>, seen: Seen) -> AttemptResult {
        let result = AttemptResult::failed(failure.code)
            .with_seen(seen)
            .with_replayable(self.request.is_replayable(plan));
        failure.follow(self.failure.take());
        self.failure = Some(failure);
        result
    }

    fn timed_out(&mut self, plan: &MethodPlan, seen: Seen) -> AttemptResult {
        let timeout = self.rpc_timeout.unwrap_or_default();
        self.ended(plan, Box::new(Failure::timed_out(timeout)), seen)
    }

    /// The attempt ended with a status, or with a response that has none.
    pub(super) fn failed(
        &mut self,
        plan: &MethodPlan,
        failure: Box<Failure>,
        seen: Seen,
        current: &mut Current<'_>,
    ) -> AttemptResult {
        if plan.limits.server_timeouts_are_ours && failure.is_server_timeout() && time_is_up(current) {
            current.note(Note::CountedAsDeadlineExceeded);
            return self.timed_out(plan, seen);
        }
        self.ended(plan, failure, seen)
    }

    /// The connection or the stream broke; `answered` says that the response had begun.
    pub(super) fn broken(
        &mut self,
        plan: &MethodPlan,
        error: StdError,
        seen: Seen,
        current: &mut Current<'_>,
    ) -> Bad {
        let problem = ConnectProblem::of(&*error);
        let (failure, verdict) = Failure::transport(error, seen != Seen::Nothing);
        let failure = Box::new(failure);
        if let Some(problem) = problem {
            current.note(Note::CannotConnect(problem));
            if !problem.may_recover() {
                return Bad::Ended(self.hopeless(plan, failure));
            }
        }
        if verdict.code == Code::DeadlineExceeded && time_is_up(current) {
            // tonic's own timer, which the header of the attempt has set.
            return Bad::Ended(self.timed_out(plan, seen));
        }
        match verdict.nature {
            Nature::CancelledByServer if time_is_up(current) => {
                current.note(Note::CountedAsDeadlineExceeded);
                return Bad::Ended(self.timed_out(plan, seen));
            }
            Nature::Plain | Nature::CancelledByServer => {}
            Nature::Unreadable => return Bad::Ended(self.unreadable(plan, failure, current)),
            Nature::Suspect(code) => {
                return Bad::Suspected(Box::new(Suspect::new(failure, code, seen, current.clock())));
            }
        }
        let result = self.ended(plan, failure, seen);
        Bad::Ended(match verdict.reach {
            Reach::NeverSent => result.with_delivery(Delivery::NotSent).with_resend(Resend::Lost),
            Reach::Refused => result.with_delivery(Delivery::NotProcessed).with_resend(Resend::Refused),
            Reach::MaybeSent => result,
            Reach::ChannelClosed => result.with_retry(RetryFact::No(StopReason::ChannelClosed)),
        })
    }

    /// The response can't be read, and no other attempt would read it better.
    pub(super) fn unreadable(
        &mut self,
        plan: &MethodPlan,
        failure: Box<Failure>,
        current: &mut Current<'_>,
    ) -> AttemptResult {
        current.note(Note::UnreadableResponse);
        self.hopeless(plan, failure)
    }

    /// No other attempt can do better, whatever its code says.
    #[cold]
    fn hopeless(&mut self, plan: &MethodPlan, failure: Box<Failure>) -> AttemptResult {
        self.ended(plan, failure, Seen::Nothing).with_retry(RetryFact::No(StopReason::NonRetryable))
    }

    /// Whether it was this call's own response that could not be read is known now.
    #[cold]
    fn cleared(&mut self, plan: &MethodPlan, suspect: Suspect, current: &mut Current<'_>) -> AttemptResult {
        let Suspect { mut failure, code, seen, died, ended_at } = suspect;
        let result = if blame::was_alone(died) {
            failure.code = code;
            self.unreadable(plan, failure, current)
        } else {
            self.ended(plan, failure, seen)
        };
        result.with_end(ended_at)
    }

    /// The status that the operation ends with.
    pub(crate) fn status(&mut self, stop: Stop, report: OperationReport) -> Status {
        let failure = match self.failure.take() {
            Some(failure) if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded => {
                let mut late = Failure::at_deadline();
                late.follow(Some(failure));
                late
            }
            Some(failure) => *failure,
            None => Failure::no_time(),
        };
        failure.into_status(report)
    }

    /// Goes on with a response that comes in.
    #[inline]
    fn read(
        &mut self,
        plan: &MethodPlan,
        incoming: &mut Incoming,
        current: &mut Current<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Tail, Bad>> {
        let judge = self.judge;
        Poll::Ready(match ready!(incoming.poll(judge, plan.limits.max_response_buffer, current, cx)) {
            Step::Good(tail) => Ok(tail),
            Step::Failed(failure) => Err(Bad::Ended(self.failed(plan, failure, Seen::Headers, current))),
            Step::Broke(error) => Err(self.broken(plan, error, Seen::Headers, current)),
            Step::Unreadable(failure) => Err(Bad::Ended(self.unreadable(plan, failure, current))),
        })
    }
}

/// Whether the attempt has used up its RPC timeout, or what the header said of it.
fn time_is_up(current: &Current<'_>) -> bool {
    let timeout = current.started().and_then(StartedAttempt::rpc_timeout).map(deadline::written);
    timeout.is_some_and(|timeout| current.elapsed() >= timeout)
}

impl<A: Access, Q: Outgoing> Protocol for GrpcProtocol<A, Q> {
    type Plan = MethodPlan;
    type Attempt = GrpcAttempt<<A::Service as GrpcService<Body>>::Future>;
    type Reply = Reply;

    #[inline]
    fn bound(&self, plan: &MethodPlan) -> Option<Duration> {
        deadline::shorter(plan.timeout, self.request.bound())
    }

    #[inline]
    fn jitter(&self, plan: &MethodPlan) -> Jitter {
        plan.jitter.next()
    }

    #[inline]
    fn prepare(&mut self, plan: &MethodPlan, cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        match self.request.prepare(plan, cx) {
            Poll::Ready(Ok(())) => {
                self.failure = None;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(status)) => {
                self.failure = Some(Box::new(Failure::transport(status.into(), false).0));
                Poll::Ready(Err(Unsendable))
            }
            Poll::Pending => {
                self.failure.get_or_insert_with(|| Box::new(Failure::unread()));
                Poll::Pending
            }
        }
    }

    #[inline]
    fn begin(
        &mut self,
        plan: &MethodPlan,
        started: StartedAttempt,
        current: &mut Current<'_>,
    ) -> Self::Attempt {
        self.is_late = started.kind() == AttemptKind::Resend;
        self.begun(plan, started, current);
        GrpcAttempt::Ready
    }

    #[inline]
    fn poll(
        &mut self,
        plan: &MethodPlan,
        mut attempt: Pin<&mut Self::Attempt>,
        current: &mut Current<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Fact<Reply>> {
        loop {
            let bad = match attempt.as_mut().project() {
                AttemptProj::Ready => match self.access.service().poll_ready(cx) {
                    Poll::Ready(Ok(())) => {
                        let request = self.request.write(self.timeout(plan, current));
                        let future = self.access.service().call(request);
                        attempt.set(GrpcAttempt::Sent { future });
                        continue;
                    }
                    Poll::Ready(Err(error)) => {
                        // A service that has failed is neither called nor asked again.
                        self.access.renew();
                        self.broken(plan, error.into(), Seen::Nothing, current)
                    }
                    Poll::Pending => {
                        self.is_late = true;
                        return Poll::Pending;
                    }
                },
                AttemptProj::Sent { future } => match ready!(future.poll(cx)) {
                    Ok(response) => match Incoming::of(response, current) {
                        Ok(mut incoming) => match self.read(plan, &mut incoming, current, cx) {
                            Poll::Ready(Ok(tail)) => {
                                return Poll::Ready(Fact::Replied(Reply { incoming, tail }));
                            }
                            Poll::Ready(Err(bad)) => bad,
                            Poll::Pending => {
                                attempt.set(GrpcAttempt::Collecting { incoming: Box::new(incoming) });
                                return Poll::Pending;
                            }
                        },
                        Err(failure) => Bad::Ended(self.failed(plan, failure, Seen::Nothing, current)),
                    },
                    Err(error) => self.broken(plan, error.into(), Seen::Nothing, current),
                },
                AttemptProj::Collecting { incoming } => {
                    match ready!(self.read(plan, incoming, current, cx)) {
                        Ok(tail) => {
                            let incoming = std::mem::take(&mut **incoming);
                            return Poll::Ready(Fact::Replied(Reply { incoming, tail }));
                        }
                        Err(bad) => bad,
                    }
                }
                AttemptProj::Broken { error } => match error.take() {
                    Some(error) => self.broken(plan, error, Seen::Nothing, current),
                    None => return Poll::Pending,
                },
                AttemptProj::Suspected { suspect, until } => {
                    if current.clock().has_reached(*until) {
                        match suspect.take() {
                            Some(suspect) => Bad::Ended(self.cleared(plan, *suspect, current)),
                            None => return Poll::Pending,
                        }
                    } else {
                        return Poll::Pending;
                    }
                }
            };
            match bad {
                Bad::Ended(result) => return Poll::Ready(Fact::Ended(result)),
                Bad::Suspected(suspect) => {
                    let until = suspect.until();
                    attempt.set(GrpcAttempt::Suspected { suspect: Some(suspect), until });
                }
            }
        }
    }

    fn expire(
        &mut self,
        plan: &MethodPlan,
        attempt: Pin<&mut Self::Attempt>,
        current: &mut Current<'_>,
    ) -> AttemptResult {
        let seen = match attempt.project() {
            AttemptProj::Ready => {
                // A place in the service's queue must not be held through a delay.
                self.access.renew();
                Seen::Nothing
            }
            AttemptProj::Collecting { .. } => Seen::Headers,
            AttemptProj::Suspected { suspect, .. } => match suspect.take() {
                Some(suspect) => return self.cleared(plan, *suspect, current),
                None => Seen::Nothing,
            },
            AttemptProj::Sent { .. } | AttemptProj::Broken { .. } => Seen::Nothing,
        };
        self.timed_out(plan, seen)
    }

    fn due(&self, attempt: &Self::Attempt) -> Option<Instant> {
        match attempt {
            GrpcAttempt::Suspected { until, .. } => Some(*until),
            _ => None,
        }
    }

    fn before_wait(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.pack();
        }
        self.request.shrink();
    }
}
