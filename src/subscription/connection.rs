//! One connection of a subscription: an attempt.

use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc;

pin_project! {
    /// An attempt in flight.
    #[project = ConnectionProj]
    pub(super) enum Connection<F, T, M> {
        Opening { #[pin] opening: F },
        Open {
            #[pin]
            messages: T,
            talk: Talk<M>,
        },
        // The strategy has panicked before it said what to begin with.
        Impossible,
    }
}

/// The strategy's own messages over a connection.
pub(super) struct Talk<M> {
    /// Whether it may have something to say.
    pub(super) is_open: bool,
    /// A message that waits for a place.
    waiting: Option<(Place<M>, M)>,
}

/// A place for one more message.
type Place<M> =
    Pin<Box<dyn Future<Output = Result<mpsc::OwnedPermit<M>, mpsc::error::SendError<()>>> + Send>>;

impl<M: Send + 'static> Talk<M> {
    pub(super) fn new() -> Self {
        Self { is_open: true, waiting: None }
    }

    /// Goes on once the message that waits for a place has one.
    #[inline]
    pub(super) fn poll_place(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some((place, _)) = &mut self.waiting {
            let place = ready!(place.as_mut().poll(cx));
            if let (Ok(place), Some((_, message))) = (place, self.waiting.take()) {
                place.send(message);
            }
        }
        Poll::Ready(())
    }

    /// Sends that message, when there is a place for it.
    pub(super) fn say(&mut self, sender: &mpsc::Sender<M>, message: M) {
        match sender.try_send(message) {
            Err(mpsc::error::TrySendError::Full(message)) => {
                self.waiting = Some((Box::pin(sender.clone().reserve_owned()), message));
            }
            // The connection takes no more: it is about to fail.
            Err(mpsc::error::TrySendError::Closed(_)) => self.is_open = false,
            Ok(()) => {}
        }
    }
}
