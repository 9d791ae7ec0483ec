//! A call that can't be sent again: it is passed on, timed, and given a report if it fails.

use super::access::{Access, ready_now};
use super::answer;
use super::deadline;
use super::failure::Failure;
use super::outgoing::path_of;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::rest::Rest;
use crate::operation::{Clock, Ledger, Note, OperationReport, Timer};
use gax_retry::{Attempt, Code, CodeSet, Started, StopReason};
use http::uri::PathAndQuery;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::StdError;

pin_project! {
    /// One attempt and no more: of a stream of requests, or of a method that no table knows.
    pub(crate) struct Passing<A: Access> {
        access: A,
        // `None` for a method that is none of ours: nothing is added to it.
        watch: Option<Box<Watch>>,
        timer: Timer,
        #[pin]
        sending: Sending<<A::Service as GrpcService<Body>>::Future>,
    }
}

pin_project! {
    #[project = SendingProj]
    enum Sending<F> {
        // The service is asked whether it takes the request.
        Ready { request: Option<Box<http::Request<Body>>> },
        // The head of the response is awaited.
        Sent { #[pin] future: F },
        // The service takes no request any more, or there was no time for one.
        Failed { error: Option<StdError> },
        // The result is out.
        Done,
    }
}

/// The clock and ledger of a call that a table knows.
#[derive(Debug)]
struct Watch {
    codes: CodeSet,
    clock: Clock,
    /// The one attempt; `None` where there is no time for it.
    started: Option<Started>,
    total: Option<Duration>,
    method: PathAndQuery,
    /// Why it can be sent once only.
    note: Note,
    wants_report: bool,
}

impl<A: Access> Passing<A> {
    /// A call of a method that no table knows.
    pub(crate) fn untouched(access: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        Self::start(access, service, request, None)
    }

    /// A call that can be made once only, under the settings' total timeout.
    pub(crate) fn watched(
        access: A,
        service: &mut A::Service,
        mut request: http::Request<Body>,
        plan: &MethodPlan,
        note: Note,
        wants_report: bool,
    ) -> Self {
        let clock = Clock::start();
        let total = plan.total;
        deadline::set_header(request.headers_mut(), total.map(deadline::header_value));
        let first = plan.first.ok();
        let watch = Box::new(Watch {
            codes: plan.schedule.retryable_codes(),
            clock,
            started: first.map(|started| total.map_or(started, |total| started.with_rpc_timeout(total))),
            total,
            method: path_of(request.uri()),
            note,
            wants_report,
        });
        if watch.started.is_none() {
            let sending = Sending::Failed { error: None };
            return Self { access, watch: Some(watch), timer: Timer::default(), sending };
        }
        Self::start(access, service, request, Some(watch))
    }

    /// Sends the request now if the service takes it.
    fn start(
        access: A,
        service: &mut A::Service,
        request: http::Request<Body>,
        watch: Option<Box<Watch>>,
    ) -> Self {
        let sending = match ready_now(service) {
            Poll::Ready(Ok(())) => Sending::Sent { future: service.call(request) },
            Poll::Ready(Err(error)) => Sending::Failed { error: Some(error.into()) },
            Poll::Pending => Sending::Ready { request: Some(Box::new(request)) },
        };
        Self { access, watch, timer: Timer::default(), sending }
    }
}

impl<A: Access> Future for Passing<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let outcome = loop {
            match this.sending.as_mut().project() {
                SendingProj::Ready { request } => match this.access.service().poll_ready(cx) {
                    Poll::Ready(Ok(())) => {
                        let Some(request) = request.take() else {
                            return Poll::Pending;
                        };
                        let future = this.access.service().call(*request);
                        this.sending.set(Sending::Sent { future });
                    }
                    Poll::Ready(Err(error)) => break Ended::Failed(error.into()),
                    Poll::Pending => {
                        ready!(this.timer.poll_at(deadline_of(this.watch.as_deref()), cx));
                        break Ended::TimedOut;
                    }
                },
                SendingProj::Sent { future } => match future.poll(cx) {
                    Poll::Ready(Ok(response)) => break Ended::Answered(response.map(Body::new)),
                    Poll::Ready(Err(error)) => break Ended::Failed(error.into()),
                    Poll::Pending => {
                        ready!(this.timer.poll_at(deadline_of(this.watch.as_deref()), cx));
                        break Ended::TimedOut;
                    }
                },
                SendingProj::Failed { error } => {
                    break error.take().map_or(Ended::OutOfTime, Ended::Failed);
                }
                SendingProj::Done => return Poll::Pending,
            }
        };
        this.sending.set(Sending::Done);
        Poll::Ready(match this.watch.take() {
            Some(watch) => watch.ended(outcome),
            None => untouched(outcome),
        })
    }
}

fn deadline_of(watch: Option<&Watch>) -> Option<Instant> {
    let watch = watch?;
    watch.clock.at(watch.total?)
}

/// How the one attempt ended.
enum Ended {
    Answered(http::Response<Body>),
    Failed(StdError),
    TimedOut,
    /// The caller's deadline had passed before it.
    OutOfTime,
}

/// The response as it came, but for what tonic would panic on.
fn untouched(ended: Ended) -> Result<http::Response<ResponseBody>, Status> {
    match ended {
        Ended::Answered(mut response) => {
            answer::sanitize(response.headers_mut());
            Ok(response.map(|body| ResponseBody::open(Rest::new(body, None, false))))
        }
        Ended::Failed(error) => Err(Status::from_error(error)),
        Ended::TimedOut | Ended::OutOfTime => Err(Status::deadline_exceeded("the call's time is up")),
    }
}

impl Watch {
    fn ended(self, ended: Ended) -> Result<http::Response<ResponseBody>, Status> {
        match ended {
            Ended::Answered(response) => self.answered(response),
            Ended::Failed(error) => Err(self.failed(Failure::transport(error, false).0)),
            Ended::TimedOut => {
                let timeout = self.total.unwrap_or_default();
                Err(self.failed(Failure::timed_out(timeout)))
            }
            Ended::OutOfTime => {
                let ledger = self.ledger(Code::DeadlineExceeded);
                Err(Failure::no_time().into_status(ledger, StopReason::TotalTimeout))
            }
        }
    }

    fn ledger(&self, code: Code) -> Ledger {
        let mut ledger = Ledger::new(self.method.clone());
        ledger.note(self.note);
        if let Some(started) = self.started {
            ledger.push(Attempt::new(started, Duration::ZERO, Duration::ZERO, self.clock.elapsed(), code));
        }
        ledger
    }

    /// The head of the response is there: the rest is passed on, unless the head is an error and all.
    fn answered(self, response: http::Response<Body>) -> Result<http::Response<ResponseBody>, Status> {
        let (mut parts, body) = response.into_parts();
        answer::sanitize(&mut parts.headers);
        match answer::code(&parts.headers) {
            None | Some(Code::Ok) => {}
            Some(code) => return Err(self.failed(Failure::answered(code, None, parts.headers))),
        }
        if self.wants_report {
            let mut ledger = self.ledger(Code::Ok);
            ledger.note(Note::Committed);
            parts.extensions.insert(OperationReport::new(ledger));
        }
        let rest = Rest::new(body, deadline_of(Some(&self)), true);
        Ok(http::Response::from_parts(parts, ResponseBody::open(rest)))
    }

    fn failed(self, failure: Failure) -> Status {
        let is_over = self.total.is_some_and(|total| self.clock.elapsed() >= total);
        let reason = match self.codes.contains(failure.code) {
            false => StopReason::NonRetryable,
            true if is_over => StopReason::TotalTimeout,
            true => StopReason::NotReplayable,
        };
        let ledger = self.ledger(failure.code);
        failure.into_status(ledger, reason)
    }
}
