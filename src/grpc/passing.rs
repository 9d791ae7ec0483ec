//! A call that can't be sent again: it is passed on, timed, and given a report if it fails.

use super::answer;
use super::collect::Collected;
use super::deadline::{self, GRPC_TIMEOUT};
use super::engine::Rest;
use super::failure::Failure;
use super::inbound;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::transport::Transport;
use crate::operation::{Clock, Ledger, Note, OperationReport, Timer};
use gax_retry::{Attempt, Code, OperationState, Started, StopReason};
use http::uri::PathAndQuery;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

pin_project! {
    /// One attempt and no more: of a stream, or of a method that no table knows.
    pub(crate) struct Passing<S: Transport> {
        service: S,
        request: Option<http::Request<Body>>,
        // `None` for a method that is none of ours: nothing is added to it.
        watch: Option<Watch>,
        timer: Timer,
        #[pin]
        future: Option<S::Future>,
    }
}

/// The clock and ledger of a call that a table knows.
#[derive(Debug)]
struct Watch {
    plan: Arc<MethodPlan>,
    clock: Clock,
    /// The one attempt; `None` where there is no time for it.
    started: Option<Started>,
    deadline: Option<Instant>,
    method: PathAndQuery,
    notes: Vec<Note>,
    wants_report: bool,
}

impl<S: Transport> Passing<S> {
    /// A call of a method that no table knows.
    pub(crate) fn untouched(service: S, request: http::Request<Body>) -> Self {
        Self { service, request: Some(request), watch: None, timer: Timer::default(), future: None }
    }

    /// A call that can be made once only, under the settings' total timeout.
    pub(crate) fn watched(
        service: S,
        mut request: http::Request<Body>,
        plan: Arc<MethodPlan>,
        note: Option<Note>,
        wants_report: bool,
    ) -> Self {
        let clock = Clock::start();
        let method = request.uri().path_and_query().cloned();
        let mut plan = plan;
        inbound::bound(&mut plan, inbound::inbound_deadline());
        let timeout = plan.total;
        request.headers_mut().remove(GRPC_TIMEOUT);
        if let Some(timeout) = timeout {
            request.headers_mut().insert(GRPC_TIMEOUT, deadline::header_value(timeout));
        }
        let started = OperationState::default().start(&plan.schedule, Duration::ZERO).ok();
        let watch = Watch {
            clock,
            started: started
                .map(|started| timeout.map_or(started, |timeout| started.with_rpc_timeout(timeout))),
            deadline: timeout.and_then(|timeout| clock.at(timeout)),
            method: method.unwrap_or_else(|| PathAndQuery::from_static("/")),
            notes: note.into_iter().collect(),
            wants_report,
            plan,
        };
        Self { service, request: Some(request), watch: Some(watch), timer: Timer::default(), future: None }
    }
}

impl<S: Transport> Future for Passing<S> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(watch) = this.watch.take_if(|watch| watch.started.is_none()) {
            *this.request = None;
            return Poll::Ready(Err(watch.out_of_time()));
        }
        let deadline = this.watch.as_ref().and_then(|watch| watch.deadline);
        loop {
            let outcome = match this.future.as_mut().as_pin_mut() {
                Some(future) => future.poll(cx).map_err(Into::into),
                None => match this.service.poll_ready(cx) {
                    Poll::Ready(Ok(())) => {
                        let Some(request) = this.request.take() else {
                            return Poll::Pending;
                        };
                        this.future.set(Some(this.service.call(request)));
                        continue;
                    }
                    Poll::Ready(Err(error)) => Poll::Ready(Err(error.into())),
                    Poll::Pending => Poll::Pending,
                },
            };
            let Poll::Ready(outcome) = outcome else {
                ready!(this.timer.poll_at(deadline, cx));
                this.future.set(None);
                let watch = this.watch.take();
                return Poll::Ready(Err(watch.map_or_else(
                    || Status::deadline_exceeded("the call's time is up"),
                    |watch| watch.failed(Failure::timed_out),
                )));
            };
            this.future.set(None);
            return Poll::Ready(match (outcome, this.watch.take()) {
                (Ok(response), Some(watch)) => watch.answered(response.map(Body::new)),
                (Ok(response), None) => Ok(untouched(response.map(Body::new))),
                (Err(error), Some(watch)) => Err(watch.failed(|_| Failure::transport(error, false).0)),
                (Err(error), None) => Err(Status::from_error(error)),
            });
        }
    }
}

/// The response as it came, but for what tonic would panic on.
fn untouched(mut response: http::Response<Body>) -> http::Response<ResponseBody> {
    answer::sanitize(response.headers_mut());
    response.map(|body| {
        ResponseBody::open(Collected::default(), Rest { body, deadline: None, names_errors: false })
    })
}

impl Watch {
    fn ledger(&self, code: Code) -> Ledger {
        let mut ledger = Ledger::new(self.method.clone());
        for note in &self.notes {
            ledger.note(*note);
        }
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
            Some(code) => {
                return Err(self.failed(|_| Failure::answered(code, None, parts.headers)));
            }
        }
        if self.wants_report {
            let mut ledger = self.ledger(Code::Ok);
            ledger.note(Note::Committed);
            parts.extensions.insert(OperationReport::new(ledger));
        }
        let rest = Rest { body, deadline: self.deadline, names_errors: true };
        Ok(http::Response::from_parts(parts, ResponseBody::open(Collected::default(), rest)))
    }

    /// The caller's deadline had passed before the call.
    fn out_of_time(self) -> Status {
        Failure::no_time().into_status(self.ledger(Code::DeadlineExceeded), StopReason::TotalTimeout)
    }

    fn failed(self, failure: impl FnOnce(Duration) -> Failure) -> Status {
        let failure = failure(self.plan.total.unwrap_or_default());
        let is_over = self.plan.total.is_some_and(|total| self.clock.elapsed() >= total);
        let reason = match self.plan.schedule.retryable_codes().contains(failure.code) {
            false => StopReason::NonRetryable,
            true if is_over => StopReason::TotalTimeout,
            true => StopReason::NotReplayable,
        };
        let ledger = self.ledger(failure.code);
        failure.into_status(ledger, reason)
    }
}
