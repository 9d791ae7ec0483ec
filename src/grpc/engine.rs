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
    pub(crate) fn new(service: S, course: Course) -> Self {
        Self { service, course, timer: Timer::default(), phase: Phase::Idle }
    }
}

impl<S: Transport> Future for Operation<S> {
    type Output = Result<Success, Status>;

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
                    Poll::Ready(Ok(response)) => match Incoming::open(response.map(Body::new), course) {
                        Ok(response) => {
                            this.phase.set(Phase::Collecting { response });
                            continue;
                        }
                        Err(failure) => course.failed(failure),
                    },
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
                        let success = response.whole(course);
                        this.phase.set(Phase::Done);
                        return Poll::Ready(Ok(success));
                    }
                    Poll::Ready(Step::PassOn(note)) => {
                        let success = response.passed_on(course, note);
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
    parts: Option<Parts>,
    collected: Collected,
    body: Body,
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

impl Incoming {
    /// Looks at the head, which may be all there is.
    #[expect(clippy::result_large_err, reason = "either side is as large, and moved once")]
    fn open(response: http::Response<Body>, course: &mut Course) -> Result<Self, Failure> {
        let (mut parts, body) = response.into_parts();
        match answer::code(&parts.headers) {
            None if parts.status == http::StatusCode::OK => {}
            None => return Err(Failure::without_status(parts.status, parts.headers)),
            Some(gax_retry::Code::Ok) => course.sanitize(&mut parts.headers),
            Some(code) => {
                course.sanitize(&mut parts.headers);
                return Err(Failure::answered(code, None, parts.headers));
            }
        }
        Ok(Self { parts: Some(parts), collected: Collected::default(), body })
    }

    fn poll(&mut self, course: &mut Course, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
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
        match self.parts.take() {
            Some(parts) if answer::code(&parts.headers).is_none() => {
                Step::Failed(Failure::without_status(parts.status, parts.headers))
            }
            parts => {
                self.parts = parts;
                Step::Whole
            }
        }
    }

    fn judged(&mut self, mut trailers: HeaderMap, course: &mut Course) -> Step {
        match answer::code(&trailers) {
            Some(gax_retry::Code::Ok) => {
                course.sanitize(&mut trailers);
                self.collected.trailers = Some(trailers);
                Step::Whole
            }
            Some(code) => {
                course.sanitize(&mut trailers);
                let head = self.parts.take().map(|parts| parts.headers);
                Step::Failed(Failure::answered(code, head, trailers))
            }
            None => {
                let mut headers = self.parts.take().map(|parts| parts.headers).unwrap_or_default();
                headers.extend(trailers);
                Step::Failed(Failure::without_status(http::StatusCode::OK, headers))
            }
        }
    }

    fn whole(&mut self, course: &mut Course) -> Success {
        self.success(None, course)
    }

    fn passed_on(&mut self, course: &mut Course, note: Note) -> Success {
        course.note(note);
        let rest =
            Rest { body: std::mem::take(&mut self.body), deadline: course.deadline(), names_errors: true };
        self.success(Some(rest), course)
    }

    fn success(&mut self, rest: Option<Rest>, course: &mut Course) -> Success {
        let parts = self.parts.take().unwrap_or_else(|| http::Response::new(()).into_parts().0);
        Success { parts, collected: std::mem::take(&mut self.collected), rest, report: course.succeeded() }
    }
}
