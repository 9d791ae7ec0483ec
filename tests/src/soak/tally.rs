//! An observer that counts.

use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary};
use gax_retry::{Attempt, Code, StartedAttempt, StopReason};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of the operations over one server.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) operations: AtomicU64,
    pub(super) succeeded: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) cancelled: AtomicU64,
    pub(super) attempts: AtomicU64,
    pub(super) ended: AtomicU64,
    /// Requests that the transport took.
    pub(super) sent: AtomicU64,
    /// Attempts that were dropped before their reply came, so that their requests may never have gone out.
    pub(super) dropped: AtomicU64,
    pub(super) hedges: AtomicU64,
    pub(super) throttled: AtomicU64,
    /// The first and the last version of the settings that an operation began with.
    pub(super) first_version: AtomicU64,
    pub(super) last_version: AtomicU64,
}

pub(super) fn of(count: &AtomicU64) -> u64 {
    count.load(Ordering::SeqCst)
}

pub(super) fn one_more(count: &AtomicU64) {
    count.fetch_add(1, Ordering::SeqCst);
}

impl Tally {
    /// Operations that have begun and not ended.
    pub(super) fn in_flight(&self) -> u64 {
        let ended = of(&self.succeeded) + of(&self.failed) + of(&self.cancelled);
        of(&self.operations).saturating_sub(ended)
    }

    fn end(&self, attempt: &Attempt) {
        one_more(&self.ended);
        if matches!(attempt.code(), Code::Cancelled | Code::DeadlineExceeded) {
            one_more(&self.dropped);
        }
    }

    fn close(&self, summary: &OperationSummary) {
        self.hedges.fetch_add(u64::from(summary.hedges()), Ordering::SeqCst);
    }
}

impl OperationObserver for Tally {
    fn operation_started(&self, operation: &OperationInfo) {
        one_more(&self.operations);
        if let Some(version) = operation.settings_version() {
            self.last_version.fetch_max(version, Ordering::SeqCst);
            let first = self.first_version.compare_exchange(0, version, Ordering::SeqCst, Ordering::SeqCst);
            if first.is_err() {
                self.first_version.fetch_min(version, Ordering::SeqCst);
            }
        }
    }

    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        one_more(&self.succeeded);
        self.close(summary);
    }

    fn operation_failed(&self, _: &OperationInfo, summary: &OperationSummary) {
        one_more(&self.failed);
        self.close(summary);
    }

    fn operation_cancelled(&self, _: &OperationInfo, summary: &OperationSummary) {
        one_more(&self.cancelled);
        self.close(summary);
    }

    fn attempt_started(&self, _: &OperationInfo, _: StartedAttempt) {
        one_more(&self.attempts);
    }

    fn attempt_sent(&self, _: &OperationInfo, _: StartedAttempt, _: Duration) {
        one_more(&self.sent);
    }

    fn retry_throttled(&self, _: &OperationInfo, _: &Attempt) {
        one_more(&self.throttled);
    }

    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        self.end(attempt);
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, _: Option<Duration>) {
        self.end(attempt);
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.end(attempt);
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.end(attempt);
    }

    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.end(attempt);
    }
}
