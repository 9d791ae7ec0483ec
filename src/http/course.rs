//! One operation without its I/O: what has happened, and what follows.

use super::body::HttpResponseBody;
use super::error::{Broken, HttpError};
use super::failure::Suspect;
use super::incoming::{DRAIN_TIME, Extent};
use super::outgoing::Outgoing;
use super::policy::Policy;
use super::replay::Replay;
use super::report::HttpReport;
use super::service::{Config, Limits};
use crate::grpc::inbound_deadline;
use crate::operation::{BURST, Clock, Jitter, Ledger, Note, OperationReport, Resends, time_of_day, until};
use gax_retry::{
    Attempt, Code, Decision, Ending, HttpFailure, OperationState, Schedule, Started, StopReason, retry_after,
};
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What an operation leads to.
pub(super) type Outcome<R> = Result<http::Response<HttpResponseBody<R>>, HttpError>;

/// What the operation does next.
pub(super) enum Next<R> {
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
    /// End.
    Stop(Box<Outcome<R>>),
}

/// One operation.
pub(super) struct Course<B, R> {
    policy: Arc<Policy>,
    pub(super) config: Arc<Config>,
    schedule: Option<Schedule>,
    inbound: Option<Instant>,
    pub(super) outgoing: Outgoing<B>,
    pub(super) repeatable: bool,
    pub(super) clock: Option<Clock>,
    state: OperationState,
    pub(super) current: Current,
    pub(super) ledger: Ledger,
    pub(super) http: Box<HttpReport>,
    /// What the attempt before ended with.
    before: Option<Box<Ended<R>>>,
    /// The attempt failed, and whether its own response was the reason is not known yet.
    pub(super) suspect: Option<Box<Suspect>>,
    pub(super) resends: Resends,
    burst: u8,
    jitter: Jitter,
}

/// The attempt that is running.
#[derive(Debug, Default)]
pub(super) struct Current {
    started: Option<Started>,
    delay: Duration,
    start: Duration,
    /// Its end, where that came before the end of its body.
    pub(super) end: Option<Duration>,
    deadline: Option<Instant>,
}

/// How an attempt ended without success.
pub(super) enum Ended<R> {
    Answered(Box<http::Response<HttpResponseBody<R>>>),
    Broken(Broken),
}

impl<B: Replay, R> Course<B, R> {
    pub(super) fn new(policy: Arc<Policy>, config: Arc<Config>, outgoing: Outgoing<B>) -> Self {
        let parts = outgoing.parts();
        let verdict = policy.classify(parts, &outgoing.bytes().unwrap_or_default());
        let name = format!("{} {}", parts.method, parts.uri.path());
        let http = HttpReport::new(verdict, policy.strategy);
        Self {
            schedule: None,
            inbound: inbound_deadline(),
            outgoing,
            repeatable: http.may_be_sent_again(),
            clock: None,
            state: OperationState::default(),
            current: Current::default(),
            ledger: Ledger::new(Cow::<'static, str>::Owned(name)),
            http: Box::new(http),
            before: None,
            suspect: None,
            resends: Resends::default(),
            burst: 0,
            jitter: config.jitter.next(),
            config,
            policy,
        }
    }

    pub(super) fn method(&self) -> &Method {
        &self.outgoing.parts().method
    }

    fn limits(&self) -> &Limits {
        &self.config.limits
    }

    pub(super) fn body_idle_timeout(&self) -> Option<Duration> {
        self.limits().body_idle_timeout
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.current.deadline
    }

    /// The moment to wait for, now that the attempt has to wait.
    pub(super) fn pending(&mut self) -> Option<Instant> {
        self.burst = 0;
        self.current.deadline
    }

    /// Begins an attempt, if there is time for it.
    pub(super) fn begin(&mut self) -> Next<R> {
        if let Some(suspect) = self.suspect.take() {
            return self.cleared(*suspect);
        }
        // The operation starts with its first attempt.
        let (clock, now) = if let Some(clock) = self.clock {
            (clock, clock.elapsed())
        } else {
            let left = self.inbound.map(until);
            self.schedule = left.map(|left| self.policy.schedule.clone().bounded_by(left));
            (*self.clock.insert(Clock::start()), Duration::ZERO)
        };
        let schedule = self.schedule.as_ref().unwrap_or(&self.policy.schedule);
        match self.state.start(schedule, now) {
            Ok(started) => {
                // Its connection goes to the next one.
                self.before = None;
                self.resends.attempt_begins();
                self.current = Current {
                    started: Some(started),
                    delay: self.current.delay,
                    start: now,
                    end: None,
                    deadline: started.deadline().and_then(|timeout| clock.at(now.saturating_add(timeout))),
                };
                Next::Send
            }
            Err(stop) => {
                let before = self.before.take().map_or(Ended::Broken(Broken::NoTime), |before| *before);
                self.stop(before, stop.reason())
            }
        }
    }

    /// The request of the attempt that has begun.
    pub(super) fn request(&mut self) -> Option<http::Request<B>> {
        self.outgoing.write()
    }

    /// A response has come over a connection that its extensions may name.
    pub(super) fn connection(&self, extensions: &http::Extensions) {
        self.config.connections.remember(extensions);
    }

    /// The head of a response has come: how far its body is read before anything follows from it. `None`: not
    /// at all, since its status is final.
    pub(super) fn head(&mut self, status: StatusCode) -> Option<Extent> {
        if status.is_success() {
            return Some(Extent::to_end(self.limits().max_response_buffer, self.current.deadline));
        }
        // Whatever its body does, the attempt has ended.
        let end = self.elapsed();
        self.current.end = Some(end);
        let (_, ending) = self.ending(Some(HttpFailure::Status(status.as_u16())), self.repeatable);
        if !self.outgoing.is_replayable() || !self.schedule().permits(ending) {
            return None;
        }
        let drained = self.clock.and_then(|clock| clock.at(end.saturating_add(DRAIN_TIME)));
        Some(Extent::drain([drained, self.current.deadline].into_iter().flatten().min()))
    }

    /// A good answer.
    pub(super) fn succeeded(
        &mut self,
        response: http::Response<HttpResponseBody<R>>,
        is_whole: bool,
    ) -> Next<R> {
        self.record(Code::Ok);
        if !is_whole {
            self.ledger.note(Note::ResponseTooLargeToJudge);
        }
        Next::Stop(Box::new(Ok(self.reported(response, None))))
    }

    /// An answer that is none of success.
    pub(super) fn answered(&mut self, response: http::Response<HttpResponseBody<R>>) -> Next<R> {
        let failure = HttpFailure::Status(response.status().as_u16());
        let asked = self.limits().retry_after.then(|| asked_for(response.headers())).flatten();
        self.ended(Ended::Answered(Box::new(response)), Some(failure), self.repeatable, asked)
    }

    /// Our clock has ended the attempt.
    pub(super) fn timed_out(&mut self) -> Next<R> {
        let after = self.current.started.and_then(Started::rpc_timeout).unwrap_or_default();
        let broken = Broken::TimedOut { after };
        let failure = broken.failure().map(HttpFailure::Transport);
        self.ended(Ended::Broken(broken), failure, self.repeatable, None)
    }

    pub(super) fn ended(
        &mut self,
        ended: Ended<R>,
        failure: Option<HttpFailure>,
        repeatable: bool,
        asked: Option<Duration>,
    ) -> Next<R> {
        self.http.failures.extend(failure);
        let (code, mut ending) = self.ending(failure, repeatable);
        let now = self.record(code);
        if let Some(asked) = asked {
            ending = ending.after_at_least(asked);
        }
        let schedule = self.schedule.as_ref().unwrap_or(&self.policy.schedule);
        match self.state.ended(schedule, now, ending, &mut self.jitter) {
            Decision::Retry(_) if !self.outgoing.is_replayable() => {
                self.ledger.note(self.outgoing.note());
                self.stop(ended, StopReason::NotReplayable)
            }
            Decision::Retry(retry) => {
                self.current.delay = retry.wait();
                // From the attempt's end on: to read its body is part of the wait.
                self.pause(ended, now.saturating_add(retry.wait()))
            }
            Decision::Stop(stop) => {
                self.ledger.not_attempted = stop.not_attempted();
                self.stop(ended, stop.reason())
            }
            // A failure has no code OK; were there one, nothing would retry it.
            Decision::Done => self.stop(ended, StopReason::NonRetryable),
        }
    }

    /// The code that a failure counts as, and all that is known of it for the schedule.
    fn ending(&self, failure: Option<HttpFailure>, repeatable: bool) -> (Code, Ending) {
        let (code, listed) = match failure {
            Some(failure) => self.policy.judge(failure),
            // Its own fault.
            None => (Code::Unknown, Some(false)),
        };
        let mut ending = Ending::new(code);
        if let Some(listed) = listed {
            ending = ending.retryable(listed);
        }
        if !repeatable {
            ending = ending.retryable(false);
        }
        (code, ending)
    }

    /// Goes on with the next attempt at that time of the operation.
    fn pause(&mut self, ended: Ended<R>, until: Duration) -> Next<R> {
        if until <= self.elapsed() {
            self.before = Some(Box::new(ended));
            self.burst += 1;
            if self.burst < BURST {
                return Next::Attempt;
            }
            self.burst = 0;
            return Next::Yield;
        }
        self.before = Some(Box::new(ended.without_connection()));
        Next::Wait(self.clock.and_then(|clock| clock.at(until)))
    }

    /// Writes the attempt down; returns when it ended.
    pub(super) fn record(&mut self, code: Code) -> Duration {
        let end = self.current.end.unwrap_or_else(|| self.elapsed());
        if let Some(started) = self.current.started {
            self.ledger.push(Attempt::new(started, self.current.delay, self.current.start, end, code));
        }
        end
    }

    /// The time since the operation's start.
    pub(super) fn elapsed(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, Clock::elapsed)
    }

    fn schedule(&self) -> &Schedule {
        self.schedule.as_ref().unwrap_or(&self.policy.schedule)
    }

    pub(super) fn stop(&mut self, ended: Ended<R>, reason: StopReason) -> Next<R> {
        Next::Stop(Box::new(match ended {
            Ended::Answered(response) => Ok(self.reported(*response, Some(reason))),
            Ended::Broken(broken) => Err(HttpError::new(self.report(Some(reason)), broken)),
        }))
    }

    fn reported(
        &mut self,
        mut response: http::Response<HttpResponseBody<R>>,
        reason: Option<StopReason>,
    ) -> http::Response<HttpResponseBody<R>> {
        let report = self.report(reason);
        response.extensions_mut().insert(report);
        response
    }

    fn report(&mut self, reason: Option<StopReason>) -> OperationReport {
        let mut ledger = std::mem::replace(&mut self.ledger, Ledger::new(Cow::Borrowed("")));
        ledger.stop_reason = reason;
        ledger.http = Some(self.http.clone());
        OperationReport::new(ledger)
    }
}

impl<R> Ended<R> {
    fn without_connection(mut self) -> Self {
        if let Ended::Answered(response) = &mut self {
            response.body_mut().cut();
        }
        self
    }
}

/// The wait that an answer asks for.
fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let mut values = headers.get_all(RETRY_AFTER).iter().map(HeaderValue::as_bytes).peekable();
    values.peek()?;
    retry_after(values, headers.get(DATE).map(HeaderValue::as_bytes), time_of_day())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        asked_for(&map)
    }

    #[test]
    fn a_date_counts_from_the_answers_own() {
        let s = Duration::from_secs;
        assert_eq!(asked(&[]), None);
        assert_eq!(asked(&[("retry-after", "7")]), Some(s(7)));
        let date = ("date", "Sat, 21 Nov 2026 09:00:00 GMT");
        assert_eq!(asked(&[date, ("retry-after", "Sat, 21 Nov 2026 09:01:30 GMT")]), Some(s(90)));
        assert_eq!(asked(&[date, ("retry-after", "Sat, 21 Nov 2026 08:59:00 GMT")]), Some(s(0)));
        assert_eq!(asked(&[("retry-after", "Sat, 21 Nov 2020 09:00:00 GMT")]), Some(s(0)));
        assert_eq!(asked(&[("retry-after", "soon")]), None);
        assert!(asked(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]) > Some(s(1_000_000_000)));
    }
}
