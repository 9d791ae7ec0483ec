//! The words of an operation to the connection below it, in the extensions of its requests.

use crate::operation::{Clock, Peer};
use gax_retry::StartedAttempt;
use tokio::time::Instant;

/// The knowledge of an attempt that is not its operation's first: that the policy retries, and where attempts before it failed.
#[derive(Debug, Clone)]
pub(crate) struct RetryContext {
    failed: Vec<Peer>,
    /// The moment at which the attempt's time is up.
    deadline: Option<Instant>,
}

impl RetryContext {
    /// An attempt that ends by then at the latest, after others failed at these endpoints. `None`: there are none, and the mark of
    /// its request has all there is to know.
    pub(crate) fn after<'a>(
        failed: impl Iterator<Item = &'a Peer>,
        deadline: Option<Instant>,
    ) -> Option<Self> {
        let failed: Vec<_> = failed.cloned().collect();
        (!failed.is_empty()).then_some(Self { failed, deadline })
    }

    /// An attempt that starts now, by the mark that requests have from the second one on.
    pub(crate) fn of(attempt: &StartedAttempt) -> Self {
        let deadline = attempt.rpc_timeout().and_then(|timeout| Clock::start().at(timeout));
        Self { failed: Vec::new(), deadline }
    }

    pub(crate) fn has_failed_at(&self, peer: &Peer) -> bool {
        self.failed.contains(peer)
    }

    /// Whether something that happens at that moment happens in its time. Without an end of its own it waits for nothing.
    pub(crate) fn has_time_until(&self, moment: Instant) -> bool {
        self.deadline.is_some_and(|deadline| moment < deadline)
    }
}

/// Whether a call waits for a connection where none can be made (gRPC's `wait_for_ready`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitForReady(pub(crate) bool);
