//! One operation: attempts over a gRPC service, until one of them answers for good.
//!
//! The layer and the generated client both run this. It is polled by the caller's task: to drop it stops
//! everything at once.

use super::answer;
use super::collect::Collected;
use super::course::{Course, Judge, Next};
use super::failure::Failure;
use super::transport::Transport;
use crate::operation::{Note, OperationReport, Timer};
use http::HeaderMap;
use http::response::Parts;
use http_body::Body as _;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

pin_project! {
    /// An operation that is running.
    pub(crate) struct Operation<S: Transport> {
        service: S,
        course: Course,
        timer: Timer,
        #[pin]
        phase: Phase<S::Future>,
    }
}

pin_project! {
    #[project = PhaseProj]
    enum Phase<F> {
        // Between attempts: the next one starts now.
        Idle,
        // The service is asked whether it takes a request.
        Ready,
        // The request is out, and the head of the response is awaited.
        Sent { #[pin] future: F },
        // The response comes in.
        Collecting { response: Incoming },
        // The delay before the next attempt.
        Waiting { until: Option<Instant> },
        // The result is out.
        Done,
    }
}

impl<S: Transport> Operation<S> {
    /// An operation over a service; it starts when it is first polled.
    #[inline]
    pub(crate) fn new(service: S, course: Course) -> Self {
        Self { service, course, timer: Timer::default(), phase: Phase::Idle }
    }
}

impl<S: Transport> Future for Operation<S> {
    type Output = Result<Success, Status>;

    #[expect(
        clippy::inline_always,
        reason = "each future polls it in one place, and what it makes is large to move"
    )]
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let course = this.course;
        loop {
            let next = match this.phase.as_mut().project() {
                PhaseProj::Idle => match course.begin() {
                    Ok(()) => Next::Send,
                    Err(status) => Next::Stop(status),
                },
                PhaseProj::Ready => match this.service.poll_ready(cx) {
                    Poll::Ready(Ok(())) => {
                        let future = this.service.call(course.request());
                        this.phase.set(Phase::Sent { future });
                        continue;
                    }
                    Poll::Ready(Err(error)) => course.broken(error.into(), false),
                    Poll::Pending => {
                        ready!(this.timer.poll_at(course.pending(), cx));
                        // A place in the service's queue must not be held through a delay.
                        *this.service = this.service.clone();
                        course.timed_out()
                    }
                },
                PhaseProj::Sent { future } => match future.poll(cx) {
                    Poll::Ready(Ok(mut response)) => {
                        match refused(response.status(), response.headers_mut(), course) {
                            None => {
                                let response = response.map(Body::new);
                                let response = Incoming { response, collected: Collected::default() };
                                this.phase.set(Phase::Collecting { response });
                                continue;
                            }
                            Some(failure) => course.failed(failure),
                        }
                    }
                    Poll::Ready(Err(error)) => course.broken(error.into(), false),
                    Poll::Pending => {
                        ready!(this.timer.poll_at(course.pending(), cx));
                        course.timed_out()
                    }
                },
                PhaseProj::Collecting { response } => match response.poll(course, cx) {
                    Poll::Ready(Step::Failed(failure)) => course.failed(failure),
                    Poll::Ready(Step::Broke(status)) => course.broken(status.into(), true),
                    Poll::Ready(Step::Whole) => {
                        let success = response.success(course, None);
                        this.phase.set(Phase::Done);
                        return Poll::Ready(Ok(success));
                    }
                    Poll::Ready(Step::PassOn(note)) => {
                        let success = response.success(course, Some(note));
                        this.phase.set(Phase::Done);
                        return Poll::Ready(Ok(success));
                    }
                    Poll::Pending => {
                        ready!(this.timer.poll_at(course.pending(), cx));
                        course.timed_out()
                    }
                },
                PhaseProj::Waiting { until } => {
                    ready!(this.timer.poll_at(*until, cx));
                    Next::Attempt
                }
                PhaseProj::Done => return Poll::Pending,
            };
            match next {
                Next::Send => this.phase.set(Phase::Ready),
                Next::Attempt => this.phase.set(Phase::Idle),
                Next::Wait(until) => this.phase.set(Phase::Waiting { until }),
                Next::Yield => {
                    this.phase.set(Phase::Idle);
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Next::Stop(status) => {
                    this.phase.set(Phase::Done);
                    return Poll::Ready(Err(status));
                }
            }
        }
    }
}

/// A response that is good to pass on.
#[derive(Debug)]
pub(crate) struct Success {
    pub(crate) parts: Parts,
    pub(crate) collected: Collected,
    /// What is still to come, if the response was passed on before its end.
    pub(crate) rest: Option<Rest>,
    /// What the operation did; left out where the caller has no use for it.
    pub(crate) report: Option<OperationReport>,
}

/// The part of a response that nobody has judged, and the attempt's deadline, which goes on.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) body: Body,
    pub(crate) deadline: Option<Instant>,
    /// Whether errors of the body get the code that their cause has.
    pub(crate) names_errors: bool,
}

/// A response that comes in.
#[derive(Debug)]
struct Incoming {
    response: http::Response<Body>,
    collected: Collected,
}

/// What polling the response leads to.
enum Step {
    Failed(Failure),
    /// The body broke off.
    Broke(Status),
    /// The response ended, and its status is good.
    Whole,
    /// The response is passed on with its end still to come.
    PassOn(Note),
}

/// Looks at the head, which may be all there is.
#[inline]
fn refused(http: http::StatusCode, headers: &mut HeaderMap, course: &mut Course) -> Option<Failure> {
    match answer::code(headers) {
        None if http == http::StatusCode::OK => None,
        None => Some(Failure::without_status(http, std::mem::take(headers))),
        Some(gax_retry::Code::Ok) => {
            course.sanitize(headers);
            None
        }
        Some(code) => {
            course.sanitize(headers);
            Some(Failure::answered(code, None, std::mem::take(headers)))
        }
    }
}

impl Incoming {
    #[inline]
    fn poll(&mut self, course: &mut Course, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            let frame = match Pin::new(self.response.body_mut()).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(status))) => return Poll::Ready(Step::Broke(status)),
                Poll::Ready(None) => return Poll::Ready(self.ended()),
                Poll::Pending if course.judge() == Judge::FirstMessage && self.collected.has_message() => {
                    return Poll::Ready(Step::PassOn(Note::Committed));
                }
                Poll::Pending => return Poll::Pending,
            };
            match frame.into_data() {
                // The end of a body without trailers may come as a frame of nothing.
                Ok(data) if data.is_empty() => {}
                Ok(data) => {
                    let another = course.judge() == Judge::FirstMessage && self.collected.has_message();
                    self.collected.push(data);
                    if another {
                        return Poll::Ready(Step::PassOn(Note::Committed));
                    }
                    if self.collected.len() > course.max_response_buffer() {
                        return Poll::Ready(Step::PassOn(Note::ResponseTooLargeToJudge));
                    }
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        return Poll::Ready(self.judged(trailers, course));
                    }
                }
            }
        }
    }

    /// The body ended without trailers: fine only if the head had the status.
    fn ended(&mut self) -> Step {
        match answer::code(self.response.headers()) {
            None => Step::Failed(Failure::without_status(self.response.status(), self.take_headers())),
            Some(_) => Step::Whole,
        }
    }

    #[inline]
    fn judged(&mut self, mut trailers: HeaderMap, course: &mut Course) -> Step {
        match answer::code(&trailers) {
            Some(gax_retry::Code::Ok) => {
                course.sanitize(&mut trailers);
                self.collected.trailers = Some(trailers);
                Step::Whole
            }
            Some(code) => {
                course.sanitize(&mut trailers);
                Step::Failed(Failure::answered(code, Some(self.take_headers()), trailers))
            }
            None => {
                let mut headers = self.take_headers();
                headers.extend(trailers);
                Step::Failed(Failure::without_status(http::StatusCode::OK, headers))
            }
        }
    }

    fn take_headers(&mut self) -> HeaderMap {
        std::mem::take(self.response.headers_mut())
    }

    /// What goes out; a note says why that is before the end.
    #[inline]
    fn success(&mut self, course: &mut Course, passed_on: Option<Note>) -> Success {
        let (parts, body) = std::mem::take(&mut self.response).into_parts();
        let rest = passed_on.map(|note| {
            course.note(note);
            Rest { body, deadline: course.deadline(), names_errors: true }
        });
        Success { parts, collected: std::mem::take(&mut self.collected), rest, report: course.succeeded() }
    }
}
