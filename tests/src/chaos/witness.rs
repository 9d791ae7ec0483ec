//! An observer that records each operation, and marks its requests, so that they can be distinguished at the server.

use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders};
use gax_retry::{Attempt, AttemptKind, StartedAttempt, StopReason};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

tokio::task_local! {
    static CALL: u32;
}

/// Clones write into the same book. Each request has the headers `x-call` and `x-attempt`.
#[derive(Debug, Clone, Default)]
pub struct Witness {
    book: Arc<Mutex<Book>>,
}

#[derive(Debug, Default)]
struct Book {
    operations: Vec<Witnessed>,
    draws: Vec<BudgetDraw>,
}

/// An event that concerns a retry budget, as observers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetDraw {
    /// An attempt failed in a way that another may follow.
    Failed {
        /// Whether it was said that another one follows, so that the budget had it.
        is_retried: bool,
    },
    /// A hedge was sent.
    Hedged,
    /// A response is there.
    Succeeded,
}

/// How an operation ended, as its observers saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationEnd {
    /// It has the reply.
    Succeeded,
    /// It has an error.
    Failed,
    /// Its caller has gone.
    Cancelled,
}

/// One operation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Witnessed {
    /// The call that it belongs to.
    pub call: Option<u32>,
    /// How often it was said to have started.
    pub starts: u32,
    /// How it ended, and what came of it.
    pub ends: Vec<(OperationEnd, OperationSummary)>,
    /// Its attempts.
    pub attempts: Vec<WitnessedAttempt>,
    /// How often a request was sent once more in silence.
    pub transparent_retries: u32,
    /// The attempt whose response it is.
    pub committed: Option<u32>,
    /// Notifications that can't be true.
    pub oddities: Vec<String>,
    /// How many draws of the budget there were, of all operations, when it committed.
    draws_at_commit: usize,
}

/// One attempt.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WitnessedAttempt {
    /// As it started.
    pub started: StartedAttempt,
    /// When its requests went out, from the operation's start on.
    pub sent: Vec<Duration>,
    /// How it ended.
    pub ends: Vec<Attempt>,
}

impl Witness {
    /// Whatever operation begins in that future belongs to that call.
    pub async fn during<F: Future>(call: u32, future: F) -> F::Output {
        CALL.scope(call, future).await
    }

    /// The operations of that call.
    #[must_use]
    pub fn of(&self, call: u32) -> Vec<Witnessed> {
        self.book().operations.iter().filter(|operation| operation.call == Some(call)).cloned().collect()
    }

    /// How many operations there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.book().operations.len()
    }

    /// The events of all operations that concern their budget. Where several threads make calls, the order is not exact.
    #[must_use]
    pub fn draws(&self) -> Vec<BudgetDraw> {
        self.book().draws.clone()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OperationObserver for Witness {
    fn for_operation(&self, _: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        let call = CALL.try_with(|call| *call).ok();
        let mut book = self.book();
        book.operations.push(Witnessed {
            call,
            starts: 0,
            ends: Vec::new(),
            attempts: Vec::new(),
            transparent_retries: 0,
            committed: None,
            oddities: Vec::new(),
            draws_at_commit: 0,
        });
        Some(Arc::new(OfOne { witness: self.clone(), place: book.operations.len() - 1 }))
    }
}

/// The observer of one operation.
struct OfOne {
    witness: Witness,
    place: usize,
}

impl OfOne {
    fn change<R>(&self, change: impl FnOnce(&mut Witnessed) -> R) -> R {
        change(&mut self.witness.book().operations[self.place])
    }

    fn draw(&self, draw: BudgetDraw) {
        self.witness.book().draws.push(draw);
    }

    fn end(&self, end: OperationEnd, summary: &OperationSummary) {
        self.change(|operation| operation.ends.push((end, *summary)));
    }

    fn attempt(&self, number: u32, what: &str, change: impl FnOnce(&mut WitnessedAttempt)) {
        self.change(|operation| {
            let found = operation.attempts.iter_mut().find(|attempt| attempt.started.number() == number);
            match found {
                Some(attempt) => change(attempt),
                None => operation.oddities.push(format!("{what} of attempt {number}, which never started")),
            }
        });
    }

    fn ended(&self, attempt: &Attempt) {
        self.attempt(attempt.number(), "the end", |known| known.ends.push(attempt.clone()));
    }
}

impl OperationObserver for OfOne {
    fn operation_started(&self, _: &OperationInfo) {
        self.change(|operation| operation.starts += 1);
    }

    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.end(OperationEnd::Succeeded, summary);
    }

    fn operation_failed(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.end(OperationEnd::Failed, summary);
    }

    fn operation_cancelled(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.end(OperationEnd::Cancelled, summary);
    }

    fn attempt_started(&self, _: &OperationInfo, started: StartedAttempt) {
        if started.kind() == AttemptKind::Hedge {
            self.draw(BudgetDraw::Hedged);
        }
        self.change(|operation| {
            if !operation.ends.is_empty() {
                operation
                    .oddities
                    .push(format!("attempt {} starts after the operation's end", started.number()));
            }
            operation.attempts.push(WitnessedAttempt { started, sent: Vec::new(), ends: Vec::new() });
        });
    }

    fn attempt_headers(&self, _: &OperationInfo, attempt: StartedAttempt, headers: &mut OutgoingHeaders<'_>) {
        if let Some(call) = self.change(|operation| operation.call) {
            headers.set("x-call", &call.to_string());
        }
        headers.set("x-attempt", &attempt.number().to_string());
    }

    fn attempt_sent(&self, _: &OperationInfo, attempt: StartedAttempt, waited: Duration) {
        let at = attempt.start().saturating_add(waited);
        self.attempt(attempt.number(), "the sending", |known| known.sent.push(at));
    }

    fn committed(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.draw(BudgetDraw::Succeeded);
        let draws = self.witness.book().draws.len();
        self.change(|operation| {
            operation.draws_at_commit = draws;
            if let Some(earlier) = operation.committed.replace(attempt.number()) {
                let number = attempt.number();
                operation.oddities.push(format!("attempt {number} commits after attempt {earlier} did"));
            }
        });
    }

    fn transparent_retry(&self, _: &OperationInfo, _: StartedAttempt) {
        self.change(|operation| operation.transparent_retries += 1);
    }

    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        // The budget may hear of it only now: what came back at the commit may have been lost to a bucket that was full.
        let draws = self.witness.book().draws.len();
        if self.change(|operation| operation.committed.is_none() || operation.draws_at_commit < draws) {
            self.draw(BudgetDraw::Succeeded);
        }
        self.ended(attempt);
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, _: Option<Duration>) {
        self.draw(BudgetDraw::Failed { is_retried: true });
        self.ended(attempt);
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, reason: StopReason) {
        // Where there was no time, the budget may not have been asked.
        if matches!(reason, StopReason::MaxAttempts | StopReason::Throttled) {
            self.draw(BudgetDraw::Failed { is_retried: false });
        }
        self.ended(attempt);
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.ended(attempt);
    }

    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.ended(attempt);
    }
}
