//! One operation over a closure, without the waiting: what has happened, and what follows.

use super::{RetryError, Retryable};
use crate::operation::{Clock, Jitter, Ledger, OperationReport};
use gax_retry::{Attempt, Code, Decision, Ending, OperationState, Schedule, Started, StopReason};
use std::borrow::Cow;
use std::time::Duration;

/// What follows an attempt.
pub(super) enum Next<T> {
    Done(T),
    Retry(Duration),
    Stop(StopReason),
}

/// One operation that is running.
pub(super) struct Operation<E> {
    schedule: Schedule,
    state: OperationState,
    clock: Clock,
    now: Duration,
    delay: Duration,
    ledger: Ledger,
    jitter: Jitter,
    last: Option<E>,
}

impl<E> Operation<E> {
    pub(super) fn new(schedule: Schedule, name: Cow<'static, str>, jitter: Jitter) -> Self {
        Self {
            schedule,
            state: OperationState::default(),
            clock: Clock::start(),
            now: Duration::ZERO,
            delay: Duration::ZERO,
            ledger: Ledger::new(name),
            jitter,
            last: None,
        }
    }

    /// Asks for the next attempt.
    pub(super) fn start(&mut self) -> Result<Started, StopReason> {
        if !self.ledger.attempts().is_empty() {
            self.now = self.clock.elapsed();
        }
        self.state.start(&self.schedule, self.now).map_err(gax_retry::Stop::reason)
    }

    /// When an attempt's time is up.
    pub(super) fn deadline(&self, started: Started) -> Option<tokio::time::Instant> {
        started.deadline().and_then(|timeout| self.clock.at(self.now.saturating_add(timeout)))
    }

    /// An attempt ended; without a result, because its time was up.
    pub(super) fn ended<T>(
        &mut self,
        started: Started,
        result: Option<Result<T, E>>,
        retryable: &impl Retryable<E>,
    ) -> Next<T> {
        let (value, code) = match result {
            Some(Ok(value)) => (Some(value), Code::Ok),
            Some(Err(error)) => {
                let code = match retryable.code(&error) {
                    Code::Ok => Code::Unknown,
                    code => code,
                };
                self.last = Some(error);
                (None, code)
            }
            None => (None, Code::DeadlineExceeded),
        };
        let end = self.clock.elapsed();
        self.ledger.push(Attempt::new(started, self.delay, self.now, end, code));
        if let Some(value) = value {
            return Next::Done(value);
        }
        match self.state.ended(&self.schedule, end, Ending::new(code), &mut self.jitter) {
            Decision::Retry(retry) => {
                self.delay = retry.wait();
                Next::Retry(retry.wait())
            }
            Decision::Stop(stop) => {
                self.ledger.not_attempted = stop.not_attempted();
                Next::Stop(stop.reason())
            }
            Decision::Done => Next::Stop(StopReason::NonRetryable),
        }
    }

    pub(super) fn succeed(self) -> OperationReport {
        OperationReport::new(self.ledger)
    }

    pub(super) fn fail(mut self, reason: StopReason) -> RetryError<E> {
        self.ledger.stop_reason = Some(reason);
        RetryError::new(self.last, OperationReport::new(self.ledger))
    }
}
