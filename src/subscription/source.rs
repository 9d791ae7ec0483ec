//! The updates of a subscription, one after the other.

use crate::grpc::{MessageSource, MethodConfig};
use crate::operation::{Driver, OperationError, OperationReport, Output, Verdict};
use crate::subscription::opening::Opening;
use crate::subscription::protocol::{SubscriptionProtocol, SubscriptionSlot};
use crate::subscription::shared::Shared;
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::SubscriptionStrategy;
use crate::subscription::stream::Update;
use http::HeaderMap;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio_stream::Stream;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status};

type BoxDriver<S, F, Fut, T> = Pin<Box<Driver<SubscriptionProtocol<S, F, Fut, T>>>>;

/// The operation of a subscription, and its updates.
pub(super) struct Source<S, F, Fut, T>
where
    S: SubscriptionStrategy<Message: 'static>,
    F: FnMut(Opening<S::Request, S::Message>) -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
    T: Stream<Item = Result<S::Response, Status>>,
{
    /// `None` once it has ended. It is taken out while it is polled, so that it is gone if the strategy panics.
    driver: Option<BoxDriver<S, F, Fut, T>>,
    shared: Arc<Shared<S>>,
    slot: SubscriptionSlot<S::Response>,
    metadata: MetadataMap,
    /// How often the caller knows that the stream was begun anew.
    restarts: u64,
    /// The messages that were withheld as the stream failed, and why it did.
    rest: VecDeque<Result<S::Response, Status>>,
    report: Option<OperationReport>,
}

impl<S, F, Fut, T> Source<S, F, Fut, T>
where
    S: SubscriptionStrategy<Message: 'static>,
    F: FnMut(Opening<S::Request, S::Message>) -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
    T: Stream<Item = Result<S::Response, Status>>,
{
    pub(super) fn new(
        protocol: SubscriptionProtocol<S, F, Fut, T>,
        config: Arc<MethodConfig>,
        shared: Arc<Shared<S>>,
    ) -> Self {
        Self {
            driver: Some(Box::pin(Driver::new(protocol, config))),
            shared,
            slot: SubscriptionSlot { message: None, metadata: None, restarts: 0 },
            metadata: MetadataMap::new(),
            restarts: 0,
            rest: VecDeque::new(),
            report: None,
        }
    }

    /// Goes on until there is a message, or the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(mut driver) = self.driver.take() else { return Poll::Ready(()) };
        let polled = driver.as_mut().poll(cx, &mut self.slot);
        if let Some(metadata) = self.slot.metadata.take() {
            self.metadata = metadata;
        }
        let Poll::Ready(output) = polled else {
            if driver.as_mut().protocol().is_waiting()
                && let Some(until) = driver.as_mut().waits_until()
            {
                self.shared.set_state(SubscriptionState::WaitingUntil(until.into_std()));
            }
            self.driver = Some(driver);
            return Poll::Pending;
        };
        match output {
            Output::Item => self.driver = Some(driver),
            Output::Reply => {
                self.report = Some(driver.as_mut().finish(Verdict::Good));
                self.shared.finish();
            }
            Output::Failed(stop) => {
                let status = driver.as_mut().end_status(stop);
                self.report = OperationError::of(&status).map(|error| error.report().clone());
                let mut inner = self.shared.lock_anyway();
                inner.resumer.release();
                let withheld = std::iter::from_fn(|| inner.resumer.released());
                self.rest = withheld.map(Ok).chain([Err(status)]).collect();
                drop(inner);
                self.shared.finish();
            }
        }
        Poll::Ready(())
    }
}

impl<S, F, Fut, T> MessageSource<Update<S::Response>> for Source<S, F, Fut, T>
where
    S: SubscriptionStrategy<Message: 'static, Request: Send, Response: Send>,
    F: FnMut(Opening<S::Request, S::Message>) -> Fut + Send,
    Fut: Future<Output = Result<Response<T>, Status>> + Send,
    T: Stream<Item = Result<S::Response, Status>> + Send,
{
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Update<S::Response>, Status>>> {
        loop {
            if self.restarts < self.slot.restarts {
                self.restarts = self.slot.restarts;
                return Poll::Ready(Some(Ok(Update::Restarted)));
            }
            if let Some(message) = self.slot.message.take() {
                return Poll::Ready(Some(Ok(Update::Message(message))));
            }
            if self.driver.is_none() {
                return Poll::Ready(self.rest.pop_front().map(|next| next.map(Update::Message)));
            }
            // A new beginning is worth an update before its first message comes.
            if self.poll(cx).is_pending() && self.restarts == self.slot.restarts {
                return Poll::Pending;
            }
        }
    }

    fn head(&self) -> HeaderMap {
        self.metadata.clone().into_headers()
    }

    fn take_trailers(&mut self) -> Option<HeaderMap> {
        None
    }

    fn restarts(&self) -> u64 {
        self.restarts
    }

    fn report(&self) -> Option<OperationReport> {
        self.report.clone()
    }

    fn abandon(&mut self) -> bool {
        if let Some(driver) = &mut self.driver {
            driver.as_mut().protocol().abandon();
        }
        // Nobody is to be woken: the subscription ends in this poll, or does not.
        self.poll(&mut Context::from_waker(Waker::noop())).is_ready() && self.driver.is_none()
    }
}

/// Its senders see that it is gone, and its connection is reset.
impl<S, F, Fut, T> Drop for Source<S, F, Fut, T>
where
    S: SubscriptionStrategy<Message: 'static>,
    F: FnMut(Opening<S::Request, S::Message>) -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
    T: Stream<Item = Result<S::Response, Status>>,
{
    fn drop(&mut self) {
        self.shared.finish();
    }
}
