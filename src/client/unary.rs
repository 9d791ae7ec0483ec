//! A unary call of a generated client.

use super::codec;
use super::codec::Codec;
use super::encoded::Encoded;
use crate::body::FrameBuffer;
use crate::grpc::{
    CodeExt as _, GrpcProtocol, OwnService, ReadExtent, Remainder, ResponseBody, Transport, header,
};
use crate::operation::{Driver, Observed, OperationError, OperationReport};
use http::HeaderName;
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
    /// The response's metadata is what the server sent in its headers and trailers, without `grpc-status`.
    ///
    /// An error has the [`OperationError`](crate::OperationError) as its source. The response has the
    /// [`OperationReport`](crate::OperationReport) in its extensions where there is more to tell than that the first
    /// attempt succeeded, or where it was [asked for](crate::CallOptions::report).
    ///
    /// # Cancel safety
    ///
    /// Dropping it stops the operation at once; the server sees the stream reset.
    #[must_use = "futures do nothing unless polled"]
    pub struct UnaryCall<T: Transport, M> {
        #[pin]
        state: State<T>,
        message: PhantomData<fn() -> M>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<T: Transport> {
        // The request could not be written.
        Failed { status: Option<Status> },
        Running { #[pin] driver: Driver<GrpcProtocol<OwnService<T>, Encoded>> },
    }
}

impl<T: Transport, M> UnaryCall<T, M> {
    #[inline]
    pub(super) fn new(channel: T, encoded: Encoded) -> Self {
        let plan = Arc::clone(&encoded.method().plan);
        let driver = Driver::new(GrpcProtocol::new(OwnService(channel), encoded, ReadExtent::Whole), plan);
        Self { state: State::Running { driver }, message: PhantomData }
    }

    pub(super) fn failed(status: Status) -> Self {
        Self { state: State::Failed { status: Some(status) }, message: PhantomData }
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
        match self.project().state.project() {
            StateProj::Failed { status } => match status.take() {
                Some(status) => Poll::Ready(Err(status)),
                None => Poll::Pending,
            },
            StateProj::Running { mut driver } => {
                let mut reply = Poll::Pending;
                let stop = ready!(driver.as_mut().poll(cx, &mut reply));
                let Poll::Ready(Ok(response)) = reply else {
                    return stop.map_or(Poll::Pending, |stop| Poll::Ready(Err(driver.failed(stop))));
                };
                let request = driver.as_mut().protocol().request();
                let wants_report = request.wants_report();
                let decoded = decoded(&request.method().codec, response);
                if let Some(observed) = driver.as_mut().take_observed() {
                    close(observed, decoded.as_ref().err());
                }
                if decoded.is_ok() && !wants_report && !driver.has_news() {
                    return Poll::Ready(decoded);
                }
                Poll::Ready(reported(decoded, driver.report(None)))
            }
        }
    }
}

/// Whether the reply is a message is known now.
#[cold]
fn close(observed: Box<Observed>, error: Option<&Status>) {
    match error {
        None => observed.succeeded(),
        Some(status) => observed.unreadable(status.code().to_gax()),
    }
}

/// The message in a response.
fn decoded<M: Message + Default + Send + Sync + 'static>(
    codec: &Codec,
    response: http::Response<ResponseBody>,
) -> Result<Response<M>, Status> {
    let (parts, ResponseBody { mut frames, remainder }) = response.into_parts();
    if !matches!(remainder, Remainder::Open(_)) && header(&parts.headers, &ENCODING).is_none() {
        match codec.decode(frames.into_bytes()) {
            Ok(Ok(message)) => {
                let metadata = codec::metadata(parts.headers, remainder);
                return Ok(Response::from_parts(metadata, message, parts.extensions));
            }
            Ok(Err(status)) => return Err(status),
            Err(bytes) => frames = FrameBuffer::from(bytes),
        }
    }
    // A body that is still open is longer than allowed: tonic reports that, whatever follows.
    let remainder = if matches!(remainder, Remainder::Open(_)) { Remainder::End } else { remainder };
    let body = Body::new(ResponseBody::new(frames, remainder));
    codec.decode_by_tonic(http::Response::from_parts(parts, body))
}

/// A response with its report. If the response was good but its message is not, the operation has failed, and no
/// further attempt would do better.
#[cold]
fn reported<M>(decoded: Result<Response<M>, Status>, report: OperationReport) -> Result<Response<M>, Status> {
    match decoded {
        Ok(mut response) => {
            response.extensions_mut().insert(report);
            Ok(response)
        }
        Err(mut status) => {
            if status.source().is_none() {
                let report = report.unreadable(status.code().to_gax());
                status.set_source(Arc::new(OperationError::new(report, None)));
            }
            Err(status)
        }
    }
}
