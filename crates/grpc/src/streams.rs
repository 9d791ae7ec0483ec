//! The two halves of a call, for its caller.

use crate::operation::Operation;
use grpc::client::{Invoke, RecvStream, ResponseStreamItem, SendOptions, SendStream};
use grpc::core::{RecvMessage, SendMessage};
use std::fmt;
use std::sync::Arc;

/// The sending half of a call. `send` returns when an attempt has sent the message; later attempts send it again. Dropping it
/// ends the request.
pub struct RetrySendStream<I: Invoke + Clone + 'static>(pub(crate) Sender<I>);

/// The receiving half of a call. Dropping it cancels the call.
///
/// # Cancel safety
///
/// The future of `recv` can be dropped without losing a part of the response.
pub struct RetryRecvStream<I: Invoke + Clone + 'static>(pub(crate) Receiver<I>);

pub(crate) enum Sender<I: Invoke + Clone + 'static> {
    /// The call passes through.
    PassedThrough(I::SendStream),
    Operation(SendingHalf<I>),
}

pub(crate) enum Receiver<I: Invoke + Clone + 'static> {
    PassedThrough(I::RecvStream),
    Operation(ReceivingHalf<I>),
}

pub(crate) struct SendingHalf<I: Invoke + Clone + 'static>(Arc<Operation<I>>);

pub(crate) struct ReceivingHalf<I: Invoke + Clone + 'static>(Arc<Operation<I>>);

/// Both halves of an operation.
pub(crate) fn halves<I: Invoke + Clone + 'static>(
    operation: Operation<I>,
) -> (RetrySendStream<I>, RetryRecvStream<I>) {
    let operation = Arc::new(operation);
    let sender = Sender::Operation(SendingHalf(Arc::clone(&operation)));
    (RetrySendStream(sender), RetryRecvStream(Receiver::Operation(ReceivingHalf(operation))))
}

impl<I: Invoke + Clone + 'static> SendStream for RetrySendStream<I> {
    async fn send(&mut self, message: &dyn SendMessage, options: SendOptions) -> Result<(), ()> {
        match &mut self.0 {
            Sender::PassedThrough(stream) => stream.send(message, options).await,
            Sender::Operation(half) => half.0.send(message, options).await,
        }
    }
}

impl<I: Invoke + Clone + 'static> RecvStream for RetryRecvStream<I> {
    async fn recv(&mut self, message: &mut dyn RecvMessage) -> ResponseStreamItem {
        match &mut self.0 {
            Receiver::PassedThrough(stream) => stream.recv(message).await,
            Receiver::Operation(half) => half.0.receive(message).await,
        }
    }
}

impl<I: Invoke + Clone + 'static> Drop for SendingHalf<I> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<I: Invoke + Clone + 'static> Drop for ReceivingHalf<I> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl<I: Invoke + Clone + 'static> fmt::Debug for RetrySendStream<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetrySendStream").finish_non_exhaustive()
    }
}

impl<I: Invoke + Clone + 'static> fmt::Debug for RetryRecvStream<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryRecvStream").finish_non_exhaustive()
    }
}
