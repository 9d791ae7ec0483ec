//! The part of a subscription that its senders and connections see too.

use crate::resumption::{Resumer, WithheldLimits};
use crate::subscription::outbox::{Outbox, Outgoing};
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::{NextRequest, SubscriptionStrategy};
use gax_driver::__private::Locked;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll};
use std::vec;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, watch};
use tonic::Status;

/// The strategy at work.
pub(super) type Strategy<S> = Resumer<
    <S as crate::resumption::StreamResumption>::Request,
    <S as crate::resumption::StreamResumption>::Response,
    S,
>;

/// The part of a subscription that its senders and connections see too. Who needs both locks takes the strategy's first, and none
/// of its own code runs under the other: it may use a sender.
pub(super) struct Shared<S: SubscriptionStrategy> {
    strategy: Mutex<Strategy<S>>,
    pub(super) outbox: Locked<Outbox<S::Message>>,
    /// Notified when a place may have become free, or none ever will.
    pub(super) places: Notify,
    state: watch::Sender<SubscriptionState>,
}

/// The strategy has panicked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panicked;

impl From<Panicked> for Status {
    fn from(_: Panicked) -> Self {
        Status::internal("the strategy of the subscription has panicked")
    }
}

impl<S: SubscriptionStrategy> Shared<S> {
    pub(super) fn new(strategy: S, limits: WithheldLimits) -> Self {
        Self {
            strategy: Mutex::new(Resumer::within(Some(Box::new(strategy)), limits)),
            outbox: Locked::new(Outbox::new()),
            places: Notify::new(),
            state: watch::Sender::new(SubscriptionState::Connecting),
        }
    }

    /// The strategy, which is not called by another task meanwhile.
    #[inline]
    pub(super) fn lock(&self) -> Result<MutexGuard<'_, Strategy<S>>, Panicked> {
        self.strategy.lock().map_err(|_| Panicked)
    }

    /// The strategy, whether it has panicked or not: it is not asked any longer.
    pub(super) fn lock_anyway(&self) -> MutexGuard<'_, Strategy<S>> {
        self.strategy.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The connection is gone: messages from now on are for the next one.
    pub(super) fn renew_outbox(&self) {
        self.outbox.lock().renew();
        self.places.notify_waiters();
    }

    /// The subscription has ended: nothing can be sent any longer.
    pub(super) fn finish(&self) {
        let mut outbox = self.outbox.lock();
        outbox.half_close(true);
        outbox.renew();
        let rest = outbox.take_all();
        drop(outbox);
        drop(rest);
        self.places.notify_waiters();
        self.set_state(SubscriptionState::Ended);
    }

    /// A connection is open. The strategy is notified of what waits for it.
    pub(super) fn opened(&self) -> Result<(), Panicked> {
        let mut strategy = self.lock()?;
        let mut outbox = self.outbox.lock();
        outbox.is_open = true;
        let mut messages = outbox.take_all();
        drop(outbox);
        for outgoing in messages.iter_mut().filter(|outgoing| !outgoing.is_known) {
            if let Some(strategy) = strategy.strategy() {
                strategy.sent(&outgoing.message);
            }
            outgoing.is_known = true;
        }
        self.outbox.lock().put_back(messages);
        Ok(())
    }

    /// Sends a message. The strategy is notified of it now if a connection is open and it isn't being called, not even by itself;
    /// otherwise when the connection opens, or takes the message.
    pub(super) fn send(&self, message: S::Message) -> Result<(), TrySendError<S::Message>> {
        let strategy = match self.strategy.try_lock() {
            Ok(strategy) => Some(strategy),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => return Err(TrySendError::Closed(message)),
        };
        let outbox = self.outbox.lock();
        let message = outbox.admit(message)?;
        let strategy = strategy.filter(|_| outbox.is_open);
        drop(outbox);
        let is_known = strategy.is_some();
        let mut strategy = strategy;
        if let Some(strategy) = strategy.as_mut().and_then(|strategy| strategy.strategy()) {
            strategy.sent(&message);
        }
        self.outbox.lock().push(Outgoing { message, is_known });
        Ok(())
    }

    /// Lets the strategy say what it has to say, first of all what waits for a place. Pending: the server takes no more for now.
    #[inline]
    pub(super) fn poll_say(
        &self,
        may_speak: &mut bool,
        waiting: &mut Option<S::Message>,
        cx: &Context<'_>,
    ) -> Poll<Result<(), Panicked>> {
        loop {
            if let Some(message) = waiting.take() {
                *waiting = self.outbox.lock().send(message, cx);
                if waiting.is_some() {
                    return Poll::Pending;
                }
            }
            if !*may_speak {
                return Poll::Ready(Ok(()));
            }
            match self.lock()?.strategy().map_or(NextRequest::Nothing, SubscriptionStrategy::next_request) {
                NextRequest::Message(message) => *waiting = Some(message),
                NextRequest::HalfClose => {
                    self.outbox.lock().half_close(false);
                    *may_speak = false;
                }
                NextRequest::Nothing => *may_speak = false,
            }
        }
    }
}

/// The messages for connections, as those take them.
pub(super) trait Messages<M>: Send + Sync {
    /// The next message for that connection: of those that open it, or of those behind them.
    fn poll_take(&self, connection: u64, opening: &mut vec::IntoIter<M>, cx: &Context<'_>)
    -> Poll<Option<M>>;

    /// That connection takes no more.
    fn deafen(&self, connection: u64);
}

impl<S: SubscriptionStrategy<Response: Send>> Messages<S::Message> for Shared<S> {
    fn poll_take(
        &self,
        connection: u64,
        opening: &mut vec::IntoIter<S::Message>,
        cx: &Context<'_>,
    ) -> Poll<Option<S::Message>> {
        let is_unknown = self.outbox.lock().is_next_unknown();
        let strategy = match is_unknown.then(|| self.lock()).transpose() {
            Ok(strategy) => strategy,
            Err(Panicked) => return Poll::Ready(None),
        };
        let taken = self.outbox.lock().poll_take(connection, opening, cx);
        self.places.notify_waiters();
        let Poll::Ready(Some(Outgoing { message, is_known })) = taken else { return taken.map(|_| None) };
        let notify = || {
            if let Some(strategy) =
                strategy.filter(|_| !is_known).as_mut().and_then(|strategy| strategy.strategy())
            {
                strategy.sent(&message);
            }
            message
        };
        // The panic is that of the subscription, and not of a task that carries other calls.
        Poll::Ready(catch_unwind(AssertUnwindSafe(notify)).ok())
    }

    fn deafen(&self, connection: u64) {
        self.outbox.lock().deafen(connection);
        self.places.notify_waiters();
    }
}
