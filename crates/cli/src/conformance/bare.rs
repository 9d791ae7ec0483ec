//! Runs a case's script through gax-java's algorithm alone: no rule for methods without retries, timeouts as computed.
//!
//! It records what an operation never shows: timeouts below zero, that of a refused attempt, and waits that Java can't count.

use super::case::{Reply, Unary};
use super::drive::{endless, micros, too_many};
use super::record::{Denied, Record, Row};
use gax_retry::gax_java::{Algorithm, Limit, Next};
use gax_retry::plan::Simulation;
use gax_retry::{Code, NoJitter};
use std::time::Duration;

/// Runs the script. `None`: an attempt hangs forever.
pub(super) fn bare(case: &Unary) -> Result<Option<Record>, String> {
    let algorithm = Algorithm::new(&case.settings.raw);
    let (mut next, mut timeout, mut now) = (algorithm.first(), algorithm.first_timeout(), Duration::ZERO);
    let mut attempts = Vec::new();
    for (count, reply) in (0_u32..).zip(endless(&case.script)).take(Simulation::MAX_ATTEMPTS) {
        let Some((took, code)) = ended(reply, timeout) else { return Ok(None) };
        let number = i128::from(count) + 1;
        let start = now;
        now = now.saturating_add(took);
        attempts.push(Row {
            attempt: number,
            rpc_timeout_us: timeout / 1000,
            retry_delay_us: i128::from(next.wait) * 1000,
            start_us: micros(start),
            end_us: micros(now),
            outcome: code.name().to_owned(),
            attempt_count: None,
            overall_attempt_count: None,
        });
        let elapsed = now.as_nanos().cast_signed();
        let (end, denied_next) = match code {
            Code::Ok => ("success", None),
            code if !case.codes.contains(code) => ("non_retryable", None),
            _ => {
                next = algorithm.next(count, next, elapsed, &mut NoJitter);
                let Some(limit) = algorithm.limit(count.saturating_add(1), next, elapsed, 1) else {
                    timeout = i128::from(next.timeout) * 1_000_000;
                    now = now.saturating_add(Duration::from_millis(u64::try_from(next.wait).unwrap_or(0)));
                    continue;
                };
                (limit_name(limit), Some(denied(number + 1, next)))
            }
        };
        return Ok(Some(Record {
            attempts,
            end: end.to_owned(),
            final_code: Some(code.name().to_owned()),
            end_us: micros(now),
            denied_next,
            tracer: None,
        }));
    }
    Err(too_many())
}

/// How long an attempt takes and how it ends; `None`: it never does. A timeout counts in whole milliseconds, and is none if
/// it is not above zero.
fn ended(reply: &Reply, timeout: i128) -> Option<(Duration, Code)> {
    let deadline =
        (timeout > 0).then(|| Duration::from_millis(u64::try_from(timeout / 1_000_000).unwrap_or(u64::MAX)));
    match reply.after.filter(|after| deadline.is_none_or(|deadline| *after < deadline)) {
        Some(after) => Some((after, reply.code)),
        None => Some((deadline?, Code::DeadlineExceeded)),
    }
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
