//! A stream as its caller polls it.

use super::codec::StreamCodec;
use super::message_source::MessageSource;
use super::protocol::{ResumedProtocol, StreamSlot};
use crate::grpc::methods::MethodConfig;
use crate::grpc::request::ReplayableRequest;
use crate::grpc::response::{ObservedStream, ResponseBody};
use crate::grpc::transport::ServiceHandle;
use crate::operation::{Driver, OperationError, OperationReport, Output, Verdict};
use http::HeaderMap;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tonic::Status;

type BoxDriver<A, Q, C> = Pin<Box<Driver<ResumedProtocol<A, Q, C>>>>;

/// A stream of responses that resumes.
struct ResumedStream<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> {
    /// `None` once it has ended. It is taken out while it is polled, so that it is gone if the strategy panics.
    driver: Option<BoxDriver<A, Q, C>>,
    slot: StreamSlot<C::Response>,
    head: HeaderMap,
    trailers: Option<HeaderMap>,
    restarts: u64,
    report: Option<OperationReport>,
    passed: Option<http::Response<ResponseBody>>,
    /// The messages that were withheld as the stream failed, and why it did.
    rest: VecDeque<Result<C::Response, Status>>,
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> ResumedStream<A, Q, C> {
    /// Goes on until there is something new: a message, a connection, or the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(mut driver) = self.driver.take() else { return Poll::Ready(()) };
        let polled = driver.as_mut().poll(cx, &mut self.slot);
        self.restarts = driver.as_mut().protocol().restarts();
        let head = self.slot.head.take();
        let has_head = head.is_some();
        if let Some(head) = head {
            self.head = head;
        }
        match polled {
            Poll::Pending => {
                self.driver = Some(driver);
                if has_head { Poll::Ready(()) } else { Poll::Pending }
            }
            Poll::Ready(Output::Item) => {
                self.driver = Some(driver);
                Poll::Ready(())
            }
            Poll::Ready(Output::Reply) => {
                self.trailers = Some(driver.as_mut().protocol().take_trailers().unwrap_or_default());
                if let Some(mut response) = driver.as_mut().protocol().take_passed() {
                    if let Some(observed) = driver.as_mut().hand_over(response.extensions_mut()) {
                        let (config, is_last) = (Arc::clone(driver.config()), driver.has_all_the_time());
                        response.body_mut().observe(ObservedStream::new(observed, true, config, is_last));
                    }
                    self.report = response.extensions().get().cloned();
                    self.passed = Some(response);
                } else {
                    self.report = Some(driver.as_mut().finish(Verdict::Good));
                }
                Poll::Ready(())
            }
            Poll::Ready(Output::Failed(stop)) => {
                let status = driver.as_mut().end_status(stop);
                self.report = OperationError::of(&status).map(|error| error.report().clone());
                let withheld = driver.as_mut().protocol().take_withheld();
                self.rest = withheld.map(Ok).chain([Err(status)]).collect();
                Poll::Ready(())
            }
        }
    }
}

impl<A, Q, C> MessageSource<C::Response> for ResumedStream<A, Q, C>
where
    A: ServiceHandle + Send,
    Q: ReplayableRequest + Send,
    C: StreamCodec<Request: Send> + Send,
{
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<C::Response, Status>>> {
        loop {
            if let Some(message) = self.slot.message.take() {
                return Poll::Ready(Some(Ok(message)));
            }
            if self.driver.is_none() {
                return Poll::Ready(self.rest.pop_front());
            }
            // A connection by itself is nothing for the caller.
            if self.poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    fn head(&self) -> HeaderMap {
        self.head.clone()
    }

    fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
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
        // Nobody is to be woken: the stream ends in this poll, or does not.
        self.poll(&mut Context::from_waker(Waker::noop())).is_ready() && self.driver.is_none()
    }

    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        self.passed.take()
    }
}

/// A call whose response is such a stream: it resolves when the first connection's headers have come.
pub(crate) struct ResumedCall<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> {
    stream: Option<Box<ResumedStream<A, Q, C>>>,
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> ResumedCall<A, Q, C> {
    pub(crate) fn new(protocol: ResumedProtocol<A, Q, C>, config: Arc<MethodConfig>) -> Self {
        let stream = ResumedStream {
            driver: Some(Box::pin(Driver::new(protocol, config).reporting(true))),
            slot: StreamSlot { message: None, head: None },
            head: HeaderMap::new(),
            trailers: None,
            restarts: 0,
            report: None,
            passed: None,
            rest: VecDeque::new(),
        };
        Self { stream: Some(Box::new(stream)) }
    }
}

impl<A, Q, C> Future for ResumedCall<A, Q, C>
where
    A: ServiceHandle + Send + 'static,
    Q: ReplayableRequest + Send + 'static,
    C: StreamCodec<Request: Send + 'static> + Send + 'static,
{
    type Output = Result<Box<dyn MessageSource<C::Response>>, Status>;

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

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> Unpin for ResumedCall<A, Q, C> {}
