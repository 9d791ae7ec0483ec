//! A unary call of a generated client.

use super::codec;
use super::core::Shared;
use crate::grpc::{Collected, Operation, Success, Transport, header};
use crate::operation::{OperationError, OperationReport};
use gax_retry::StopReason;
use http::HeaderName;
use http_body::{Body as HttpBody, Frame};
use pin_project_lite::pin_project;
use prost::Message;
use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tonic::body::Body;
use tonic::{Response, Status};

/// How a message is compressed.
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

pin_project! {
    /// A unary call: an operation that starts when it is first polled.
    ///
    /// The response has the [`OperationReport`](crate::OperationReport) in its extensions, an error the
    /// [`OperationError`](crate::OperationError) as its source.
    ///
    /// # Cancel safety
    ///
    /// To drop it stops the operation at once; the server sees the stream reset.
    #[must_use = "futures do nothing unless polled"]
    pub struct UnaryCall<T: Transport, M> {
        #[pin]
        state: State<T>,
        shared: Arc<Shared>,
        message: PhantomData<fn() -> M>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<T: Transport> {
        // The request could not be written.
        Failed { status: Option<Status> },
        Running { #[pin] operation: Operation<T> },
    }
}

impl<T: Transport, M> UnaryCall<T, M> {
    pub(super) fn new(operation: Operation<T>, shared: Arc<Shared>) -> Self {
        Self { state: State::Running { operation }, shared, message: PhantomData }
    }

    pub(super) fn failed(status: Status, shared: Arc<Shared>) -> Self {
        Self { state: State::Failed { status: Some(status) }, shared, message: PhantomData }
    }
}

impl<T: Transport, M> fmt::Debug for UnaryCall<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnaryCall").finish_non_exhaustive()
    }
}

impl<T: Transport, M: Message + Default + Send + Sync + 'static> Future for UnaryCall<T, M> {
    type Output = Result<Response<M>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.state.project() {
            StateProj::Failed { status } => match status.take() {
                Some(status) => Poll::Ready(Err(status)),
                None => Poll::Pending,
            },
            StateProj::Running { operation } => {
                // No `?`, which would move the response.
                match ready!(operation.poll(cx)) {
                    Ok(success) => Poll::Ready(decoded(success, this.shared)),
                    Err(status) => Poll::Ready(Err(status)),
                }
            }
        }
    }
}

/// The message in a response, with the report beside it.
fn decoded<M: Message + Default + Send + Sync + 'static>(
    success: Success,
    shared: &Shared,
) -> Result<Response<M>, Status> {
    let Success { mut parts, mut collected, rest, report } = success;
    let trailers = collected.trailers.take();
    let decoded = if rest.is_none() && header(&parts.headers, &ENCODING).is_none() {
        let bytes = collected.into_bytes();
        match shared.codec.decode(&bytes) {
            Some(Ok(message)) => {
                if let Some(report) = report {
                    parts.extensions.insert(report);
                }
                let metadata = codec::metadata(parts.headers, trailers);
                return Ok(Response::from_parts(metadata, message, parts.extensions));
            }
            Some(Err(status)) => Err(status),
            None => {
                let mut again = Collected::default();
                again.push(bytes);
                again.trailers = trailers;
                shared.codec.decode_by_tonic(http::Response::from_parts(parts, Body::new(Whole(again))))
            }
        }
    } else {
        collected.trailers = trailers;
        shared.codec.decode_by_tonic(http::Response::from_parts(parts, Body::new(Whole(collected))))
    };
    match (decoded, report) {
        (Ok(mut response), Some(report)) => {
            response.extensions_mut().insert(report);
            Ok(response)
        }
        (Err(status), Some(report)) => Err(with_report(status, &report)),
        (decoded, None) => decoded,
    }
}

/// The answer was good, but its message is not: no further attempt is made for that.
fn with_report(mut status: Status, report: &OperationReport) -> Status {
    if status.source().is_none() {
        let report = report.stopped(StopReason::Committed);
        status.set_source(Arc::new(OperationError::new(report, None)));
    }
    status
}

/// A response that has been collected, as a body.
#[derive(Debug)]
struct Whole(Collected);

impl HttpBody for Whole {
    type Data = bytes::Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let data = self.0.pop().map(Frame::data);
        Poll::Ready(data.or_else(|| self.0.trailers.take().map(Frame::trailers)).map(Ok))
    }
}
