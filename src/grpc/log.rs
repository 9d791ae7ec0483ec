//! What is known of an operation so far.

use super::failure::Failure;
use super::outgoing::Outgoing;
use super::plan::MethodPlan;
use crate::operation::{Clock, Jitter, Ledger, Note, Resends};
use gax_retry::{Attempt, Code, OperationState, Started, StopReason};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// Small, since it is moved about with the future of every call: what an operation without a retry has no
/// use for is behind pointers, and made when it is needed.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// `None` before it has begun.
    pub(super) clock: Option<Clock>,
    pub(super) ledger: Option<Arc<Ledger>>,
    past: Option<Box<Past>>,
    /// Time has passed since the attempt began, so that less than its RPC timeout is left.
    pub(super) late: bool,
    /// No other attempt may follow the one that runs.
    pub(super) is_committed: bool,
}

/// What is known once an attempt has failed.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) state: OperationState,
    pub(super) current: Option<Current>,
    /// What the attempt before ended with.
    pub(super) before: Option<Failure>,
    /// When it ended, if another attempt follows at once: that begins then.
    pub(super) ended: Option<Duration>,
    /// The attempt failed, and whether its own response was the reason is not known yet.
    pub(super) suspect: Option<Box<Suspect>>,
    pub(super) resends: Resends,
    pub(super) burst: u8,
    pub(super) jitter: Jitter,
}

/// A failure that may be that of another call on the same connection.
#[derive(Debug)]
pub(super) struct Suspect {
    /// As which it counts then.
    pub(super) failure: Failure,
    /// The code if it is the call's own.
    pub(super) code: Code,
    pub(super) died: Instant,
}

/// The attempt that is running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Current {
    pub(super) started: Started,
    pub(super) delay: Duration,
    pub(super) start: Duration,
}

impl Current {
    /// The first attempt, if there is time for it.
    #[inline]
    fn first(plan: &MethodPlan) -> Option<Self> {
        let started = plan.first.ok()?;
        Some(Self { started, delay: Duration::ZERO, start: Duration::ZERO })
    }
}

impl Past {
    /// The past of an operation whose first attempt has begun.
    fn new(plan: &MethodPlan) -> Self {
        let mut state = OperationState::default();
        // What came of this is in the plan.
        let _first = state.start(&plan.schedule, Duration::ZERO);
        Self {
            state,
            current: Current::first(plan),
            before: None,
            ended: None,
            suspect: None,
            resends: Resends::default(),
            burst: 0,
            jitter: plan.jitter.next(),
        }
    }
}

impl Log {
    /// The operation starts now, and its first attempt begins, if there is time for it.
    #[inline]
    pub(super) fn begin(&mut self, outgoing: &mut impl Outgoing) -> Result<(), Status> {
        outgoing.start();
        self.clock = Some(Clock::start());
        let plan = outgoing.plan();
        if plan.schedule.attempts_cap().is_some() {
            self.ledger(outgoing).note(Note::AttemptsCapped);
        }
        if !outgoing.is_replayable() {
            self.ledger(outgoing).note(Note::RequestTooLargeToReplay);
        }
        if plan.jitter.is_seeded() {
            // The sequences of a seed belong to operations in the order in which they start.
            self.past(plan);
        }
        match plan.first {
            Ok(_) => Ok(()),
            Err(stop) => Err(self.end(outgoing, Failure::no_time(), stop.reason())),
        }
    }

    #[inline]
    pub(super) fn current(&self, plan: &MethodPlan) -> Option<Current> {
        match &self.past {
            None => Current::first(plan),
            Some(past) => past.current,
        }
    }

    /// When the attempt's time is up.
    pub(super) fn deadline(&self, plan: &MethodPlan) -> Option<Instant> {
        let current = self.current(plan)?;
        self.clock?.at(current.start.saturating_add(current.started.deadline()?))
    }

    /// The ledger, made now if there was nothing to write down yet.
    pub(super) fn ledger(&mut self, outgoing: &impl Outgoing) -> &mut Ledger {
        Arc::make_mut(self.ledger.get_or_insert_with(|| Arc::new(Ledger::new(outgoing.path()))))
    }

    /// The past, made now if there was none yet.
    pub(super) fn past(&mut self, plan: &MethodPlan) -> &mut Past {
        self.past.get_or_insert_with(|| Box::new(Past::new(plan)))
    }

    /// The past, if there is one.
    pub(super) fn past_so_far(&mut self) -> Option<&mut Past> {
        self.past.as_deref_mut()
    }

    /// The attempt that has begun, as it ends now.
    #[inline]
    pub(super) fn attempt(&self, plan: &MethodPlan, code: Code) -> Option<Attempt> {
        let end = self.clock?.elapsed();
        let Current { started, delay, start } = self.current(plan)?;
        Some(Attempt::new(started, delay, start, end, code))
    }

    /// Writes the attempt down; returns when it ended.
    pub(super) fn record(&mut self, outgoing: &impl Outgoing, code: Code) -> Duration {
        let Some(attempt) = self.attempt(outgoing.plan(), code) else {
            return Duration::ZERO;
        };
        let end = attempt.end();
        self.ledger(outgoing).push(attempt);
        end
    }

    /// The status that the operation ends with.
    pub(super) fn end(&mut self, outgoing: &impl Outgoing, failure: Failure, reason: StopReason) -> Status {
        let ledger = match self.ledger.take() {
            Some(ledger) => Arc::unwrap_or_clone(ledger),
            None => Ledger::new(outgoing.path()),
        };
        failure.into_status(ledger, reason)
    }
}
