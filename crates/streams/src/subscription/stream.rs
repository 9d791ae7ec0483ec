//! The stream that a caller reads.

use crate::resumed::{MessageSource, SharedSource};
use crate::subscription::sender::SubscriptionSender;
use crate::subscription::shared::Shared;
use crate::subscription::state::{SubscriptionState, SubscriptionStates};
use crate::subscription::strategy::SubscriptionStrategy;
use gax_driver::OperationReport;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_stream::Stream;
use tonic::Status;
use tonic::metadata::MetadataMap;

/// A stream that outlives its connections: a [`Stream`] of [`Update`]s, opened by a
/// [`Subscriber`](crate::subscription::Subscriber).
///
/// It only makes progress while it is polled, one message at a time. All its connections are one operation. An error ends the
/// subscription.
///
/// # Cancel safety
///
/// Dropping a future of [`update`](Self::update) loses no message. If the subscription is dropped, its stream is reset immediately,
/// and its senders get an error.
#[must_use = "nothing is opened until it is polled"]
pub struct Subscription<S: SubscriptionStrategy> {
    source: SharedSource<Update<S::Response>>,
    shared: Arc<Shared<S>>,
}

/// Something new from a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a stream goes on, or has begun anew")]
pub enum Update<M> {
    /// The next message.
    Message(M),
    /// The strategy has [restarted](crate::resumption::Resume::Anew), and a connection is open: what was known of the server
    /// may be out of date, and messages may come again.
    Restarted,
}

impl<M> Update<M> {
    /// The message; `None`: the stream has restarted.
    #[must_use]
    pub fn into_message(self) -> Option<M> {
        match self {
            Update::Message(message) => Some(message),
            Update::Restarted => None,
        }
    }
}

impl<S: SubscriptionStrategy> Subscription<S> {
    pub(super) fn new(source: SharedSource<Update<S::Response>>, shared: Arc<Shared<S>>) -> Self {
        Self { source, shared }
    }

    gax_text::getters! { self:
        /// A handle that sends messages over whichever connection there is.
        pub sender: SubscriptionSender<S> = SubscriptionSender::new(Arc::clone(&self.shared));

        /// How it is doing. It continues while it is polled, so that this is how it was then.
        pub state: SubscriptionState = self.shared.state();

        /// How it is doing, for other tasks.
        pub states: SubscriptionStates = SubscriptionStates::new(self.shared.states());
    }
}

impl<S: SubscriptionStrategy<Response: Send + 'static>> Subscription<S> {
    /// The next update; `None` after the subscription has ended.
    ///
    /// # Errors
    ///
    /// The subscription has failed and ended: the status has the report of all its connections, like that of any operation.
    pub async fn update(&mut self) -> Result<Option<Update<S::Response>>, Status> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }

    gax_text::getters! { self:
        /// The metadata of the connection that was opened last.
        pub metadata: MetadataMap = MetadataMap::from_headers(self.source.look(MessageSource::head));

        /// How often it was [restarted](Update::Restarted).
        pub restarts: u64 = self.source.look(MessageSource::restarts);

        /// The report, with a row for each connection, after the subscription has ended.
        pub report: Option<OperationReport> = self.source.look(MessageSource::report);
    }
}

impl<S: SubscriptionStrategy<Response: Send + 'static>> Stream for Subscription<S> {
    type Item = Result<Update<S::Response>, Status>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.source.get_mut().poll_message(cx)
    }
}

/// Nothing in it is pinned in its place.
impl<S: SubscriptionStrategy> Unpin for Subscription<S> {}

gax_text::short_debug! { self: [S: SubscriptionStrategy] Subscription<S> { state: self.state() } }
