//! Events as gax-java's tracers get them, which count attempts from 0.

use gax_retry::operation::{AttemptEnd, Event};
use gax_retry::{Attempt, Code};

/// The call that the tracer of a unary call gets.
pub(super) fn unary_call(event: &Event) -> Option<String> {
    call(event, 1, "attemptFailedRetriesExhausted")
}

/// The call that the tracer of a server stream gets. gax-java's streams know no exhausted retries.
pub(super) fn streaming_call(event: &Event) -> Option<String> {
    call(event, 1, "attemptPermanentFailure")
}

/// The call that the tracer of a poller gets, which counts from that attempt on.
pub(super) fn polling_call(event: &Event, first: u32) -> Option<String> {
    call(event, first, "attemptFailedRetriesExhausted")
}

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
