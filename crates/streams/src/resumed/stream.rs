//! A stream as its caller polls it.

use super::connections::{Connections, Message};
use super::message_source::MessageSource;
use super::protocol::{StreamProtocol, StreamSlot};
use gax_driver::protocol::{Driver, Output, Verdict};
use gax_driver::{OperationError, OperationReport};
use http::HeaderMap;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tonic::Status;
use tonic_gax::__private::{MethodConfig, ResponseBody, end_status, hand_over};

/// A stream of responses over further connections.
pub struct MessageStream<C: Connections> {
    /// `None` once it has ended. It is taken out while it is polled, so that it is gone if the strategy panics.
    driver: Option<Pin<Box<Driver<StreamProtocol<C>>>>>,
    slot: StreamSlot<Message<C>>,
    head: HeaderMap,
    trailers: Option<HeaderMap>,
    report: Option<OperationReport>,
    passed: Option<http::Response<ResponseBody>>,
    /// The messages that were withheld as the stream failed, and why it did.
    rest: VecDeque<Result<C::Item, Status>>,
    /// How often the caller knows that the stream was restarted.
    restarts: u64,
}

impl<C: Connections> MessageStream<C> {
    pub fn new(protocol: StreamProtocol<C>, config: Arc<MethodConfig>) -> Self {
        Self {
            driver: Some(Box::pin(Driver::new(protocol, config).reporting(true))),
            slot: StreamSlot { message: None, head: None, restarts: 0 },
            head: HeaderMap::new(),
            trailers: None,
            report: None,
            passed: None,
            rest: VecDeque::new(),
            restarts: 0,
        }
    }

    /// Continues until there is something new: a message, a connection, or the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(mut driver) = self.driver.take() else { return Poll::Ready(()) };
        let polled = driver.as_mut().poll(cx, &mut self.slot);
        let head = self.slot.head.take();
        let has_head = head.is_some();
        if let Some(head) = head {
            self.head = head;
        }
        match polled {
            Poll::Pending => {
                if driver.as_mut().protocol().is_waiting()
                    && let Some(moment) = driver.as_mut().waits_until()
                {
                    driver.as_mut().protocol().connections().waits_until(moment);
                }
                self.driver = Some(driver);
                return if has_head { Poll::Ready(()) } else { Poll::Pending };
            }
            Poll::Ready(Output::Item) => self.driver = Some(driver),
            Poll::Ready(Output::Reply) => {
                let connections = driver.as_mut().protocol().connections();
                self.trailers = Some(connections.take_trailers().unwrap_or_default());
                if let Some(mut response) = connections.take_passed() {
                    hand_over(driver.as_mut(), &mut response, true);
                    self.report = response.extensions().get().cloned();
                    self.passed = Some(response);
                } else {
                    self.report = Some(driver.as_mut().finish(Verdict::Good));
                }
            }
            Poll::Ready(Output::Failed(stop)) => {
                let status = end_status(driver.as_mut(), stop);
                self.report = OperationError::of(&status).map(|error| error.report().clone());
                let withheld = driver.as_mut().protocol().connections().take_withheld();
                self.rest = withheld.into_iter().map(C::item).map(Ok).chain([Err(status)]).collect();
            }
        }
        Poll::Ready(())
    }
}

impl<C: Connections> MessageSource<C::Item> for MessageStream<C>
where
    Self: Send,
{
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<C::Item, Status>>> {
        loop {
            // A new beginning is known before its first message comes.
            if std::mem::replace(&mut self.restarts, self.slot.restarts) < self.slot.restarts
                && let Some(restarted) = C::restarted()
            {
                return Poll::Ready(Some(Ok(restarted)));
            }
            if let Some(message) = self.slot.message.take() {
                return Poll::Ready(Some(Ok(C::item(message))));
            }
            if self.driver.is_none() {
                return Poll::Ready(self.rest.pop_front());
            }
            // A connection by itself is nothing for the caller.
            ready!(self.poll(cx));
        }
    }

    fn head(&self) -> HeaderMap {
        self.head.clone()
    }

    fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    fn restarts(&self) -> u64 {
        self.slot.restarts
    }

    fn report(&self) -> Option<OperationReport> {
        self.report.clone()
    }

    fn abandon(&mut self) -> bool {
        if let Some(driver) = &mut self.driver {
            driver.as_mut().protocol().abandon();
        }
        // Nobody is to be woken: the stream ends in this poll, or does not.
        self.poll(&mut Context::from_waker(Waker::noop())).is_ready() && self.driver.is_none()
    }

    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        self.passed.take()
    }
}

/// A call whose response is such a stream: it resolves when the first connection's headers have come.
pub struct StreamCall<C: Connections> {
    stream: Option<Box<MessageStream<C>>>,
}

impl<C: Connections> StreamCall<C> {
    pub fn new(protocol: StreamProtocol<C>, config: Arc<MethodConfig>) -> Self {
        Self { stream: Some(Box::new(MessageStream::new(protocol, config))) }
    }
}

impl<C: Connections> Future for StreamCall<C>
where
    MessageStream<C>: Send + 'static,
{
    type Output = Result<Box<dyn MessageSource<C::Item>>, Status>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(mut stream) = self.stream.take() else { return Poll::Pending };
        if stream.poll(cx).is_pending() {
            self.stream = Some(stream);
            return Poll::Pending;
        }
        if stream.rest.front().is_some_and(Result::is_err)
            && let Some(Err(status)) = stream.rest.pop_front()
        {
            return Poll::Ready(Err(status));
        }
        Poll::Ready(Ok(stream))
    }
}

impl<C: Connections> Unpin for StreamCall<C> {}
