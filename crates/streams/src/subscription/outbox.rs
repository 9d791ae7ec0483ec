//! The messages that are sent over connections.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::vec;
use tokio::sync::mpsc::error::TrySendError;

/// How many messages wait for a connection to take them. A sender waits for a place then.
const CAPACITY: usize = 16;

/// Messages for the connection that takes them, or for the next one.
pub(super) struct Outbox<M> {
    messages: VecDeque<Outgoing<M>>,
    /// Which connection takes them, by a number.
    connection: u64,
    /// Its headers have come.
    pub(super) is_open: bool,
    /// It takes no message any longer: what the strategy knows of is gone with it.
    is_deaf: bool,
    closed: Closed,
    /// The connection waits for a message.
    taker: Option<Waker>,
    /// The strategy's own message waits for a place.
    speaker: Option<Waker>,
}

/// The connections over which nothing more is sent, behind the messages that wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closed {
    Nothing,
    /// The connection that takes messages now.
    Connection,
    /// Any connection.
    Everything,
}

/// A message that no connection has taken.
pub(super) struct Outgoing<M> {
    pub(super) message: M,
    /// The strategy was notified of it, or said it: it repeats the messages that the next connection needs.
    pub(super) is_known: bool,
}

impl<M> Outbox<M> {
    pub(super) fn new() -> Self {
        Self {
            messages: VecDeque::new(),
            connection: 0,
            is_open: false,
            is_deaf: false,
            closed: Closed::Nothing,
            taker: None,
            speaker: None,
        }
    }

    /// The connection is gone, and with it the messages that the strategy knows of. The others wait for the next one.
    pub(super) fn renew(&mut self) {
        self.deafen(self.connection);
        self.connection += 1;
        (self.is_open, self.is_deaf) = (false, false);
        if self.closed == Closed::Connection {
            self.closed = Closed::Nothing;
        }
        wake(&mut self.taker);
    }

    /// That connection takes no message any longer.
    pub(super) fn deafen(&mut self, connection: u64) {
        if connection == self.connection {
            self.is_deaf = true;
            self.messages.retain(|outgoing| !outgoing.is_known);
        }
    }

    /// Nothing more is sent behind what was sent, over this connection or, if it `is_over`, over any.
    pub(super) fn half_close(&mut self, is_over: bool) {
        let closed = if is_over { Closed::Everything } else { Closed::Connection };
        self.closed = self.closed.max(closed);
        wake(&mut self.taker);
    }

    pub(super) fn connection(&self) -> u64 {
        self.connection
    }

    fn is_closed(&self) -> bool {
        self.closed != Closed::Nothing
    }

    /// Returns whether a message can be sent.
    pub(super) fn admit(&self, message: M) -> Result<M, TrySendError<M>> {
        match self.is_closed() {
            true => Err(TrySendError::Closed(message)),
            false if self.messages.len() >= CAPACITY => Err(TrySendError::Full(message)),
            false => Ok(message),
        }
    }

    pub(super) fn push(&mut self, outgoing: Outgoing<M>) {
        if !(self.is_deaf && outgoing.is_known) {
            self.messages.push_back(outgoing);
            wake(&mut self.taker);
        }
    }

    /// Sends the strategy's own message. Gives it back where it has to wait for a place.
    pub(super) fn send(&mut self, message: M, cx: &Context<'_>) -> Option<M> {
        match self.admit(message) {
            Ok(message) => self.push(Outgoing { message, is_known: true }),
            Err(TrySendError::Full(message)) => {
                self.speaker = Some(cx.waker().clone());
                return Some(message);
            }
            // It is said to nobody.
            Err(TrySendError::Closed(_)) => {}
        }
        None
    }

    /// All that wait, to be put back behind a look at them.
    pub(super) fn take_all(&mut self) -> VecDeque<Outgoing<M>> {
        std::mem::take(&mut self.messages)
    }

    pub(super) fn put_back(&mut self, messages: VecDeque<Outgoing<M>>) {
        let later = std::mem::take(&mut self.messages);
        messages.into_iter().chain(later).for_each(|outgoing| self.push(outgoing));
    }

    /// Returns whether the strategy was not notified of the next message.
    pub(super) fn is_next_unknown(&self) -> bool {
        self.messages.front().is_some_and(|outgoing| !outgoing.is_known)
    }

    /// The next message for that connection: of those that open it, or of those behind them.
    pub(super) fn poll_take(
        &mut self,
        connection: u64,
        opening: &mut vec::IntoIter<M>,
        cx: &Context<'_>,
    ) -> Poll<Option<Outgoing<M>>> {
        if connection != self.connection {
            return Poll::Ready(None);
        }
        if let Some(message) = opening.next() {
            return Poll::Ready(Some(Outgoing { message, is_known: true }));
        }
        if let Some(outgoing) = self.messages.pop_front() {
            wake(&mut self.speaker);
            return Poll::Ready(Some(outgoing));
        }
        if self.is_closed() {
            return Poll::Ready(None);
        }
        self.taker = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
