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

/// The message can no longer be sent: the subscription has ended, or its stream of requests was half-closed.
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

    /// Sends a message over the open connection. If no connection is open, it is sent over the next one that can be opened.
    /// The strategy is [notified](SubscriptionStrategy::sent) before it is sent.
    ///
    /// Up to 16 messages wait for the connection to accept them; above that, `send` waits. A connection is only opened while
    /// the subscription is polled, so a task that sends more than 16 messages has to poll the subscription meanwhile.
    ///
    /// # Errors
    ///
    /// The subscription has ended, or its stream of requests was half-closed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it completes, nothing is sent.
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
        self.shared.outbox.lock().half_close(true);
        self.shared.places.notify_waiters();
    }
}

impl<S: SubscriptionStrategy> Clone for SubscriptionSender<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

gax_text::short_debug! {
    self: [S: SubscriptionStrategy] SubscriptionSender<S> { state: self.shared.state() }
}
