//! Messages that a subscription's owner sends.

use crate::subscription::shared::Shared;
use crate::subscription::strategy::SubscriptionStrategy;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;

/// Sends messages over whichever connection a subscription has: [`Subscription::sender`](crate::subscription::Subscription::sender).
///
/// It can be cloned. A subscription continues without senders.
pub struct SubscriptionSender<S: SubscriptionStrategy> {
    shared: Arc<Shared<S>>,
}

/// The message can't be sent any longer: the subscription is over, or its stream of requests was half-closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionClosed<M> {
    /// The message, as it was given.
    pub message: M,
}

impl<M> fmt::Display for SubscriptionClosed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the subscription is over, or was half-closed: the message was not sent")
    }
}

impl<M: fmt::Debug> Error for SubscriptionClosed<M> {}

impl<S: SubscriptionStrategy> SubscriptionSender<S> {
    pub(super) fn new(shared: Arc<Shared<S>>) -> Self {
        Self { shared }
    }

    /// Sends a message over the connection that is open, or over the next one if none is: also where that can't be opened, and
    /// another one follows. The strategy is [notified](SubscriptionStrategy::sent) of it before it goes out.
    ///
    /// Up to 16 messages wait for the connection to take them; with more it waits for a place. A connection is opened while the
    /// subscription is polled: who sends more than that from the same task has to poll it first.
    ///
    /// # Errors
    ///
    /// The subscription is over, or its stream of requests was half-closed.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is done has sent nothing.
    pub async fn send(&self, message: S::Message) -> Result<(), SubscriptionClosed<S::Message>> {
        let mut message = message;
        loop {
            let place = self.shared.places.notified();
            message = match self.shared.send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(message)) => return Err(SubscriptionClosed { message }),
                Err(TrySendError::Full(message)) => message,
            };
            place.await;
        }
    }

    /// Nothing more is sent: the stream of requests ends behind what was sent before, over this connection and over those that
    /// follow. The subscription continues until its server ends it.
    pub fn half_close(&self) {
        self.shared.outbox().half_close(true);
        self.shared.places.notify_waiters();
    }
}

impl<S: SubscriptionStrategy> Clone for SubscriptionSender<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S: SubscriptionStrategy> fmt::Debug for SubscriptionSender<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionSender").field("state", &self.shared.state()).finish()
    }
}
