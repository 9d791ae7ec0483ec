//! A unary call of a generated client.

use crate::client::codec::{self, Codec};
use crate::client::encoded::Encoded;
use gax_driver::OperationError;
use gax_driver::protocol::{Driver, Output, Verdict};
use gax_wire::__private::{BufferedBody, FrameBuffer};
use http::HeaderName;
use http::response::Parts;
use pin_project_lite::pin_project;
use prost::Message;
use std::error::Error as _;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tonic::body::Body;
use tonic::{Response, Status};
use tonic_gax::__private::{
    GrpcProtocol, MethodConfig, OwnService, ReadExtent, Remainder, ResponseBody, end_status, header,
};
use tonic_gax::{CodeExt as _, GrpcTransport, note};

/// How a message is compressed.
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

pin_project! {
    /// A unary call: an operation that starts when it is first polled.
    ///
    /// The response's metadata is what the server sent in its headers and trailers, without `grpc-status`.
    ///
    /// An error has the [`OperationError`](tonic_gax::OperationError) as its source. The response has the
    /// [`OperationReport`](tonic_gax::OperationReport) in its extensions if there is more to report than that the first
    /// attempt succeeded, or if it was [asked for](tonic_gax::CallOptions::report).
    ///
    /// # Cancel safety
    ///
    /// Dropping it stops the operation immediately; the server sees the stream reset.
    #[must_use = "futures do nothing unless polled"]
    pub struct UnaryCall<T: GrpcTransport, M> {
        #[pin]
        state: State<T>,
        message: PhantomData<fn() -> M>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<T: GrpcTransport> {
        // The request could not be written.
        Failed { status: Option<Status> },
        Running { #[pin] driver: Driver<GrpcProtocol<OwnService<T>, Encoded>>, codec: Arc<Codec> },
    }
}

impl<T: GrpcTransport, M> UnaryCall<T, M> {
    #[inline]
    pub(super) fn new(
        channel: T,
        encoded: Encoded,
        config: Arc<MethodConfig>,
        codec: Arc<Codec>,
        reports: bool,
    ) -> Self {
        let protocol = GrpcProtocol::new(OwnService(channel), encoded, ReadExtent::Whole);
        let driver = Driver::new(protocol, config).reporting(reports);
        Self { state: State::Running { driver, codec }, message: PhantomData }
    }

    pub(super) fn failed(status: Status) -> Self {
        Self { state: State::Failed { status: Some(status) }, message: PhantomData }
    }
}

gax_text::short_debug! { self: [T: GrpcTransport, M] UnaryCall<T, M> {} }

impl<T: GrpcTransport, M: Message + Default + Send + Sync + 'static> Future for UnaryCall<T, M> {
    type Output = Result<Response<M>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProj::Failed { status } => match status.take() {
                Some(status) => Poll::Ready(Err(status)),
                None => Poll::Pending,
            },
            StateProj::Running { mut driver, codec } => {
                let mut reply = Poll::Pending;
                let output = ready!(driver.as_mut().poll(cx, &mut reply));
                let Poll::Ready(Ok(good)) = reply else {
                    return match output {
                        Output::Failed(stop) => Poll::Ready(Err(end_status(driver, stop))),
                        Output::Reply | Output::Item => Poll::Pending,
                    };
                };
                let is_plain = !driver.is_watched();
                let (parts, ResponseBody(BufferedBody { frames, remainder })) = good.into_parts();
                let decoded = match plain(codec, &parts, frames, &remainder) {
                    // Written where it is returned (bench `speed`, instructions).
                    Ok(Ok(message)) if is_plain => {
                        return Poll::Ready(Ok(response(parts, remainder, message)));
                    }
                    Ok(Ok(message)) => Ok(response(parts, remainder, message)),
                    Ok(Err(status)) => Err(status),
                    Err(frames) => by_tonic(codec, parts, frames, remainder),
                };
                Poll::Ready(closed(driver, decoded))
            }
        }
    }
}

/// A good response of these parts, as tonic makes it.
#[inline]
fn response<M>(parts: Parts, remainder: Remainder, message: M) -> Response<M> {
    Response::from_parts(codec::metadata(parts.headers, remainder), message, parts.extensions)
}

/// The one message of a plain response, or why it can't be read. If the response is anything else, its frames come back.
#[inline]
fn plain<M: Message + Default>(
    codec: &Codec,
    parts: &Parts,
    frames: FrameBuffer,
    remainder: &Remainder,
) -> Result<Result<M, Status>, FrameBuffer> {
    if matches!(remainder, Remainder::Open(_)) || header(&parts.headers, &ENCODING).is_some() {
        return Err(frames);
    }
    codec.decode(frames.into_bytes()).map_err(FrameBuffer::from)
}

/// A response that tonic decodes.
#[cold]
fn by_tonic<M: Message + Default + Send + Sync + 'static>(
    codec: &Codec,
    parts: Parts,
    frames: FrameBuffer,
    remainder: Remainder,
) -> Result<Response<M>, Status> {
    // A body that is still open is longer than allowed: tonic reports that, whatever follows.
    let remainder = if matches!(remainder, Remainder::Open(_)) { Remainder::End } else { remainder };
    let body = Body::new(ResponseBody::new(frames, remainder));
    codec.decode_by_tonic(http::Response::from_parts(parts, body))
}

/// Closes the operation, since it is known now whether the response is a message. If its message can't be read, the operation has
/// failed, and no further attempt would do better.
#[cold]
fn closed<T: GrpcTransport, M>(
    driver: Pin<&mut Driver<GrpcProtocol<OwnService<T>, Encoded>>>,
    mut decoded: Result<Response<M>, Status>,
) -> Result<Response<M>, Status> {
    match &mut decoded {
        Ok(response) => driver.close_into(response.extensions_mut()),
        Err(status) => {
            let code = status.code().to_gax();
            // A message that is only too long for this client breaks no rules.
            let is_too_long = driver.notes().contains(&note::MESSAGE_ABOVE_DECODING_LIMIT);
            let verdict = if is_too_long { Verdict::Failed(code) } else { Verdict::Unreadable(code) };
            let report = driver.finish(verdict);
            if status.source().is_none() {
                status.set_source(Arc::new(OperationError::new(report, None)));
            }
        }
    }
    decoded
}
