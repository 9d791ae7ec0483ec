//! Runs a case's script through the engine under a clock that only counts.

use super::case::{Answer, Context, PollResult, Polled, Settings, Streaming, Unary};
use super::fields::Fault;
use super::record::{Counts, Denied, Record, Row};
use crate::gax_java::{Algorithm, Limit, Next, Polling};
use crate::{
    AttemptPlan, Code, CodeSet, Decision, Ending, NoJitter, NotAttempted, OperationState, Schedule, Started,
    Stop, StopReason,
};
use std::time::Duration;

/// What an attempt or a poll came to, and how long it took.
struct Ended<T> {
    took: Duration,
    result: T,
}

/// An attempt ends at its deadline if the answer has not come before; without either it never does.
fn ended<T>(after: Option<Duration>, result: T, deadline: Option<Duration>, late: T) -> Option<Ended<T>> {
    match (after, deadline) {
        (Some(after), Some(deadline)) if after >= deadline => Some(Ended { took: deadline, result: late }),
        (Some(after), _) => Some(Ended { took: after, result }),
        (None, Some(deadline)) => Some(Ended { took: deadline, result: late }),
        (None, None) => None,
    }
}

/// The entries of a script; the last one repeats.
fn endless<T>(script: &[T]) -> impl Iterator<Item = &T> {
    script.iter().chain(script.last().into_iter().cycle())
}

fn too_many() -> Fault {
    Fault(format!("the operation makes more than {} attempts", AttemptPlan::MAX_ATTEMPTS))
}

fn micros(duration: Duration) -> i128 {
    duration.as_micros().cast_signed()
}

/// The algorithm alone: no rule for methods without retries, timeouts as computed.
pub(super) fn bare(case: &Unary) -> Result<Option<Record>, Fault> {
    let algorithm = Algorithm::new(&case.settings.raw);
    let mut attempts = Vec::new();
    let mut next = algorithm.first();
    let mut timeout = algorithm.first_timeout();
    let mut now = Duration::ZERO;
    for (count, answer) in (0_u32..).zip(endless(&case.script)).take(AttemptPlan::MAX_ATTEMPTS) {
        let number = i128::from(count) + 1;
        let Some(Ended { took, result: code }) =
            ended(answer.after, answer.code, whole_ms(timeout), Code::DeadlineExceeded)
        else {
            return Ok(None);
        };
        let start = now;
        now = now.saturating_add(took);
        attempts.push(Row {
            attempt: number,
            rpc_timeout_us: timeout / 1000,
            retry_delay_us: i128::from(next.wait) * 1000,
            start_us: micros(start),
            end_us: micros(now),
            outcome: code.name().to_owned(),
            counts: None,
        });
        let end = match code {
            Code::Ok => Some("success"),
            code if !case.codes.contains(code) => Some("non_retryable"),
            _ => None,
        };
        let mut record = Record {
            attempts,
            end: end.unwrap_or_default().to_owned(),
            final_code: Some(code.name().to_owned()),
            end_us: micros(now),
            denied_next: None,
        };
        if end.is_some() {
            return Ok(Some(record));
        }
        let elapsed = now.as_nanos().cast_signed();
        next = algorithm.next(count, next, elapsed, &mut NoJitter);
        if let Some(limit) = algorithm.limit(count.saturating_add(1), next, elapsed, 1) {
            limit_name(limit).clone_into(&mut record.end);
            record.denied_next = Some(denied(number + 1, next));
            return Ok(Some(record));
        }
        attempts = record.attempts;
        timeout = i128::from(next.timeout) * 1_000_000;
        now = now.saturating_add(Duration::from_millis(u64::try_from(next.wait).unwrap_or(0)));
    }
    Err(too_many())
}

/// A timeout as a deadline: whole milliseconds, none if it is not above zero.
fn whole_ms(nanos: i128) -> Option<Duration> {
    (nanos > 0).then(|| Duration::from_millis(u64::try_from(nanos / 1_000_000).unwrap_or(u64::MAX)))
}

fn denied(attempt: i128, next: Next) -> Denied {
    Denied {
        attempt,
        retry_delay_us: i128::from(next.wait) * 1000,
        rpc_timeout_us: Some(i128::from(next.timeout) * 1000),
    }
}

fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::NoLimits => "no_limits",
        Limit::Overflow => "arithmetic_exception",
        Limit::TotalTimeout => "total_timeout",
        Limit::MaxAttempts => "max_attempts",
    }
}

/// A client's call: the schedule that a channel would be driven by.
pub(super) fn callable(case: &Unary) -> Result<Option<Record>, Fault> {
    let schedule = schedule(&case.settings, case.codes, &case.context);
    operation(&schedule, &case.script, None)
}

/// A server stream of a client.
pub(super) fn streaming(case: &Streaming) -> Result<Option<Record>, Fault> {
    let schedule = schedule(&case.settings, case.codes, &case.context);
    operation(&schedule, &case.script, Some(case.resumable))
}

fn schedule(settings: &Settings, codes: CodeSet, context: &Context) -> Schedule {
    let mut schedule = Schedule::gax_java(&settings.raw, codes);
    if !context.timeout.is_zero() {
        schedule = schedule.with_attempt_timeout(context.timeout);
    }
    if let Some(settings) = &context.settings {
        schedule = schedule.with_raw_settings(settings);
    }
    if let Some(codes) = context.codes {
        schedule = schedule.with_retryable_codes(codes);
    }
    schedule
}

/// `resumable` is asked of streams only.
fn operation(
    schedule: &Schedule,
    script: &[Answer],
    resumable: Option<bool>,
) -> Result<Option<Record>, Fault> {
    let mut state = OperationState::default();
    let mut attempts = Vec::new();
    let mut now = Duration::ZERO;
    let mut wait = Duration::ZERO;
    for answer in endless(script).take(AttemptPlan::MAX_ATTEMPTS) {
        let started = state
            .start(schedule, now)
            .map_err(|stop| Fault(format!("an attempt that was planned is refused: {}", stop.reason())))?;
        let Some(Ended { took, result: code }) =
            ended(answer.after, answer.code, started.deadline(), Code::DeadlineExceeded)
        else {
            return Ok(None);
        };
        let start = now;
        now = now.saturating_add(took);
        let counts = resumable.map(|_| Counts {
            attempt_count: state.count().into(),
            overall_attempt_count: i128::from(started.number()) - 1,
        });
        attempts.push(row(started, wait, start, now, code.name(), counts));
        let mut ending = Ending::new(code);
        if let Some(resumable) = resumable.filter(|_| answer.delivers) {
            ending = ending.after_messages(resumable);
        }
        let (end, refused) = match state.ended(schedule, now, ending, &mut NoJitter) {
            Decision::Retry(retry) => {
                wait = retry.wait();
                now = now.saturating_add(wait);
                continue;
            }
            Decision::Done => ("success", None),
            Decision::Stop(stop) => (end_name(stop), stop.not_attempted()),
        };
        return Ok(Some(Record {
            attempts,
            end: end.to_owned(),
            final_code: Some(code.name().to_owned()),
            end_us: micros(now),
            denied_next: refused.map(refused_attempt),
        }));
    }
    Err(too_many())
}

fn row(
    started: Started,
    wait: Duration,
    start: Duration,
    end: Duration,
    outcome: &str,
    counts: Option<Counts>,
) -> Row {
    Row {
        attempt: started.number().into(),
        rpc_timeout_us: started.rpc_timeout().map_or(0, micros),
        retry_delay_us: micros(wait),
        start_us: micros(start),
        end_us: micros(end),
        outcome: outcome.to_owned(),
        counts,
    }
}

fn refused_attempt(refused: NotAttempted) -> Denied {
    Denied {
        attempt: refused.attempt().into(),
        retry_delay_us: micros(refused.delay()),
        rpc_timeout_us: None,
    }
}

fn end_name(stop: Stop) -> &'static str {
    match stop.reason() {
        StopReason::NonRetryable => "non_retryable",
        StopReason::Committed => "not_resumable",
        StopReason::NoLimits => "no_limits",
        StopReason::MaxAttempts => "max_attempts",
        _ => "total_timeout",
    }
}

/// A long-running operation: the initial call, then polls.
pub(super) fn poll(case: &Polled) -> Result<Option<Record>, Fault> {
    let polling = Polling::new(&case.settings.raw).with_call_timeout(case.context.timeout);
    let mut state = polling.begin();
    let mut attempts = Vec::new();
    let mut now = Duration::ZERO;
    let mut wait = Duration::ZERO;
    let mut rpc_timeout = polling.call_timeout();
    for (index, answer) in (0_u32..).zip(endless(&case.script)).take(AttemptPlan::MAX_ATTEMPTS) {
        let started = Started::new(index.saturating_add(1), rpc_timeout).with_whole_milliseconds();
        let late = PollResult::Error(Code::DeadlineExceeded);
        let Some(Ended { took, result }) = ended(answer.after, answer.result, started.deadline(), late)
        else {
            return Ok(None);
        };
        let start = now;
        now = now.saturating_add(took);
        attempts.push(row(started, wait, start, now, poll_name(result), None));
        let next = if index == 0 && case.answered_before_first_look {
            Ok(polling.at_once())
        } else {
            polling.not_done(&mut state, now, &mut NoJitter)
        };
        let (end, final_code) = match (result, next) {
            (PollResult::NotDone, Ok(next)) => {
                wait = next.wait();
                rpc_timeout = next.rpc_timeout();
                now = now.saturating_add(wait);
                continue;
            }
            (PollResult::NotDone, Err(reason)) => (cancelled_name(reason), None),
            (PollResult::Done, _) => ("done", Some(Code::Ok)),
            (PollResult::Error(code), _) => ("error", Some(code)),
        };
        return Ok(Some(Record {
            attempts,
            end: end.to_owned(),
            final_code: final_code.map(|code| code.name().to_owned()),
            end_us: micros(now),
            denied_next: None,
        }));
    }
    Err(too_many())
}

fn poll_name(result: PollResult) -> &'static str {
    match result {
        PollResult::NotDone => "NOT_DONE",
        PollResult::Done => "DONE",
        PollResult::Error(code) => code.name(),
    }
}

fn cancelled_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::NoLimits => "cancelled_no_limits",
        StopReason::MaxAttempts => "cancelled_max_attempts",
        _ => "cancelled_total_timeout",
    }
}
