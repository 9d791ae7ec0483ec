//! Runs a case's script through the operation of a client, under a clock that only counts.

use super::case::{Context, PollResult, Polled, Settings, Streaming, Unary};
use super::record::{Denied, Record, Row};
use gax_retry::gax_java::Polling;
use gax_retry::operation::{AttemptEnd, AttemptResult, End, Event, Next, Seen};
use gax_retry::plan::{Simulated, Simulation};
use gax_retry::{
    Attempt, AttemptKind, Code, CodeSet, NoJitter, NotAttempted, Policy, StartedAttempt, StopReason,
};
use std::time::Duration;

/// The entries of a script; the last one repeats.
pub(super) fn endless<T>(script: &[T]) -> impl Iterator<Item = &T> {
    script.iter().chain(script.last().into_iter().cycle())
}

/// The reply of a server without a script: none.
fn silence() -> (Option<Duration>, AttemptResult) {
    (None, AttemptResult::failed(Code::DeadlineExceeded))
}

pub(super) fn too_many() -> String {
    format!("the operation makes more than {} attempts", Simulation::MAX_ATTEMPTS)
}

pub(super) fn micros(duration: Duration) -> i128 {
    duration.as_micros().cast_signed()
}

/// A client's call.
pub(super) fn callable(case: &Unary) -> Result<Option<Record>, String> {
    let policy = policy(&case.settings, case.codes, case.context.as_ref());
    let mut script = endless(&case.script);
    run(&policy, 1, EXHAUSTED, |_| match script.next() {
        Some(reply) => (reply.after, AttemptResult::failed(reply.code)),
        None => silence(),
    })
}

/// A server stream of a client.
pub(super) fn streaming(case: &Streaming) -> Result<Option<Record>, String> {
    let policy = policy(&case.settings, case.codes, case.context.as_ref());
    let mut script = endless(&case.script);
    let mut counts = Vec::new();
    let mut attempt_count = 0;
    // gax-java's streams know no exhausted retries.
    let record = run(&policy, 1, "attemptPermanentFailure", |attempt| {
        attempt_count = match attempt.kind() {
            AttemptKind::Original => 0,
            AttemptKind::Resume => 1,
            _ => attempt_count + 1,
        };
        counts.push((attempt_count, i128::from(attempt.number()) - 1));
        let Some(reply) = script.next() else { return silence() };
        let seen = if reply.delivers { Seen::Messages { resumable: case.resumable } } else { Seen::Nothing };
        (reply.after, AttemptResult::failed(reply.code).with_seen(seen))
    })?;
    Ok(record.map(|mut record| {
        for (row, counts) in record.attempts.iter_mut().zip(counts) {
            (row.attempt_count, row.overall_attempt_count) = (Some(counts.0), Some(counts.1));
        }
        record
    }))
}

/// A long-running operation: the initial call, then polls.
pub(super) fn poll(case: &Polled) -> Result<Option<Record>, String> {
    let call_timeout = case.context.as_ref().map_or(Duration::ZERO, |context| context.timeout);
    let polling = Polling::new(&case.settings.raw).with_call_timeout(call_timeout);
    let policy = Policy::polling(polling);
    let mut script = endless(&case.script);
    // If the initial call was done before the first look, the first poll is treated as attempt 1 of the tracer.
    let first = if case.done_before_first_look { 2 } else { 1 };
    let record = run(&policy, first, EXHAUSTED, |attempt| {
        let Some(reply) = script.next() else { return silence() };
        let result = match reply.result {
            PollResult::NotDone if case.done_before_first_look && attempt.number() == 1 => {
                AttemptResult::not_done(Next::Now)
            }
            PollResult::NotDone => AttemptResult::not_done(Next::Later),
            PollResult::Done => AttemptResult::done(),
            PollResult::Error(code) => AttemptResult::failed(code),
        };
        (reply.after, result)
    })?;
    Ok(record.map(as_polled))
}

/// The record in the words of a poller, whose attempts come to "done" or "not done".
fn as_polled(mut record: Record) -> Record {
    let is_done = record.end == "success";
    let last = record.attempts.len().saturating_sub(1);
    for (index, row) in record.attempts.iter_mut().enumerate() {
        if row.outcome == Code::Ok.name() {
            let outcome = if is_done && index == last { "DONE" } else { "NOT_DONE" };
            outcome.clone_into(&mut row.outcome);
        }
    }
    let end = match record.end.as_str() {
        "success" => "done".to_owned(),
        "non_retryable" => "error".to_owned(),
        limit => {
            record.final_code = None;
            format!("cancelled_{limit}")
        }
    };
    Record { end, ..record }
}

fn policy(settings: &Settings, codes: CodeSet, context: Option<&Context>) -> Policy {
    let mut policy = Policy::gax_java(&settings.raw, codes);
    let Some(context) = context else { return policy };
    if !context.timeout.is_zero() {
        policy = policy.with_attempt_timeout(context.timeout);
    }
    if let Some(settings) = &context.settings {
        policy = policy.with_raw_settings(&settings.raw);
    }
    if let Some(codes) = context.codes {
        policy = policy.with_retryable_codes(codes);
    }
    policy
}

/// What a tracer is told of the last attempt that the settings allow.
const EXHAUSTED: &str = "attemptFailedRetriesExhausted";

/// Runs a client's operation, whose tracer counts from that attempt on. `None`: an attempt hangs forever.
fn run(
    policy: &Policy,
    first: u32,
    exhausted: &str,
    respond: impl FnMut(StartedAttempt) -> (Option<Duration>, AttemptResult),
) -> Result<Option<Record>, String> {
    let mut tracer = Vec::new();
    let mut observer = |event: Event| tracer.extend(call(&event, first, exhausted));
    let (attempts, simulated) =
        Simulation::new(policy, &mut NoJitter).observed_by(&mut observer).run(respond);
    let (end, end_us) = match simulated {
        Simulated::Ended(end, at) => (end, micros(at)),
        Simulated::Endless(_) => return Ok(None),
        Simulated::Truncated(_) => return Err(too_many()),
    };
    let final_code = attempts.last().map(|attempt| attempt.code().name().to_owned());
    let (end, refused) = match end {
        End::Reply(_) => ("success".to_owned(), None),
        End::Failure(stop) => (end_name(stop.reason()), stop.not_attempted()),
    };
    Ok(Some(Record {
        attempts: attempts.iter().map(row).collect(),
        end,
        final_code,
        end_us,
        denied_next: refused.map(refused_attempt),
        tracer: Some(tracer),
    }))
}

fn row(attempt: &Attempt) -> Row {
    Row {
        attempt: attempt.number().into(),
        rpc_timeout_us: attempt.rpc_timeout().map_or(0, micros),
        retry_delay_us: micros(attempt.delay()),
        start_us: micros(attempt.start()),
        end_us: micros(attempt.end()),
        outcome: attempt.code().name().to_owned(),
        attempt_count: None,
        overall_attempt_count: None,
    }
}

fn refused_attempt(refused: NotAttempted) -> Denied {
    Denied {
        attempt: refused.attempt().into(),
        retry_delay_us: micros(refused.delay()),
        rpc_timeout_us: None,
    }
}

/// The recording's name for the end of an operation.
fn end_name(reason: StopReason) -> String {
    match reason {
        StopReason::Committed => "not_resumable".to_owned(),
        reason => reason.as_str().to_lowercase(),
    }
}

/// The call that a tracer gets which counts from that attempt on.
fn call(event: &Event, first: u32, exhausted: &str) -> Option<String> {
    match event {
        Event::Started(attempt) => Some(format!("attemptStarted({})", attempt.number().checked_sub(first)?)),
        Event::Ended(attempt, _) if attempt.number() < first => None,
        Event::Ended(attempt, end) => Some(match end {
            AttemptEnd::Succeeded => "attemptSucceeded".to_owned(),
            AttemptEnd::Failed(delay) => {
                let delay = delay.unwrap_or_default().as_micros();
                format!("attemptFailed({},delay_us={delay})", error(attempt, "null"))
            }
            AttemptEnd::RetriesExhausted(_) => {
                format!("{exhausted}({})", error(attempt, "CancellationException"))
            }
            AttemptEnd::PermanentFailure(_) => {
                format!("attemptPermanentFailure({})", error(attempt, "null"))
            }
            AttemptEnd::Cancelled => "attemptCancelled".to_owned(),
        }),
        // gax-java has none of these.
        Event::TransparentRetry(_) | Event::PushbackReceived(..) | Event::RetryThrottled(_) => None,
    }
}

/// The error's code; a poll that says "not done" has none.
fn error(attempt: &Attempt, none: &'static str) -> &'static str {
    match attempt.code() {
        Code::Ok => none,
        code => code.name(),
    }
}
