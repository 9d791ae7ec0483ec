//! All that opens a connection.

use gax_retry::StartedAttempt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, vec};
use tokio_stream::Stream;
use tonic::Request;

use crate::subscription::shared::Messages;
use gax_driver::CallOptions;
use tonic_gax::RequestExt as _;

/// The input of the closure that opens a subscription's connection: the request, and the messages that are sent after
/// it.
///
/// [`into_request`](Self::into_request) makes of it the request of an RPC that takes one message, and
/// [`into_streaming_request`](Self::into_streaming_request) that of one that takes a stream. Both have the attempt's deadline,
/// if it has one, and mark the call as an attempt of the subscription: a generated client or a [`RetryLayer`](tonic_gax::RetryLayer)
/// makes it once and adds its headers. Retries, limits, reports and observers are those of the subscription.
pub struct Opening<Q, M> {
    request: Q,
    messages: Connected<M>,
    started: StartedAttempt,
}

impl<Q, M> Opening<Q, M> {
    pub(super) fn new(
        request: Q,
        messages: Arc<dyn Messages<M>>,
        connection: u64,
        started: StartedAttempt,
    ) -> Self {
        Self { request, messages: Connected { messages, connection }, started }
    }

    gax_text::getters! { self:
        /// The request itself, which the strategy sends first.
        pub request: &Q = &self.request;

        /// The attempt: its number, when it started, its RPC timeout.
        pub attempt: StartedAttempt = self.started;
    }

    /// The request of an RPC that takes one message.
    #[must_use]
    pub fn into_request(self) -> Request<Q> {
        of_attempt(self.request, self.started.deadline())
    }

    /// The request of an RPC that takes a stream: the opening messages, then those that are sent until the connection ends.
    #[must_use]
    pub fn into_streaming_request(self) -> Request<OutgoingMessages<M>>
    where
        Q: IntoIterator<Item = M>,
    {
        let opening = self.request.into_iter().collect::<Vec<_>>().into_iter();
        let Self { messages, started, .. } = self;
        of_attempt(OutgoingMessages { opening, messages }, started.deadline())
    }
}

/// The connection that takes messages, until it is dropped.
struct Connected<M> {
    messages: Arc<dyn Messages<M>>,
    connection: u64,
}

impl<M> Drop for Connected<M> {
    fn drop(&mut self) {
        self.messages.deafen(self.connection);
    }
}

/// A request that is an attempt of a subscription.
fn of_attempt<T>(message: T, timeout: Option<Duration>) -> Request<T> {
    let mut request = Request::new(message).with_call_options(CallOptions::attempt());
    if let Some(timeout) = timeout {
        request.set_timeout(timeout);
    }
    request
}

gax_text::short_debug! {
    self: [Q: fmt::Debug, M] Opening<Q, M> { request: self.request, attempt: self.started }
}

/// The stream of requests of one connection. It ends when the strategy or the sender half-closes it, or when the connection is
/// gone.
#[must_use = "streams do nothing unless polled"]
pub struct OutgoingMessages<M> {
    opening: vec::IntoIter<M>,
    messages: Connected<M>,
}

/// Nothing in it is pinned in its place.
impl<M> Unpin for OutgoingMessages<M> {}

impl<M> Stream for OutgoingMessages<M> {
    type Item = M;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<M>> {
        let this = self.get_mut();
        this.messages.messages.poll_take(this.messages.connection, &mut this.opening, cx)
    }
}

gax_text::short_debug! { self: [M] OutgoingMessages<M> { opening: self.opening.len() } }
