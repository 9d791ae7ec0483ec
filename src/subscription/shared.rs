//! The part of a subscription that its senders see too.

use crate::resumption::{Resumer, WithheldLimits};
use crate::subscription::outbox::Outbox;
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::SubscriptionStrategy;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The strategy at work.
type Strategy<S> = Resumer<
    <S as crate::resumption::StreamResumption>::Request,
    <S as crate::resumption::StreamResumption>::Response,
    S,
>;

/// The part of a subscription that its senders see too.
pub(super) struct Shared<S: SubscriptionStrategy> {
    inner: Mutex<Inner<S>>,
    state: watch::Sender<SubscriptionState>,
}

/// The strategy, and the way to the connection. They change together: a message is either said again by the strategy, or waits
/// for the next connection.
pub(super) struct Inner<S: SubscriptionStrategy> {
    pub(super) resumer: Strategy<S>,
    pub(super) outbox: Outbox<S::Message>,
    /// Nothing more is sent over any connection.
    pub(super) is_half_closed: bool,
}

/// The strategy has panicked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panicked;

impl<S: SubscriptionStrategy> Shared<S> {
    pub(super) fn new(strategy: S, limits: WithheldLimits) -> Self {
        let inner = Inner {
            resumer: Resumer::within(Some(Box::new(strategy)), limits),
            outbox: Outbox::new(false),
            is_half_closed: false,
        };
        Self { inner: Mutex::new(inner), state: watch::Sender::new(SubscriptionState::Connecting) }
    }

    /// The strategy, which nobody else asks meanwhile.
    #[inline]
    pub(super) fn lock(&self) -> Result<MutexGuard<'_, Inner<S>>, Panicked> {
        self.inner.lock().map_err(|_| Panicked)
    }

    /// The strategy, whether it has panicked or not: it is not asked any more.
    pub(super) fn lock_anyway(&self) -> MutexGuard<'_, Inner<S>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> SubscriptionState {
        *self.state.borrow()
    }

    pub(super) fn states(&self) -> watch::Receiver<SubscriptionState> {
        self.state.subscribe()
    }

    pub(super) fn set_state(&self, state: SubscriptionState) {
        self.state.send_if_modified(|current| std::mem::replace(current, state) != state);
    }

    /// The subscription is over: nothing can be sent any more.
    pub(super) fn finish(&self) {
        let mut inner = self.lock_anyway();
        inner.is_half_closed = true;
        inner.renew_outbox();
        drop(inner);
        self.set_state(SubscriptionState::Ended);
    }
}

impl<S: SubscriptionStrategy> Inner<S> {
    /// The connection is gone: messages from now on are for the next one.
    pub(super) fn renew_outbox(&mut self) {
        self.outbox.renew(self.is_half_closed);
    }
}
