//! The course of one operation: what has happened, and what follows from it.
//!
//! The schedule decides; this reads the clock for it, keeps the ledger, and knows what gRPC adds to the
//! schedule's rules: requests that never reached a server, and requests that can't be sent again.

use super::answer;
use super::cause::Reach;
use super::deadline;
use super::failure::Failure;
use super::inbound;
use super::outgoing::Outgoing;
use super::plan::MethodPlan;
use crate::operation::{BURST, Clock, Jitter, Ledger, Note, OperationReport};
use crate::settings::Limits;
use gax_retry::{Attempt, Code, Decision, Ending, OperationState, Started, Stop, StopReason};
use http::HeaderMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::StdError;

/// How much of a response must have come in before it can be called good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    /// All of it: the RPC is unary.
    Whole,
    /// One message, and its end if that is there already: nobody knows whether the RPC is unary.
    FirstMessage,
}

/// What the operation does next.
pub(crate) enum Next {
    /// Send the request of the attempt that has begun.
    Send,
    /// Begin another attempt.
    Attempt,
    /// The same, but let other tasks run before.
    Yield,
    /// The same, at that moment.
    Wait(Option<Instant>),
    /// End with this error.
    Stop(Status),
}

/// How often a request that never left may be sent again.
const MOST_UNSENT: u32 = 100;

#[derive(Debug)]
pub(crate) struct Course {
    plan: Arc<MethodPlan>,
    /// The deadline of the request that is being served where the call is made.
    inbound: Option<Instant>,
    limits: Limits,
    judge: Judge,
    wants_report: bool,
    outgoing: Outgoing,
    clock: Option<Clock>,
    state: OperationState,
    current: Current,
    /// Made when there is something to write down.
    ledger: Option<Arc<Ledger>>,
    /// What the attempt before ended with.
    before: Option<Box<Failure>>,
    refused: bool,
    burst: u8,
    jitter: Jitter,
}

/// The attempt that is running.
#[derive(Debug, Default)]
struct Current {
    started: Option<Started>,
    delay: Duration,
    start: Duration,
    deadline: Option<Instant>,
    /// Time has passed since it began, so that less than its RPC timeout is left.
    late: bool,
}

impl Course {
    /// A course that has not begun. `wants_report` asks for a report even of a plain success.
    #[inline]
    pub(crate) fn new(
        plan: Arc<MethodPlan>,
        limits: Limits,
        judge: Judge,
        outgoing: Outgoing,
        wants_report: bool,
        jitter: Jitter,
    ) -> Self {
        let mut ledger = None;
        if plan.schedule.attempts_cap().is_some() {
            note_in(&mut ledger, &outgoing, Note::AttemptsCapped);
        }
        if !outgoing.is_replayable() {
            note_in(&mut ledger, &outgoing, Note::RequestTooLargeToReplay);
        }
        Self {
            plan,
            inbound: inbound::inbound_deadline(),
            limits,
            judge,
            wants_report,
            outgoing,
            clock: None,
            state: OperationState::default(),
            current: Current::default(),
            ledger,
            before: None,
            refused: false,
            burst: 0,
            jitter,
        }
    }

    #[inline]
    pub(crate) fn judge(&self) -> Judge {
        self.judge
    }

    #[inline]
    pub(crate) fn max_response_buffer(&self) -> usize {
        self.limits.max_response_buffer
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.current.deadline
    }

    /// The moment to wait for, now that the attempt has to wait.
    pub(crate) fn pending(&mut self) -> Option<Instant> {
        self.current.late = true;
        self.burst = 0;
        self.current.deadline
    }

    fn ledger(&mut self) -> &mut Ledger {
        ledger_in(&mut self.ledger, &self.outgoing)
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.ledger().note(note);
    }

    #[inline]
    pub(crate) fn sanitize(&mut self, headers: &mut HeaderMap) {
        if answer::sanitize(headers) {
            self.ledger().note(Note::MalformedStatusDetails);
        }
    }

    /// Begins an attempt, if there is time for it.
    #[inline]
    pub(crate) fn begin(&mut self) -> Result<(), Status> {
        // The operation starts with its first attempt.
        let (clock, now) = if let Some(clock) = self.clock {
            (clock, clock.elapsed())
        } else {
            inbound::bound(&mut self.plan, self.inbound);
            (*self.clock.insert(Clock::start()), Duration::ZERO)
        };
        let started = match self.state.start(&self.plan.schedule, now) {
            Ok(started) => started,
            Err(stop) => return Err(self.out_of_time(stop)),
        };
        self.current = Current {
            started: Some(started),
            delay: self.current.delay,
            start: now,
            deadline: started.deadline().and_then(|timeout| clock.at(now.saturating_add(timeout))),
            late: false,
        };
        Ok(())
    }

    /// There is no time for another attempt: the operation ends with the error of the one before.
    fn out_of_time(&mut self, stop: Stop) -> Status {
        match self.before.take() {
            Some(failure) => self.stop(*failure, stop),
            None => self.end(Failure::no_time(), stop.reason()),
        }
    }

    /// The schedule has ended the operation.
    fn stop(&mut self, failure: Failure, stop: Stop) -> Status {
        self.ledger().not_attempted = stop.not_attempted();
        if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded {
            return self.end(Failure::at_deadline().after(Some(Box::new(failure))), stop.reason());
        }
        self.end(failure, stop.reason())
    }

    /// The request of the attempt that has begun.
    #[inline]
    pub(crate) fn request(&mut self) -> http::Request<Body> {
        let timeout = match self.current.started {
            Some(started) if self.current.late => {
                let left = self.current.deadline.map(crate::operation::until);
                started.rpc_timeout().and(left).map(deadline::header_value)
            }
            Some(started) if started.number() == 1 => self.plan.first_timeout.clone(),
            Some(started) => started.rpc_timeout().map(deadline::header_value),
            None => None,
        };
        self.outgoing.write(timeout)
    }

    /// Our clock has ended the attempt.
    pub(crate) fn timed_out(&mut self) -> Next {
        let timeout = self.current.started.and_then(Started::rpc_timeout).unwrap_or_default();
        self.ended(Failure::timed_out(timeout))
    }

    /// The attempt ended with a status, or with an answer that has none.
    pub(crate) fn failed(&mut self, failure: Failure) -> Next {
        if self.limits.server_timeouts_are_ours && failure.is_server_timeout() && self.time_is_up() {
            self.ledger().note(Note::CountedAsDeadlineExceeded);
            return self.timed_out();
        }
        self.ended(failure)
    }

    /// The connection or the stream broke; `answered` says that the response had begun.
    pub(crate) fn broken(&mut self, error: StdError, answered: bool) -> Next {
        let (failure, verdict) = Failure::transport(error, answered);
        if verdict.code == Code::DeadlineExceeded && self.time_is_up() {
            // tonic's own timer, which the header of the attempt has set.
            return self.timed_out();
        }
        if verdict.cancelled_by_server && self.time_is_up() {
            self.ledger().note(Note::CountedAsDeadlineExceeded);
            return self.timed_out();
        }
        let unsent = match verdict.reach {
            Reach::NeverSent => self.ledger().transparent_retries < MOST_UNSENT,
            Reach::Refused => !std::mem::replace(&mut self.refused, true),
            Reach::MaybeSent => false,
            Reach::ChannelClosed => {
                self.record(failure.code);
                return Next::Stop(self.end(failure, StopReason::ChannelClosed));
            }
        };
        if unsent && self.outgoing.is_replayable() {
            self.ledger().transparent_retries += 1;
            self.current.late = true;
            return Next::Send;
        }
        self.ended(failure)
    }

    /// Whether the attempt has used up its RPC timeout, or what the header said of it.
    fn time_is_up(&self) -> bool {
        let Some(timeout) = self.current.started.and_then(Started::rpc_timeout).map(deadline::written) else {
            return false;
        };
        self.clock.is_some_and(|clock| clock.elapsed() >= self.current.start.saturating_add(timeout))
    }

    /// The attempt that has begun, as it ends now.
    #[inline]
    fn attempt(&self, code: Code) -> Option<Attempt> {
        let end = self.clock.map_or(Duration::ZERO, Clock::elapsed);
        let Current { started, delay, start, .. } = self.current;
        started.map(|started| Attempt::new(started, delay, start, end, code))
    }

    /// Writes the attempt down; returns when it ended.
    fn record(&mut self, code: Code) -> Duration {
        let Some(attempt) = self.attempt(code) else {
            return Duration::ZERO;
        };
        let end = attempt.end();
        self.ledger().push(attempt);
        end
    }

    fn ended(&mut self, failure: Failure) -> Next {
        let now = self.record(failure.code);
        let decision =
            self.state.ended(&self.plan.schedule, now, Ending::new(failure.code), &mut self.jitter);
        let failure = failure.after(self.before.take());
        match decision {
            Decision::Retry(retry) if self.outgoing.is_replayable() => {
                self.before = Some(Box::new(failure));
                self.current.delay = retry.wait();
                self.pause(now, retry.wait())
            }
            Decision::Retry(_) => Next::Stop(self.end(failure, StopReason::NotReplayable)),
            Decision::Stop(stop) => Next::Stop(self.stop(failure, stop)),
            // A failure has no code OK; were there one, nothing would retry it.
            Decision::Done => Next::Stop(self.end(failure, StopReason::NonRetryable)),
        }
    }

    fn pause(&mut self, now: Duration, wait: Duration) -> Next {
        if wait.is_zero() {
            self.burst += 1;
            if self.burst < BURST {
                return Next::Attempt;
            }
            self.burst = 0;
            return Next::Yield;
        }
        self.outgoing.shrink();
        Next::Wait(self.clock.and_then(|clock| clock.at(now.saturating_add(wait))))
    }

    fn end(&mut self, failure: Failure, reason: StopReason) -> Status {
        let ledger = match self.ledger.take() {
            Some(ledger) => Arc::unwrap_or_clone(ledger),
            None => Ledger::new(self.outgoing.path()),
        };
        failure.into_status(ledger, reason)
    }

    /// The attempt succeeded; the report, where it is wanted or there was a retry to tell of.
    #[inline]
    pub(crate) fn succeeded(&mut self) -> Option<OperationReport> {
        let has_retried = self.ledger.as_ref().is_some_and(|ledger| !ledger.attempts().is_empty());
        if !self.wants_report && !has_retried {
            return None;
        }
        match (self.ledger.take(), self.attempt(Code::Ok)) {
            (None, Some(attempt)) => Some(OperationReport::plain(self.outgoing.path(), attempt)),
            (None, None) => None,
            (Some(mut ledger), attempt) => {
                if let Some(attempt) = attempt {
                    Arc::make_mut(&mut ledger).push(attempt);
                }
                Some(OperationReport::new(ledger))
            }
        }
    }
}

/// The ledger in that place, made now if it is not there.
fn ledger_in<'a>(place: &'a mut Option<Arc<Ledger>>, outgoing: &Outgoing) -> &'a mut Ledger {
    Arc::make_mut(place.get_or_insert_with(|| Arc::new(Ledger::new(outgoing.path()))))
}

fn note_in(place: &mut Option<Arc<Ledger>>, outgoing: &Outgoing, note: Note) {
    ledger_in(place, outgoing).note(note);
}
