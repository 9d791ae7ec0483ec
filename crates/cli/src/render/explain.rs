//! Why an operation ended as it did, in one sentence.

use super::milliseconds::Ms;
use super::timeline::{Row, Timeline};
use gax_retry::{Code, CodeSet, Hedging, RetrySettings, StopReason};
use std::time::Duration;

/// The codes that another attempt may follow, under the name that users know them by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recoverable(&'static str, CodeSet);

impl Recoverable {
    /// Of a call with that policy.
    pub(crate) fn of(codes: CodeSet, hedging: Option<&Hedging>) -> Self {
        hedging.map_or(Self("retryable", codes), |hedging| Self("non-fatal", hedging.codes()))
    }

    /// Why nothing follows a failure with that code.
    fn why_not(self, code: Code) -> String {
        let Self(name, codes) = self;
        if codes.is_empty() {
            return format!("no code is {name}");
        }
        format!("{code} is not among the {name} codes ({codes})")
    }
}

/// The sentence under the table of attempts.
pub(crate) fn explain(timeline: &Timeline, settings: &RetrySettings, codes: Recoverable) -> String {
    let made = timeline.attempts.len();
    if timeline.truncated {
        return format!("Only the first {made} attempts are shown; the operation continues.");
    }
    let endless = timeline.attempts.iter().filter(|row| row.end_ms.is_none()).count();
    if endless > 1 {
        return format!("{endless} attempts have no deadline and get no reply, so the operation never ends.");
    }
    let last = deciding(timeline);
    let number = last.map_or(0, |row| row.attempt);
    let (Some(end), Some(code)) = (timeline.end_ms, last.and_then(|row| row.code)) else {
        return format!("Attempt {number} has no deadline and gets no reply, so the operation never ends.");
    };
    let Some(reason) = timeline.stop_reason else {
        return format!("The operation succeeded at {end}, on attempt {number}.");
    };
    let why = why(reason, timeline, settings, codes, code, number);
    format!("{reason}: {why}; the operation ended at {end} with {code}.")
}

/// The attempt that the operation ended with. If attempts overlapped, that is not always the last one.
fn deciding(timeline: &Timeline) -> Option<&Row> {
    let rows = &timeline.attempts;
    let is_sequence = rows.is_sorted_by(|one, next| one.end_ms.is_some_and(|end| end <= next.start_ms));
    if is_sequence {
        return rows.last();
    }
    let decided = rows.iter().filter(|row| row.code != Some(Code::Cancelled));
    decided.max_by_key(|row| (row.code == Some(Code::Ok), row.end_ms)).or(rows.last())
}

fn why(
    reason: StopReason,
    timeline: &Timeline,
    settings: &RetrySettings,
    codes: Recoverable,
    code: Code,
    number: u32,
) -> String {
    let total =
        settings.total_timeout().map_or_else(|| "none".to_owned(), |total| format!("{:#}", Ms(total)));
    match reason {
        StopReason::TotalTimeout => match (timeline.not_attempted, timeline.end_ms) {
            (Some(refused), Some(end)) => {
                let start = end.0.saturating_add(refused.delay());
                let over = settings.total_timeout().and_then(|total| start.checked_sub(total));
                let late = match over {
                    None | Some(Duration::ZERO) => "with no time left of the".to_owned(),
                    Some(over) => format!("{} after the", Ms(over)),
                };
                format!(
                    "attempt {} could only have started at {}, {late} total timeout of {total}",
                    refused.attempt(),
                    Ms(start)
                )
            }
            _ => format!("attempt {number} used up the total timeout of {total}"),
        },
        StopReason::MaxAttempts if number == 1 => "the one attempt allowed was made".to_owned(),
        StopReason::MaxAttempts => format!("all {number} attempts allowed were made"),
        StopReason::NonRetryable => codes.why_not(code),
        StopReason::NoLimits => {
            "neither a total timeout nor a number of attempts bounds the operation, so nothing is retried"
                .to_owned()
        }
        StopReason::NotReplayable => "the request can't be replayed".to_owned(),
        StopReason::Committed => "part of the response had been passed to the caller".to_owned(),
        StopReason::Throttled => "the retry budget had no tokens left".to_owned(),
        StopReason::Pushback => "the server asked for no retry".to_owned(),
        StopReason::ServerDelayExceedsTotalTimeout => {
            "the server asked for a longer wait than the operation had time for".to_owned()
        }
        StopReason::NestedRetry => "the request that is being served is itself a retry".to_owned(),
        StopReason::InvalidOptions => "the call's settings are invalid".to_owned(),
        StopReason::ChannelClosed => "the channel is closed permanently".to_owned(),
        StopReason::Cancelled => "the caller cancelled it".to_owned(),
        _ => "no further attempt was made".to_owned(),
    }
}
