//! The rules that every call has to keep.

use super::call::MAX_KEPT;
use super::{CallEnd, CallKind, FinishedCall, Grain, OperationEnd, Witnessed, WitnessedAttempt};
use gax_http::HttpReport;
use gax_retry::http::HttpFailure;
use gax_retry::{Attempt, AttemptKind, Code, Compatibility, StopReason};
use std::time::Duration;
use tonic_gax::{Note, note};

/// The rules that a call has broken, a sentence each; none, if all is well.
#[must_use]
pub fn broken_rules(call: &FinishedCall) -> Vec<String> {
    let mut rules = Rules { call, broken: Vec::new() };
    rules.time();
    rules.replay_limit();
    let [operation] = &call.witnessed[..] else {
        rules.hold(
            call.witnessed.is_empty() && call.end == CallEnd::Dropped && call.handed_over.is_zero(),
            || format!("the observer saw {} operations in place of one", call.witnessed.len()),
        );
        return rules.broken;
    };
    rules.one_outcome(operation);
    rules.attempts(operation);
    rules.order(operation);
    rules.server(operation);
    rules.report(operation);
    rules.repetition(operation);
    rules.broken
}

struct Rules<'a> {
    call: &'a FinishedCall,
    broken: Vec<String>,
}

/// How an attempt ended, as the observer recorded it.
fn end(attempt: &WitnessedAttempt) -> Option<&Attempt> {
    attempt.ends.first()
}

impl Rules<'_> {
    fn hold(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(sentence());
        }
    }

    fn slack(&self) -> Duration {
        self.call.grain.slack()
    }

    /// The time that the call has, if anything bounds it.
    fn budget(&self) -> Option<Duration> {
        let settings = &self.call.policy.settings;
        let total = settings.total_timeout();
        match self.call.policy.compatibility {
            // gax-java gives an attempt no timeout where only a total is set.
            Compatibility::GaxJava if settings.initial_rpc_timeout().is_none() => self.call.call.timeout,
            _ => self.call.call.timeout.or(total),
        }
    }

    /// The caller has a result within the total timeout, and never waits longer than its patience.
    fn time(&mut self) {
        let (handed_over, patience) = (self.call.handed_over, self.call.call.patience);
        if let Some(budget) = self.budget() {
            self.hold(handed_over <= budget + self.slack(), || {
                format!("the caller waited {handed_over:?}, but the budget is {budget:?}")
            });
        }
        self.hold(handed_over <= patience + self.slack(), || {
            format!("the call was dropped after {patience:?} and went on for {handed_over:?}")
        });
    }

    /// A request that is too long to be kept is sent once.
    fn replay_limit(&mut self) {
        let usual = self.call.is_retried_by_code.then_some(MAX_KEPT);
        let limit = self.call.policy.max_replay_bytes.or(usual);
        let (length, seen) = (self.call.call.length, self.call.seen.len());
        if let Some(limit) = limit.filter(|limit| length > *limit) {
            self.hold(seen <= 1, || {
                format!("the server saw {seen} requests of {length} bytes, of which {limit} are kept")
            });
        }
    }

    /// One start, one end, which is the caller's.
    fn one_outcome(&mut self, operation: &Witnessed) {
        self.hold(operation.starts == 1, || format!("the operation started {} times", operation.starts));
        self.hold(operation.oddities.is_empty(), || operation.oddities.join("; "));
        let [(end, summary)] = &operation.ends[..] else {
            let ends = operation.ends.len();
            return self.hold(false, || format!("the operation ended {ends} times"));
        };
        let is_stream = self.call.call.kind == CallKind::ServerStreaming;
        match &self.call.end {
            // The end of its body is reported too.
            CallEnd::Reply | CallEnd::Dropped if is_stream => {}
            CallEnd::Reply => {
                self.hold(*end != OperationEnd::Failed, || "a reply counts as failed".to_owned());
            }
            CallEnd::Failed(code) => {
                self.hold(*end == OperationEnd::Failed, || format!("a failure counts as {end:?}"));
                let code = code.unwrap_or(summary.code());
                // By gRPC's rules an operation ends at its deadline, and over HTTP the last response is handed over there.
                let is_last = !self.call.is_retried_by_code
                    && self.call.policy.compatibility == Compatibility::Grpc
                    && summary.code() == Code::DeadlineExceeded;
                self.hold(summary.code() == code || is_last, || {
                    format!("the caller got {code}, and the observer {}", summary.code())
                });
                self.hold(summary.stop_reason().is_some(), || "a failure has no stop reason".to_owned());
            }
            // To the layer the response was good, whatever the client above it made of that.
            CallEnd::Unreadable(_) => {
                // A message with an error right behind it is handed on where nobody knows that the RPC is unary.
                let may_be_handed_on = operation.committed.is_some() || !self.call.knows_kinds;
                self.hold(
                    summary.stop_reason() != Some(StopReason::NonRetryable) || may_be_handed_on,
                    || format!("the caller got no report of {summary:?}"),
                );
            }
            CallEnd::Dropped => {
                self.hold(*end == OperationEnd::Cancelled, || format!("a dropped call counts as {end:?}"));
            }
        }
        let made = operation.attempts.len();
        self.hold(usize::try_from(summary.attempts()) == Ok(made), || {
            format!("the summary has {} attempts, and {made} were started", summary.attempts())
        });
        let resent = operation.transparent_retries;
        self.hold(summary.transparent_retries() == resent, || {
            format!(
                "the summary has {} transparent retries in place of {resent}",
                summary.transparent_retries()
            )
        });
        let hedges = operation.attempts.iter().filter(|attempt| attempt.started.kind() == AttemptKind::Hedge);
        let hedges = hedges.count();
        self.hold(usize::try_from(summary.hedges()) == Ok(hedges), || {
            format!("the summary has {} hedges in place of {hedges}", summary.hedges())
        });
    }

    /// No more of them than allowed, numbered from 1, each with one end within its time.
    fn attempts(&mut self, operation: &Witnessed) {
        let made = operation.attempts.len();
        if let Some(most) = self.call.policy.most_attempts() {
            self.hold(made <= most as usize, || format!("{made} attempts were made of at most {most}"));
        }
        let is_unary = self.call.call.kind == CallKind::Unary;
        for (place, attempt) in operation.attempts.iter().enumerate() {
            let number = attempt.started.number();
            self.hold(number as usize == place + 1, || format!("attempt {number} is the {place}th"));
            let [ended] = &attempt.ends[..] else {
                self.hold(false, || format!("attempt {number} ended {} times", attempt.ends.len()));
                continue;
            };
            self.hold(ended.end() >= attempt.started.start(), || {
                format!("attempt {number} ended before it started")
            });
            let kind = attempt.started.kind();
            let expected = match (place, self.call.policy.hedging) {
                (0, _) => AttemptKind::Original,
                (_, Some(_)) => AttemptKind::Hedge,
                (_, None) => AttemptKind::Retry,
            };
            self.hold(kind == expected, || format!("attempt {number} is a {kind:?}, no {expected:?}"));
            // A reply that is there may take its last step together with the deadline.
            if let (Some(timeout), true) = (attempt.started.deadline(), is_unary) {
                let took = ended.end().saturating_sub(attempt.started.start());
                self.hold(took <= timeout + self.slack(), || {
                    format!("attempt {number} took {took:?}, but its RPC timeout is {timeout:?}")
                });
            }
            if let Some(budget) = self.budget() {
                let start = attempt.started.start();
                self.hold(start < budget.max(Duration::from_nanos(1)), || {
                    format!("attempt {number} started at {start:?}, but the budget is {budget:?}")
                });
            }
        }
    }

    /// Retries follow each other, and only what may be retried is; hedges overlap, and a fatal error or a reply ends all.
    fn order(&mut self, operation: &Witnessed) {
        let is_hedged = self.call.policy.hedging.is_some();
        for pair in operation.attempts.windows(2) {
            let [before, after] = pair else { continue };
            let Some(ended) = end(before) else { continue };
            let (number, start) = (after.started.number(), after.started.start());
            if !is_hedged {
                self.hold(start >= ended.end(), || {
                    format!("attempt {number} started at {start:?}, before the one before it ended")
                });
                let wait = after.started.delay();
                let waited = start.saturating_sub(ended.end());
                self.hold(waited + Duration::from_millis(1) >= wait, || {
                    format!("attempt {number} waited {waited:?} in place of {wait:?}")
                });
            }
        }
        let last = operation.attempts.iter().map(|attempt| attempt.started.start()).max().unwrap_or_default();
        let recoverable = self.call.policy.recoverable_codes();
        for attempt in &operation.attempts {
            let Some(ended) = end(attempt) else { continue };
            let (number, code) = (ended.number(), ended.code());
            // A loser is cancelled when all is over.
            let may_be_followed = match code {
                Code::Ok => false,
                Code::Cancelled if is_hedged => true,
                code => !self.call.is_retried_by_code || recoverable.contains(code),
            };
            if !may_be_followed {
                self.hold(last <= ended.end(), || {
                    format!(
                        "attempt {number} ended with {code} at {:?}, and another one started at {last:?}",
                        ended.end()
                    )
                });
            }
        }
        if let Some(committed) = operation.committed {
            let started_later = operation.attempts.iter().filter(|attempt| {
                let winner = operation.attempts.iter().find(|one| one.started.number() == committed);
                winner.and_then(end).is_some_and(|end| attempt.started.start() > end.end())
            });
            let started_later = started_later.count();
            self.hold(started_later == 0, || format!("{started_later} attempts started after the commit"));
        }
    }

    /// The server saw each attempt: as often as it was sent, when, with how much time, and cancelled when it was over.
    fn server(&mut self, operation: &Witnessed) {
        for seen in &self.call.seen {
            let number = seen.attempt;
            let attempt = operation.attempts.iter().find(|one| one.started.number() == number);
            let Some(attempt) = attempt else {
                self.hold(false, || format!("the server saw an attempt {number} that was never made"));
                continue;
            };
            // Where a connection has no room, a request that was sent waits in the client.
            let sent = attempt.sent.first().copied().filter(|_| !self.call.is_calm).unwrap_or(seen.at);
            self.deadline(sent, seen.timeout, attempt);
            let previous = number - 1;
            let announced = seen.previous.unwrap_or_default();
            if self.call.is_retried_by_code && self.call.policy.compatibility != Compatibility::GaxJava {
                self.hold(announced == previous, || {
                    format!("attempt {number} announced {announced} attempts before it")
                });
            }
            if let (Some(gone), Some(ended), true) = (seen.gone, end(attempt), self.call.is_calm) {
                self.hold(gone <= ended.end() + self.slack(), || {
                    format!(
                        "attempt {number} ended at {:?}, and the server heard of it at {gone:?}",
                        ended.end()
                    )
                });
            }
        }
        for attempt in &operation.attempts {
            let number = attempt.started.number();
            let seen: Vec<Duration> =
                self.call.seen.iter().filter(|seen| seen.attempt == number).map(|seen| seen.at).collect();
            self.hold(seen.len() <= attempt.sent.len(), || {
                format!(
                    "attempt {number} was sent {} times, and seen {} times",
                    attempt.sent.len(),
                    seen.len()
                )
            });
            let is_exact = self.call.is_calm && self.call.grain == Grain::Virtual;
            // One that is dropped as it starts may never leave.
            let ended = end(attempt).map(Attempt::end).unwrap_or_default();
            if is_exact && attempt.sent.iter().all(|sent| *sent < ended) {
                self.hold(seen == attempt.sent, || {
                    format!(
                        "attempt {number} was sent at {:?}, and the server saw it at {seen:?}",
                        attempt.sent
                    )
                });
            }
        }
    }

    /// No server gets a timeout longer than the time that is left.
    fn deadline(&mut self, at: Duration, announced: Option<Duration>, attempt: &WitnessedAttempt) {
        let number = attempt.started.number();
        let Some(announced) = announced else {
            let is_bounded = attempt.started.deadline().is_some() && self.call.is_retried_by_code;
            return self.hold(!is_bounded, || format!("attempt {number} has no grpc-timeout"));
        };
        if let Some(timeout) = attempt.started.deadline() {
            self.hold(announced <= timeout + Duration::from_millis(1), || {
                format!("attempt {number} has {timeout:?}, and announced {announced:?}")
            });
        }
        if let (Some(budget), Grain::Virtual) = (self.budget(), self.call.grain) {
            self.hold(at + announced <= budget + self.slack(), || {
                format!("attempt {number} announced {announced:?} at {at:?}, but the budget is {budget:?}")
            });
        }
    }

    /// The report has every attempt, and the first and last of them row by row.
    fn report(&mut self, operation: &Witnessed) {
        let Some(report) = &self.call.report else {
            let has_none = matches!(self.call.end, CallEnd::Dropped | CallEnd::Unreadable(_));
            return self.hold(has_none, || "there is no report".to_owned());
        };
        let (reported, made) = (report.attempt_count() as usize, operation.attempts.len());
        self.hold(reported == made, || format!("the report has {reported} attempts, and {made} were made"));
        let resent = operation.transparent_retries;
        self.hold(report.transparent_retries() == resent, || {
            format!(
                "the report has {} transparent retries in place of {resent}",
                report.transparent_retries()
            )
        });
        let expected = made.min(64);
        self.hold(report.attempts().len() == expected, || {
            format!("the report has {} rows in place of {expected}", report.attempts().len())
        });
        let ended = report.attempts().iter().map(Attempt::end).max().unwrap_or_default();
        self.hold(report.elapsed() == ended, || {
            format!("the report says {:?}, and its last attempt ended at {ended:?}", report.elapsed())
        });
        let is_over = self.call.call.kind == CallKind::Unary || matches!(self.call.end, CallEnd::Failed(_));
        for row in report.attempts() {
            let attempt = operation.attempts.iter().find(|one| one.started.number() == row.number());
            let Some(attempt) = attempt else {
                self.hold(false, || {
                    format!("the report has an attempt {} that was never made", row.number())
                });
                continue;
            };
            // A response that was handed over before its end has a row of its own.
            if let Some(ended) = end(attempt).filter(|ended| is_over && ended.code() != Code::Ok) {
                self.hold(ended == row, || {
                    format!("the observer recorded {ended:?}, and the report has {row:?}")
                });
            }
        }
        let has_failed = matches!(self.call.end, CallEnd::Failed(_));
        let is_handed_on = !self.call.knows_kinds && report.notes().contains(&note::FAILED_BEHIND_MESSAGES);
        self.hold(report.stop_reason().is_some() == (has_failed || is_handed_on), || {
            format!("the report's stop reason is {:?}", report.stop_reason())
        });
    }

    /// A write that was carried out is never reported as refused because of its own repetition, or the note says so.
    fn repetition(&mut self, operation: &Witnessed) {
        let CallEnd::Failed(Some(code)) = self.call.end else { return };
        let is_http = !self.call.is_retried_by_code;
        let is_refused = match code {
            Code::FailedPrecondition | Code::Aborted | Code::AlreadyExists => true,
            Code::NotFound => is_http || self.call.policy.hedging.is_some(),
            _ => false,
        };
        // Over HTTP a status says more than the code that it counts as.
        let http = self.call.report.as_ref().and_then(|report| report.detail::<HttpReport>());
        let status = http.and_then(|http| http.failures().last());
        let is_refused = match status {
            Some(status) => matches!(status, HttpFailure::Status(404 | 409 | 412)),
            None => is_refused,
        };
        if !is_refused || is_http && self.call.call.method == "GET" {
            return;
        }
        let has_unknown = operation.attempts.iter().any(|attempt| {
            let is_unknown =
                matches!(end(attempt).map(Attempt::code), Some(Code::Cancelled | Code::DeadlineExceeded));
            is_unknown && self.call.seen.iter().any(|seen| seen.attempt == attempt.started.number())
        });
        let report = self.call.report.as_ref();
        let is_noted =
            report.is_some_and(|report| report.notes().contains(&Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED));
        self.hold(is_noted || !(self.call.is_carried_out || has_unknown), || {
            format!("the caller got {code} of what may have been carried out, and no note says so")
        });
    }
}
