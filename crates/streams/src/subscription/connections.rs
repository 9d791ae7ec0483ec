//! The connections of a subscription, and what goes over them.

use crate::resumed::{Connections, Ending, Measured, StrategyOf};
use crate::subscription::connector::{BoxMessages, Connector, refused};
use crate::subscription::shared::Shared;
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::{OnEnd, SubscriptionStrategy};
use crate::subscription::stream::Update;
use gax_driver::protocol::AttemptContext;
use gax_retry::operation::{AttemptResult, RetryFact, Seen};
use http::HeaderMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;
use tonic::{Response, Status};
use tonic_gax::__private::{AttemptParts, Failure};

/// The connections of a subscription. Once it is dropped, its senders see that the subscription has ended.
pub(super) struct OwnConnections<S: SubscriptionStrategy>(pub(super) Arc<Shared<S>>);

/// A connection that is open.
pub(super) struct Connection<S: SubscriptionStrategy> {
    messages: BoxMessages<S>,
    head: HeaderMap,
    /// `true` if the strategy may have something to say.
    may_speak: bool,
    /// A separate message that waits for a place.
    waiting: Option<S::Message>,
}

/// Nothing in it is pinned in its place.
impl<S: SubscriptionStrategy> Unpin for Connection<S> {}

impl<S: SubscriptionStrategy<Response: Send> + 'static> Connections for OwnConnections<S> {
    type Base = Connector<S>;
    type Response = Response<BoxMessages<S>>;
    type Strategy = S;
    type Connection = Connection<S>;
    /// `None`: they have ended well.
    type End = Option<Status>;
    type Item = Update<S::Response>;

    fn item(message: S::Response) -> Update<S::Response> {
        Update::Message(message)
    }

    fn restarted() -> Option<Update<S::Response>> {
        Some(Update::Restarted)
    }

    #[inline]
    fn strategy<R>(&mut self, ask: impl FnOnce(&mut StrategyOf<Self>) -> R) -> Result<R, Status> {
        Ok(ask(&mut *self.0.lock()?))
    }

    fn take_withheld(&mut self) -> Vec<S::Response> {
        self.0.lock_anyway().drain()
    }

    fn open(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, Self::Base>,
        response: Self::Response,
    ) -> Result<Self::Connection, AttemptResult> {
        let (metadata, messages, _) = response.into_parts();
        self.0.opened().map_err(|panicked| attempt.end_with(panicked.into()))?;
        self.0.set_state(SubscriptionState::Live);
        Ok(Connection { messages, head: metadata.into_headers(), may_speak: true, waiting: None })
    }

    fn head(&mut self, _: &mut Self::Base, mut connection: Pin<&mut Self::Connection>) -> HeaderMap {
        std::mem::take(&mut connection.head)
    }

    #[inline]
    fn poll_next(
        &mut self,
        connection: Pin<&mut Self::Connection>,
        _: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
    ) -> Result<Poll<Result<Measured<S::Response>, Option<Status>>>, Status> {
        let this = connection.get_mut();
        if self.0.poll_say(&mut this.may_speak, &mut this.waiting, cx)?.is_pending() {
            return Ok(Poll::Pending);
        }
        Ok(Poll::Ready(match this.messages.as_mut().poll_next(cx) {
            Poll::Pending => return Ok(Poll::Pending),
            Poll::Ready(None) => Err(None),
            Poll::Ready(Some(Err(status))) => Err(Some(status)),
            Poll::Ready(Some(Ok(message))) => {
                this.may_speak = true;
                let size = self.0.lock()?.strategy().map_or(0, |strategy| strategy.size(&message));
                Ok(Measured { message, size })
            }
        }))
    }

    fn ended(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, Self::Base>,
        _: Pin<&mut Self::Connection>,
        end: Option<Status>,
    ) -> Result<Ending, Status> {
        if let Some(status) = end {
            return Ok(Ending::Failed(refused(attempt, status, Seen::Headers), None));
        }
        if self.0.lock()?.strategy().map_or(OnEnd::End, SubscriptionStrategy::ended) == OnEnd::End {
            return Ok(Ending::Done);
        }
        let result =
            attempt.ended(Box::new(Failure::ended_by_server()), Seen::Headers).with_retry(RetryFact::Yes);
        Ok(Ending::Failed(result, Some(Status::ok(""))))
    }

    fn settle(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, Self::Base>,
        result: AttemptResult,
        failure: &Status,
    ) -> Result<AttemptResult, Status> {
        let mut strategy = self.0.lock()?;
        // A message is either said again by the next request, or waits for the next connection.
        self.0.renew_outbox();
        let (result, next) = strategy.settle(&attempt.config.policy, result, failure, attempt.context);
        attempt.protocol.next = next;
        Ok(result)
    }

    fn waits_until(&mut self, moment: Instant) {
        self.0.set_state(SubscriptionState::WaitingUntil(moment.into_std()));
    }
}

impl<S: SubscriptionStrategy> Drop for OwnConnections<S> {
    fn drop(&mut self) {
        self.0.finish();
    }
}
