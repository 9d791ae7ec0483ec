//! The arithmetic of polling for the end of a long-running operation, as gax-java does it.

use super::gax_java::within;
use super::{Ask, Refusal, RuleSet, Wait};
use crate::StopReason;
use crate::gax_java::{PollOperation, Polling};
use crate::jitter::JitterSource;
use crate::nanos::{after, limited};
use crate::started_attempt::Next;
use std::time::Duration;

/// Polls by gax-java's settings. The first attempt is the call that starts the long-running operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Polls {
    polling: Polling,
}

impl Polls {
    pub(crate) fn new(polling: Polling) -> Self {
        Self { polling }
    }

    pub(crate) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.polling = self.polling.clone().with_call_timeout(timeout);
    }
}

/// How far polling has come, and the RPC timeout of the poll that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PollProgress {
    operation: PollOperation,
    timeout: Option<Duration>,
}

impl RuleSet for Polls {
    type Progress = PollProgress;

    fn begin(&self) -> PollProgress {
        PollProgress { operation: self.polling.begin(), timeout: self.polling.call_timeout() }
    }

    fn start(&self, progress: &mut PollProgress, _: bool, now: u64, bound: u64) -> Result<u64, Refusal> {
        within(progress.timeout, now, bound)
    }

    /// Nothing but polls follows by these rules.
    fn next(
        &self,
        progress: &mut PollProgress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        self.poll_next(progress, Next::Later, ask, jitter)
    }

    /// A call whose reply was there before the poller first looked is followed by a poll immediately, which then is the
    /// first attempt that the algorithm counts.
    fn poll_next(
        &self,
        progress: &mut PollProgress,
        next: Next,
        ask: Ask,
        mut jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        let poll = match next {
            Next::Now => self.polling.at_once(),
            Next::Later => {
                let now = Duration::from_nanos(ask.now);
                self.polling.not_done(&mut progress.operation, now, &mut jitter).map_err(Refusal::new)?
            }
        };
        let wait = limited(poll.wait());
        if after(ask.now, wait) >= ask.bound {
            return Err(Refusal::of_wait(StopReason::TotalTimeout, poll.wait()));
        }
        progress.timeout = poll.rpc_timeout();
        Ok(Wait(wait))
    }
}
