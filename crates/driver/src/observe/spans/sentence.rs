//! An operation that failed, in one sentence.

use crate::observe::{OperationInfo, OperationSummary};
use gax_retry::StopReason;
use gax_text::{Escaped, Human};
use std::fmt;

/// One sentence for an operator who was woken by it.
pub(super) struct Sentence<'a>(pub(super) &'a OperationInfo, pub(super) &'a OperationSummary);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(operation, summary) = self;
        let (method, code) = (Escaped(operation.full_method()), summary.code());
        let count = summary.attempts();
        let noun = if count == 1 { "attempt" } else { "attempts" };
        write!(f, "{method} failed with {code} after {count} {noun} in {}", Human(summary.elapsed()))?;
        if let Some(reason) = summary.stop_reason() {
            write!(f, ": {}", why(reason))?;
        }
        if let Some(next) = summary.not_attempted() {
            write!(f, "; attempt {} would have followed after {}", next.attempt(), Human(next.delay()))?;
        }
        Ok(())
    }
}

/// A reason, for people.
pub(super) fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::NonRetryable => "this error is not retried",
        StopReason::TotalTimeout => "the total timeout leaves no time for another attempt",
        StopReason::MaxAttempts => "no more attempts are allowed",
        StopReason::NoLimits => "neither a total timeout nor max_attempts is set, so nothing is retried",
        StopReason::NotReplayable => "the request can't be sent again",
        StopReason::Committed => "the response was committed: part of it had been handed to the caller",
        StopReason::Throttled => "the retry budget is exhausted",
        StopReason::Pushback => "the server asked for no retry",
        StopReason::ServerDelayExceedsTotalTimeout => {
            "the server asks for a longer delay than there is time for"
        }
        StopReason::NestedRetry => "the request that is being served is itself a retry",
        StopReason::ChannelClosed => "the channel is closed",
        StopReason::InvalidOptions => "the call's options are invalid",
        StopReason::Cancelled => "the caller cancelled it",
        other => other.as_str(),
    }
}
