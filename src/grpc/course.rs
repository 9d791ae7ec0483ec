//! The course of one operation: what follows from what has happened.
//!
//! The schedule decides; this knows what gRPC adds to the schedule's rules: requests that never reached a
//! server, and requests that can't be sent again.

use super::answer;
use super::cause::{Nature, Reach};
use super::deadline;
use super::failure::Failure;
use super::log::{Current, Log, Suspect};
use super::outgoing::Outgoing;
use super::plan::MethodPlan;
use crate::operation::{BURST, ConnectProblem, Loss, Note, OperationReport, blame, until};
use gax_retry::{Code, Decision, Ending, MethodKind, Stop, StopReason};
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
    /// One message, and its end if that is there already: the RPC answers with a stream, or nobody knows whether
    /// it does.
    FirstMessage,
    /// Its headers: the RPC answers with a stream, and they commit it.
    Head,
}

impl Judge {
    #[inline]
    pub(crate) fn of(kind: Option<MethodKind>, plan: &MethodPlan) -> Self {
        match kind {
            Some(kind) if kind.is_unary() => Judge::Whole,
            Some(_) if plan.headers_commit => Judge::Head,
            _ => Judge::FirstMessage,
        }
    }
}

/// What the operation does next.
pub(crate) enum Next {
    /// Send the request of the attempt that has begun.
    Send,
    /// Send it again, but let other tasks run before.
    Resend,
    /// Begin another attempt.
    Attempt,
    /// The same, but let other tasks run before.
    Yield,
    /// The same, at that moment.
    Wait(Option<Instant>),
    /// End with this error.
    Stop(Status),
}

impl Next {
    /// Whether other tasks run before.
    #[inline]
    pub(crate) fn yields(&self) -> bool {
        matches!(self, Next::Resend | Next::Yield)
    }
}

/// An operation's request, what is asked of it, and what has happened so far.
#[derive(Debug)]
pub(crate) struct Course<O> {
    outgoing: O,
    terms: Terms,
    log: Log,
}

/// What is asked of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) judge: Judge,
    /// Whether a report is made even of a plain success.
    pub(crate) wants_report: bool,
}

impl<O: Outgoing> Course<O> {
    /// A course that has not begun.
    #[inline]
    pub(crate) fn new(outgoing: O, terms: Terms) -> Self {
        Self::begun(outgoing, terms, Log::default())
    }

    /// A course that is on its way.
    #[inline]
    pub(super) fn begun(outgoing: O, terms: Terms, log: Log) -> Self {
        Self { outgoing, terms, log }
    }

    #[inline]
    pub(crate) fn judge(&self) -> Judge {
        self.terms.judge
    }

    #[inline]
    pub(crate) fn outgoing(&self) -> &O {
        &self.outgoing
    }

    #[inline]
    pub(crate) fn max_response_buffer(&self) -> usize {
        self.outgoing.plan().limits.max_response_buffer
    }

    fn current(&self) -> Option<Current> {
        self.log.current(self.outgoing.plan())
    }

    /// When the attempt's time is up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.log.deadline(self.outgoing.plan())
    }

    /// The moment to wait for, now that the attempt has to wait.
    pub(crate) fn pending(&mut self) -> Option<Instant> {
        self.log.late = true;
        if let Some(past) = self.log.past_so_far() {
            past.burst = 0;
        }
        self.deadline()
    }

    /// The response's headers are there, and do not end it.
    #[inline]
    pub(crate) fn responded(&mut self) {
        self.log.is_committed = self.outgoing.plan().headers_commit;
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.log.ledger(&self.outgoing).note(note);
    }

    #[inline]
    pub(crate) fn sanitize(&mut self, headers: &mut HeaderMap) {
        if answer::sanitize(headers) {
            self.note(Note::MalformedStatusDetails);
        }
    }

    /// Begins an attempt, if there is time for it. The operation starts with its first.
    #[inline]
    pub(crate) fn begin(&mut self) -> Next {
        let begun = match self.log.clock {
            None => self.log.begin(&mut self.outgoing),
            Some(clock) => {
                let past = self.log.past_so_far();
                let (ended, suspect) =
                    past.map_or((None, None), |past| (past.ended.take(), past.suspect.take()));
                if let Some(suspect) = suspect {
                    return self.cleared(*suspect);
                }
                self.begin_another(ended.unwrap_or_else(|| clock.elapsed()))
            }
        };
        begun.map_or_else(Next::Stop, |()| Next::Send)
    }

    fn begin_another(&mut self, now: Duration) -> Result<(), Status> {
        let plan = self.outgoing.plan();
        let past = self.log.past(plan);
        match past.state.start(&plan.schedule, now) {
            Ok(started) => {
                let delay = past.current.map_or(Duration::ZERO, |current| current.delay);
                past.current = Some(Current { started, delay, start: now });
                past.resends.attempt_begins();
                self.log.late = false;
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
        self.log.ledger(&self.outgoing).not_attempted = stop.not_attempted();
        if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded {
            return self.end(Failure::at_deadline().after(Some(failure)), stop.reason());
        }
        self.end(failure, stop.reason())
    }

    fn end(&mut self, failure: Failure, reason: StopReason) -> Status {
        self.log.end(&self.outgoing, failure, reason)
    }

    /// The request of the attempt that has begun.
    pub(crate) fn request(&mut self) -> http::Request<Body> {
        let started = self.current().map(|current| current.started);
        let timeout = match started {
            Some(started) if self.log.late => {
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
        let problem = ConnectProblem::of(&*error);
        let (failure, verdict) = Failure::transport(error, answered);
        if let Some(problem) = problem {
            self.note(Note::CannotConnect(problem));
            if !problem.may_recover() {
                return self.hopeless(failure);
            }
        }
        if verdict.code == Code::DeadlineExceeded && self.time_is_up() {
            // tonic's own timer, which the header of the attempt has set.
            return self.timed_out();
        }
        match verdict.nature {
            Nature::CancelledByServer if self.time_is_up() => {
                self.note(Note::CountedAsDeadlineExceeded);
                return self.timed_out();
            }
            Nature::Plain | Nature::CancelledByServer => {}
            Nature::Unreadable => return self.unreadable(failure),
            Nature::Suspect(code) => return self.suspected(failure, code),
        }
        let loss = match verdict.reach {
            Reach::NeverSent => Some(Loss::Unsent),
            Reach::Refused => Some(Loss::Refused),
            Reach::MaybeSent => None,
            Reach::ChannelClosed => {
                self.log.record(&self.outgoing, failure.code);
                return Next::Stop(self.end(failure, StopReason::ChannelClosed));
            }
        };
        if let Some(loss) = loss
            && self.outgoing.is_replayable()
            && self.log.past(self.outgoing.plan()).resends.allow(loss)
        {
            self.log.ledger(&self.outgoing).transparent_retries += 1;
            self.log.late = true;
            return Next::Resend;
        }
        self.ended(failure)
    }

    /// The response can't be read, and no other attempt would read it better.
    pub(crate) fn unreadable(&mut self, failure: Failure) -> Next {
        self.note(Note::UnreadableResponse);
        self.hopeless(failure)
    }

    /// No other attempt can do better, whatever its code says.
    #[cold]
    fn hopeless(&mut self, failure: Failure) -> Next {
        self.log.record(&self.outgoing, failure.code);
        Next::Stop(self.end(failure, StopReason::NonRetryable))
    }

    /// The response can't be read, or another one on the same connection. A moment shows whether other calls got
    /// the same error.
    #[cold]
    fn suspected(&mut self, failure: Failure, code: Code) -> Next {
        let Some((clock, now)) = self.log.clock.and_then(|clock| Some((clock, clock.at(clock.elapsed())?)))
        else {
            return self.ended(failure);
        };
        blame::died(now);
        self.log.past(self.outgoing.plan()).suspect = Some(Box::new(Suspect { failure, code, died: now }));
        Next::Wait(clock.at(clock.elapsed().saturating_add(blame::MOMENT)))
    }

    #[cold]
    fn cleared(&mut self, suspect: Suspect) -> Next {
        let Suspect { mut failure, code, died } = suspect;
        if blame::was_alone(died) {
            failure.code = code;
            return self.unreadable(failure);
        }
        self.ended(failure)
    }

    fn rpc_timeout(&self) -> Option<Duration> {
        self.current()?.started.rpc_timeout()
    }

    /// Whether the attempt has used up its RPC timeout, or what the header said of it.
    fn time_is_up(&self) -> bool {
        let (Some(clock), Some(current)) = (self.log.clock, self.current()) else {
            return false;
        };
        let timeout = current.started.rpc_timeout().map(deadline::written);
        timeout.is_some_and(|timeout| clock.elapsed() >= current.start.saturating_add(timeout))
    }

    fn ended(&mut self, failure: Failure) -> Next {
        let now = self.log.record(&self.outgoing, failure.code);
        let Self { log, outgoing, .. } = self;
        let is_committed = log.is_committed;
        let plan = outgoing.plan();
        let past = log.past(plan);
        let mut ending = Ending::new(failure.code);
        if is_committed {
            ending = ending.after_messages(false);
        }
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
        let past = self.log.past(self.outgoing.plan());
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
        Next::Wait(self.log.clock.and_then(|clock| clock.at(now.saturating_add(wait))))
    }

    /// The attempt succeeded; the report, where it is wanted or there was a retry to tell of.
    #[inline]
    pub(crate) fn succeeded(&mut self) -> Option<OperationReport> {
        let has_retried = self.log.ledger.as_ref().is_some_and(|ledger| !ledger.attempts().is_empty());
        if !self.terms.wants_report && !has_retried {
            return None;
        }
        match (self.log.ledger.take(), self.log.attempt(self.outgoing.plan(), Code::Ok)) {
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
