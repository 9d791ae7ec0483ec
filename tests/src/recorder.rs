//! An observer that writes everything down.

use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders};
use gax_retry::{Attempt, ServerDelay, StartedAttempt, StopReason};
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An observer that writes everything down, a line a call. Clones write into the same list.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    /// The lines so far, which are forgotten.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As an observer to install.
    #[must_use]
    pub fn shared(&self) -> Arc<dyn OperationObserver> {
        Arc::new(self.clone())
    }

    fn line(&self, line: impl Display) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_string());
    }

    fn attempt(&self, what: &str, attempt: &Attempt) {
        let (start, end) = (attempt.start().as_millis(), attempt.end().as_millis());
        self.line(format_args!("{what} {} {} {start}-{end}", attempt.number(), attempt.code()));
    }

    fn operation(&self, what: &str, summary: &OperationSummary) {
        let reason = summary.stop_reason().map_or("", StopReason::as_str);
        let (code, attempts, elapsed) = (summary.code(), summary.attempts(), summary.elapsed().as_millis());
        self.line(
            format_args!("{what} {code} {attempts} attempts {elapsed} ms {reason}").to_string().trim_end(),
        );
    }
}

impl OperationObserver for Recorder {
    fn operation_started(&self, operation: &OperationInfo) {
        let known = if operation.is_registered() { "" } else { " (not registered)" };
        self.line(format_args!("operation_started {}{known}", operation.full_method()));
    }

    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.operation("operation_succeeded", summary);
    }

    fn operation_failed(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.operation("operation_failed", summary);
    }

    fn operation_cancelled(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.operation("operation_cancelled", summary);
    }

    fn attempt_started(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.line(format_args!("attempt_started {} {:?}", attempt.number(), attempt.kind()));
    }

    fn attempt_headers(&self, _: &OperationInfo, attempt: StartedAttempt, headers: &mut OutgoingHeaders<'_>) {
        headers.set("x-attempt", &attempt.number().to_string());
    }

    fn attempt_sent(&self, _: &OperationInfo, attempt: StartedAttempt, waited: Duration) {
        self.line(format_args!("attempt_sent {} after {}", attempt.number(), waited.as_millis()));
    }

    fn response_received(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.line(format_args!("response_received {}", attempt.number()));
    }

    fn committed(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.line(format_args!("committed {}", attempt.number()));
    }

    fn transparent_retry(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.line(format_args!("transparent_retry {}", attempt.number()));
    }

    fn pushback_received(&self, _: &OperationInfo, attempt: &Attempt, asked: ServerDelay) {
        self.line(format_args!("pushback_received {} {asked:?}", attempt.number()));
    }

    fn retry_throttled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.line(format_args!("retry_throttled {}", attempt.number()));
    }

    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        self.attempt("attempt_succeeded", attempt);
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {
        let delay = delay.map_or("others are in flight".to_owned(), |delay| format!("then {delay:?}"));
        let (number, code, end) = (attempt.number(), attempt.code(), attempt.end().as_millis());
        self.line(format_args!("attempt_failed {number} {code} at {end}, {delay}"));
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, reason: StopReason) {
        let (number, code) = (attempt.number(), attempt.code());
        self.line(format_args!("attempt_failed_retries_exhausted {number} {code} {reason}"));
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, reason: StopReason) {
        let (number, code) = (attempt.number(), attempt.code());
        self.line(format_args!("attempt_permanent_failure {number} {code} {reason}"));
    }

    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.attempt("attempt_cancelled", attempt);
    }
}
