//! The course of one operation: what has happened, and what follows from it.
//!
//! The schedule decides; this reads the clock for it, keeps the ledger, and knows what gRPC adds to the
//! schedule's rules: requests that never reached a server, and requests that can't be sent again.

use super::answer;
use super::cause::Reach;
use super::deadline;
use super::failure::Failure;
use super::outgoing::Outgoing;
use super::plan::MethodPlan;
use crate::operation::{BURST, Clock, Jitter, Ledger, Note, OperationReport, until};
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

/// Small, since it is moved about with the future of every call: what an operation without a retry has no
/// use for is behind pointers, and made when it is needed.
#[derive(Debug)]
pub(crate) struct Course<O> {
    outgoing: O,
    clock: Option<Clock>,
    ledger: Option<Arc<Ledger>>,
    past: Option<Box<Past>>,
    judge: Judge,
    wants_report: bool,
    /// Time has passed since the attempt began, so that less than its RPC timeout is left.
    late: bool,
}

/// What is known once an attempt has failed.
#[derive(Debug)]
struct Past {
    state: OperationState,
    current: Option<Current>,
    /// What the attempt before ended with.
    before: Option<Failure>,
    /// When it ended, if another attempt follows at once: that begins then.
    ended: Option<Duration>,
    refused: bool,
    burst: u8,
    jitter: Jitter,
}

/// The attempt that is running.
#[derive(Debug, Clone, Copy)]
struct Current {
    started: Started,
    delay: Duration,
    start: Duration,
}

impl Current {
    /// The first attempt, if there is time for it.
    #[inline]
    fn first(plan: &MethodPlan) -> Option<Self> {
        let started = plan.first.ok()?;
        Some(Self { started, delay: Duration::ZERO, start: Duration::ZERO })
    }
}

impl Past {
    /// The past of an operation whose first attempt has begun.
    fn new(plan: &MethodPlan) -> Self {
        let mut state = OperationState::default();
        // What came of this is in the plan.
        let _first = state.start(&plan.schedule, Duration::ZERO);
        Self {
            state,
            current: Current::first(plan),
            before: None,
            ended: None,
            refused: false,
            burst: 0,
            jitter: plan.jitter.next(),
        }
    }
}

impl<O: Outgoing> Course<O> {
    /// A course that has not begun. `wants_report` asks for a report even of a plain success.
    #[inline]
    pub(crate) fn new(outgoing: O, judge: Judge, wants_report: bool) -> Self {
        Self { outgoing, clock: None, ledger: None, past: None, judge, wants_report, late: false }
    }

    #[inline]
    pub(crate) fn judge(&self) -> Judge {
        self.judge
    }

    #[inline]
    pub(crate) fn outgoing(&self) -> &O {
        &self.outgoing
    }

    #[inline]
    pub(crate) fn outgoing_mut(&mut self) -> &mut O {
        &mut self.outgoing
    }

    #[inline]
    pub(crate) fn max_response_buffer(&self) -> usize {
        self.outgoing.plan().limits.max_response_buffer
    }

    #[inline]
    fn current(&self) -> Option<Current> {
        match &self.past {
            None => Current::first(self.outgoing.plan()),
            Some(past) => past.current,
        }
    }

    /// When the attempt's time is up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let current = self.current()?;
        self.clock?.at(current.start.saturating_add(current.started.deadline()?))
    }

    /// The moment to wait for, now that the attempt has to wait.
    pub(crate) fn pending(&mut self) -> Option<Instant> {
        self.late = true;
        if let Some(past) = &mut self.past {
            past.burst = 0;
        }
        self.deadline()
    }

    fn ledger(&mut self) -> &mut Ledger {
        let Self { ledger, outgoing, .. } = self;
        Arc::make_mut(ledger.get_or_insert_with(|| Arc::new(Ledger::new(outgoing.path()))))
    }

    fn past(&mut self) -> &mut Past {
        let Self { past, outgoing, .. } = self;
        past.get_or_insert_with(|| Box::new(Past::new(outgoing.plan())))
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.ledger().note(note);
    }

    #[inline]
    pub(crate) fn sanitize(&mut self, headers: &mut HeaderMap) {
        if answer::sanitize(headers) {
            self.note(Note::MalformedStatusDetails);
        }
    }

    /// Begins an attempt, if there is time for it. The operation starts with its first.
    #[inline]
    pub(crate) fn begin(&mut self) -> Result<(), Status> {
        match self.clock {
            None => self.begin_first(),
            Some(clock) => {
                let ended = self.past.as_mut().and_then(|past| past.ended.take());
                self.begin_another(ended.unwrap_or_else(|| clock.elapsed()))
            }
        }
    }

    #[inline]
    fn begin_first(&mut self) -> Result<(), Status> {
        self.outgoing.start();
        self.clock = Some(Clock::start());
        let plan = self.outgoing.plan();
        let (first, is_seeded, is_capped) =
            (plan.first, plan.jitter.is_seeded(), plan.schedule.attempts_cap().is_some());
        if is_capped {
            self.note(Note::AttemptsCapped);
        }
        if !self.outgoing.is_replayable() {
            self.note(Note::RequestTooLargeToReplay);
        }
        if is_seeded {
            // The sequences of a seed belong to operations in the order in which they start.
            self.past();
        }
        match first {
            Ok(_) => Ok(()),
            Err(stop) => Err(self.end(Failure::no_time(), stop.reason())),
        }
    }

    fn begin_another(&mut self, now: Duration) -> Result<(), Status> {
        let Self { past, outgoing, .. } = self;
        let plan = outgoing.plan();
        let past = past.get_or_insert_with(|| Box::new(Past::new(plan)));
        match past.state.start(&plan.schedule, now) {
            Ok(started) => {
                let delay = past.current.map_or(Duration::ZERO, |current| current.delay);
                past.current = Some(Current { started, delay, start: now });
                self.late = false;
                Ok(())
            }
            // There is no time for it: the operation ends with the error of the attempt before.
            Err(stop) => Err(match past.before.take() {
                Some(failure) => self.stop(failure, stop),
                None => self.end(Failure::no_time(), stop.reason()),
            }),
        }
    }

    /// The schedule has ended the operation.
    fn stop(&mut self, failure: Failure, stop: Stop) -> Status {
        self.ledger().not_attempted = stop.not_attempted();
        if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded {
            return self.end(Failure::at_deadline().after(Some(failure)), stop.reason());
        }
        self.end(failure, stop.reason())
    }

    /// The request of the attempt that has begun.
    pub(crate) fn request(&mut self) -> http::Request<Body> {
        let started = self.current().map(|current| current.started);
        let timeout = match started {
            Some(started) if self.late => {
                started.rpc_timeout().and(self.deadline()).map(until).map(deadline::header_value)
            }
            Some(started) if started.number() == 1 => self.outgoing.plan().first_timeout.clone(),
            Some(started) => started.rpc_timeout().map(deadline::header_value),
            None => None,
        };
        self.outgoing.write(timeout)
    }

    /// Our clock has ended the attempt.
    pub(crate) fn timed_out(&mut self) -> Next {
        self.ended(Failure::timed_out(self.rpc_timeout().unwrap_or_default()))
    }

    /// The attempt ended with a status, or with an answer that has none.
    pub(crate) fn failed(&mut self, failure: Failure) -> Next {
        let limits = self.outgoing.plan().limits;
        if limits.server_timeouts_are_ours && failure.is_server_timeout() && self.time_is_up() {
            self.note(Note::CountedAsDeadlineExceeded);
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
            self.note(Note::CountedAsDeadlineExceeded);
            return self.timed_out();
        }
        let unsent = match verdict.reach {
            Reach::NeverSent => self.ledger().transparent_retries < MOST_UNSENT,
            Reach::Refused => !std::mem::replace(&mut self.past().refused, true),
            Reach::MaybeSent => false,
            Reach::ChannelClosed => {
                self.record(failure.code);
                return Next::Stop(self.end(failure, StopReason::ChannelClosed));
            }
        };
        if unsent && self.outgoing.is_replayable() {
            self.ledger().transparent_retries += 1;
            self.late = true;
            return Next::Send;
        }
        self.ended(failure)
    }

    fn rpc_timeout(&self) -> Option<Duration> {
        self.current()?.started.rpc_timeout()
    }

    /// Whether the attempt has used up its RPC timeout, or what the header said of it.
    fn time_is_up(&self) -> bool {
        let (Some(clock), Some(current)) = (self.clock, self.current()) else {
            return false;
        };
        let timeout = current.started.rpc_timeout().map(deadline::written);
        timeout.is_some_and(|timeout| clock.elapsed() >= current.start.saturating_add(timeout))
    }

    /// The attempt that has begun, as it ends now.
    #[inline]
    fn attempt(&self, code: Code) -> Option<Attempt> {
        let end = self.clock.map_or(Duration::ZERO, Clock::elapsed);
        let Current { started, delay, start } = self.current()?;
        Some(Attempt::new(started, delay, start, end, code))
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
        let Self { past, outgoing, .. } = self;
        let plan = outgoing.plan();
        let past = past.get_or_insert_with(|| Box::new(Past::new(plan)));
        let ending = Ending::new(failure.code);
        let decision = past.state.ended(&plan.schedule, now, ending, &mut past.jitter);
        let failure = failure.after(past.before.take());
        match decision {
            Decision::Retry(retry) if outgoing.is_replayable() => {
                past.before = Some(failure);
                if let Some(current) = &mut past.current {
                    current.delay = retry.wait();
                }
                self.pause(now, retry.wait())
            }
            Decision::Retry(_) => Next::Stop(self.end(failure, StopReason::NotReplayable)),
            Decision::Stop(stop) => Next::Stop(self.stop(failure, stop)),
            // A failure has no code OK; were there one, nothing would retry it.
            Decision::Done => Next::Stop(self.end(failure, StopReason::NonRetryable)),
        }
    }

    fn pause(&mut self, now: Duration, wait: Duration) -> Next {
        let past = self.past();
        if wait.is_zero() {
            past.burst += 1;
            if past.burst < BURST {
                past.ended = Some(now);
                return Next::Attempt;
            }
            past.burst = 0;
            return Next::Yield;
        }
        if let Some(failure) = &mut past.before {
            failure.pack();
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
