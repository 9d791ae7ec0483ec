//! How a subscription is doing.

use std::time::Instant;
use tokio::sync::watch;

/// How a subscription is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionState {
    /// It has not been polled yet, or a connection is being opened.
    Connecting,
    /// A connection is open: its headers have come.
    Live,
    /// The last connection has failed, and the next one is opened at that moment.
    WaitingUntil(Instant),
    /// It is over.
    Ended,
}

/// The state of a subscription, for other tasks: [`Subscription::states`](crate::subscription::Subscription::states).
#[derive(Debug, Clone)]
pub struct SubscriptionStates {
    receiver: watch::Receiver<SubscriptionState>,
}

impl SubscriptionStates {
    pub(super) fn new(receiver: watch::Receiver<SubscriptionState>) -> Self {
        Self { receiver }
    }

    /// The state as it is now.
    #[must_use]
    pub fn current(&self) -> SubscriptionState {
        *self.receiver.borrow()
    }

    /// Waits for another state. Of states that follow each other quickly the last one is seen.
    ///
    /// `None`: the subscription is gone, and has no other state any longer.
    ///
    /// # Cancel safety
    ///
    /// It is cancel safe.
    pub async fn changed(&mut self) -> Option<SubscriptionState> {
        self.receiver.changed().await.ok()?;
        Some(*self.receiver.borrow_and_update())
    }
}
