//! An element that waits for room.

use crate::error::AddResult;
use crate::shared::Shared;
use gax_retry::batching::Ticket;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Waits until the batcher has taken the element or refuses it. Dropped before that, it takes the element with it.
pub(crate) struct Waiting<'a, T, R, E> {
    pub(crate) shared: &'a Shared<T, R, E>,
    /// `None`: the result has been returned.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) receiver: oneshot::Receiver<AddResult<T, R, E>>,
}

impl<T, R, E> Future for Waiting<'_, T, R, E> {
    type Output = AddResult<T, R, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut self.receiver).poll(cx) {
            Poll::Ready(Ok(result)) => {
                self.ticket = None;
                Poll::Ready(result)
            }
            // The state that has the element sends its result before it drops the sender.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T, R, E> Drop for Waiting<'_, T, R, E> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.shared.change(|state, now, after| state.withdraw(ticket, now, after));
        }
    }
}
