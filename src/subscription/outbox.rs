//! The messages that go out over one connection.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many messages wait for a connection to take them. A sender waits for a place then.
const CAPACITY: usize = 16;

/// The way to the connection that is open, or to the next one.
pub(super) struct Outbox<M> {
    /// `None`: nothing more is sent over it.
    sender: Option<mpsc::Sender<M>>,
    /// The connection's end, until it takes it.
    receiver: Option<mpsc::Receiver<M>>,
    /// Which connection it is, by a number.
    number: u64,
    /// Cancelled once the connection is gone: whoever holds its end may not let go of it.
    gone: CancellationToken,
}

impl<M> Outbox<M> {
    pub(super) fn new(is_half_closed: bool) -> Self {
        Self::numbered(0, is_half_closed)
    }

    fn numbered(number: u64, is_half_closed: bool) -> Self {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        Self {
            sender: (!is_half_closed).then_some(sender),
            receiver: Some(receiver),
            number,
            gone: CancellationToken::new(),
        }
    }

    /// The connection is gone, and with it the messages that it has not taken. Those from now on are for the next one.
    pub(super) fn renew(&mut self, is_half_closed: bool) {
        self.gone.cancel();
        *self = Self::numbered(self.number + 1, is_half_closed);
    }

    /// A connection opens: the messages for it, and the end of them.
    pub(super) fn open(&mut self, is_half_closed: bool) -> (mpsc::Receiver<M>, CancellationToken) {
        if self.receiver.is_none() {
            self.renew(is_half_closed);
        }
        (self.receiver.take().unwrap_or_else(|| mpsc::channel(CAPACITY).1), self.gone.clone())
    }

    pub(super) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// `None`: its side of the stream is closed.
    pub(super) fn sender(&self) -> Option<&mpsc::Sender<M>> {
        self.sender.as_ref()
    }

    /// Nothing more goes out behind what was sent.
    pub(super) fn half_close(&mut self) {
        self.sender = None;
    }
}
