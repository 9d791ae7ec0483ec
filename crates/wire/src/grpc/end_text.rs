//! The messages of the statuses that operations end with.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use crate::transport::grpc_timeout;
use gax_driver::OperationReport;
use gax_driver::protocol::AttemptContext;
use gax_retry::{Attempt, Code, StartedAttempt};
use gax_text::{Escaped, Human};
use std::time::Duration;

/// Returns whether a status is what a tonic server sends when the `grpc-timeout` that it was sent has passed. The message is asked
/// for if the code is that one.
pub fn is_timeout_expired<'a>(code: Code, message: impl FnOnce() -> Option<&'a [u8]>) -> bool {
    code == Code::Cancelled && matches!(message(), Some(b"Timeout%20expired" | b"Timeout expired"))
}

/// Returns whether the attempt has used up its RPC timeout, or what the header said of it.
#[must_use]
pub fn time_is_up(context: &AttemptContext<'_>) -> bool {
    let timeout = context.started().and_then(StartedAttempt::rpc_timeout).map(grpc_timeout::written);
    timeout.is_some_and(|timeout| context.elapsed() >= timeout)
}

/// Our own clock ended the last attempt.
#[must_use]
pub fn timed_out(report: &OperationReport, timeout: Duration) -> String {
    // Hedges overlap, so that the last one to time out need not be the one that was sent last.
    let timed_out = report.attempts().iter().filter(|attempt| attempt.code() == Code::DeadlineExceeded);
    let last = timed_out.max_by_key(|attempt| attempt.end());
    let attempt = last.map_or_else(|| report.attempt_count(), Attempt::number);
    format!("attempt {attempt} of {} timed out after {}", report.method(), Human(timeout))
}

/// The operation's deadline passed while it waited for another attempt.
#[must_use]
pub fn at_deadline(report: &OperationReport) -> String {
    format!("the deadline of {} passed after attempt {}", report.method(), report.attempt_count())
}

/// The caller's deadline had passed before the first attempt.
#[must_use]
pub fn no_time(report: &OperationReport) -> String {
    format!("the deadline of {} had passed before its first attempt", report.method())
}

/// The message of an operation that a clock ended: what the server said before is not lost behind it.
pub fn add_last_response(message: &mut String, code: Code, said: &str) {
    message.push_str("; the server's last response was ");
    message.push_str(code.name());
    if !said.is_empty() {
        message.push_str(": ");
        message.push_str(&Escaped(said).to_string());
    }
}
