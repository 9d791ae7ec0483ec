//! Messages to bytes and back.
//!
//! A plain call is encoded into one buffer of exactly its size and decoded from the bytes as they came.
//! All that needs more than that, compression above all, goes through tonic's own client, on both sides of the
//! operation.

use bytes::{Buf as _, BufMut, Bytes, BytesMut};
use gax_driver::__private::{AboveOwnLimit, Locked, PREFIX};
use gax_streams::__private::{Canned, Measured, MeasuringCodec, RawCodec, now};
use gax_wire::__private::is_one_message;
use http::uri::PathAndQuery;
use http_body::Body as _;
use prost::Message;
use std::cell::RefCell;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{CompressionEncoding, Streaming};
use tonic::metadata::MetadataMap;
use tonic_gax::__private::Remainder;
use tonic_prost::ProstCodec;
use tower_service::Service;

/// tonic's own limit for what a client receives.
const DEFAULT_MAX_DECODING: usize = 4 * 1024 * 1024;

/// How messages are written and read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Codec {
    pub(crate) send_compressed: Option<CompressionEncoding>,
    pub(crate) accept_compressed: Vec<CompressionEncoding>,
    pub(crate) max_decoding: Option<usize>,
    pub(crate) max_encoding: Option<usize>,
}

impl Codec {
    /// Returns whether nothing but plain messages is sent or announced.
    pub(crate) fn is_plain(&self) -> bool {
        self.send_compressed.is_none() && self.accept_compressed.is_empty()
    }

    gax_text::getters! { self:
        pub(crate) max_decoding: usize = self.max_decoding.unwrap_or(DEFAULT_MAX_DECODING);

        /// The most bytes that a response of one message has.
        pub(crate) longest_response: usize = self.max_decoding().saturating_add(PREFIX);
    }

    /// The message with its prefix.
    #[inline]
    pub(crate) fn encode(&self, message: &impl Message) -> Result<Bytes, Status> {
        let length = message.encoded_len();
        if let Some(limit) = self.max_encoding.filter(|limit| length > *limit) {
            let mut status = Status::out_of_range(format!(
                "the request's message is {length} bytes long, more than the limit of {limit}"
            ));
            status.set_source(Arc::new(AboveOwnLimit));
            return Err(status);
        }
        let Ok(prefix) = u32::try_from(length) else {
            return Err(Status::resource_exhausted(format!(
                "the request's message is {length} bytes long, more than gRPC can send"
            )));
        };
        frame(PREFIX + length, |buffer| {
            buffer.put_u8(0);
            buffer.put_u32(prefix);
            message.encode(buffer)
        })
        .map_err(|error| Status::internal(error.to_string()))
    }

    /// The one message of a plain response. Where it is anything else, its bytes come back, for tonic to make of them
    /// what it makes of them.
    pub(crate) fn decode<M: Message + Default>(&self, mut bytes: Bytes) -> Result<Result<M, Status>, Bytes> {
        if self.is_one_plain_message(&bytes) {
            bytes.advance(PREFIX);
            return Ok(M::decode(bytes).map_err(|error| Status::internal(error.to_string())));
        }
        Err(bytes)
    }

    #[inline]
    fn is_one_plain_message(&self, bytes: &[u8]) -> bool {
        bytes.first() == Some(&0) && is_one_message(bytes) && bytes.len() <= self.longest_response()
    }

    /// tonic's client over a service, with this codec's settings.
    pub(crate) fn tonic<S>(&self, service: S) -> tonic::client::Grpc<S> {
        let mut grpc = tonic::client::Grpc::new(service);
        if let Some(encoding) = self.send_compressed {
            grpc = grpc.send_compressed(encoding);
        }
        for encoding in &self.accept_compressed {
            grpc = grpc.accept_compressed(*encoding);
        }
        if let Some(limit) = self.max_decoding {
            grpc = grpc.max_decoding_message_size(limit);
        }
        if let Some(limit) = self.max_encoding {
            grpc = grpc.max_encoding_message_size(limit);
        }
        grpc
    }

    /// The request as tonic writes it: its headers, and its body in one piece.
    pub(crate) fn encode_by_tonic(
        &self,
        request: tonic::Request<Bytes>,
        path: PathAndQuery,
    ) -> Result<(http::request::Parts, Bytes), Status> {
        let taken = CapturingService::default();
        let mut grpc = self.tonic(taken.clone());
        {
            let call = pin!(grpc.unary(request, path, RawCodec));
            // The service accepts the request and never responds.
            if let Poll::Ready(Err(status)) = call.poll(&mut Context::from_waker(Waker::noop())) {
                return Err(status);
            }
        }
        let request = taken.request.change(Option::take);
        let (parts, mut body) = request.ok_or_else(nothing_sent)?.into_parts();
        let mut bytes = BytesMut::new();
        while let Poll::Ready(Some(frame)) =
            Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop()))
        {
            if let Ok(data) = frame?.into_data() {
                bytes.extend_from_slice(&data);
            }
        }
        Ok((parts, bytes.freeze()))
    }

    /// The response as tonic reads it.
    pub(crate) fn decode_by_tonic<M: Message + Default>(
        &self,
        response: http::Response<Body>,
    ) -> Result<tonic::Response<M>, Status> {
        let (metadata, message, extensions) = self.read_by_tonic(response)?.into_parts();
        let message = M::decode(message).map_err(|error| Status::internal(error.to_string()))?;
        Ok(tonic::Response::from_parts(metadata, message, extensions))
    }

    /// The response with its message encoded. A function of its own, so that tonic's client is compiled once.
    fn read_by_tonic(&self, response: http::Response<Body>) -> Result<tonic::Response<Bytes>, Status> {
        let mut grpc = self.tonic(Canned::new(response));
        let call = grpc.unary(tonic::Request::new(Bytes::new()), Canned::path(), RawCodec);
        now(call).map(|mut response| {
            response.metadata_mut().remove(Status::GRPC_STATUS.as_str());
            response
        })
    }

    /// The messages of a response as tonic reads them.
    pub(crate) fn open_by_tonic<M: Message + Default + Send + Sync + 'static>(
        &self,
        response: http::Response<Body>,
    ) -> Result<tonic::Response<Streaming<Measured<M>>>, Status> {
        let mut grpc = self.tonic(Canned::new(response));
        let codec = MeasuringCodec(ProstCodec::<(), M>::default());
        now(grpc.server_streaming(tonic::Request::new(()), Canned::path(), codec))
    }
}

fn nothing_sent() -> Status {
    Status::internal("the request was not written")
}

thread_local! {
    /// Where short messages are written, one after the other.
    static PAGE: RefCell<BytesMut> = RefCell::new(BytesMut::new());
}

/// Writes a frame of `length` bytes.
///
/// Short ones share a page with their neighbours, which is written again once all of them are gone. A call
/// that waits for another attempt moves off it (see `ReplayableRequest::shrink`).
fn frame<E>(length: usize, write: impl FnOnce(&mut BytesMut) -> Result<(), E>) -> Result<Bytes, E> {
    const PAGE_LENGTH: usize = 4 * 1024;
    const LONGEST: usize = PAGE_LENGTH / 8;
    if length > LONGEST {
        let mut buffer = BytesMut::with_capacity(length);
        write(&mut buffer)?;
        return Ok(buffer.freeze());
    }
    // CapturingService, not borrowed: encoding is user code, and may itself encode another message.
    let mut page = PAGE.take();
    if page.capacity() < length {
        page.reserve(length.max(PAGE_LENGTH));
    }
    let written = write(&mut page);
    let frame = page.split().freeze();
    PAGE.set(page);
    written.map(|()| frame)
}

/// The metadata of a response: its headers and trailers, without the status itself, which is OK. In most cases the trailers
/// have nothing else, and to put it in would cost a tenth of the call (bench `speed`, instructions).
#[inline]
pub(crate) fn metadata(mut headers: http::HeaderMap, tail: Remainder) -> MetadataMap {
    if let Remainder::Trailers(trailers) = tail
        && trailers.len() > 1
    {
        headers.extend(trailers);
    }
    if headers.keys().any(|name| *name == Status::GRPC_STATUS) {
        headers.remove(Status::GRPC_STATUS);
    }
    MetadataMap::from_headers(headers)
}

/// A service that keeps the request that it is sent.
#[derive(Debug, Clone, Default)]
struct CapturingService {
    request: Arc<Locked<Option<http::Request<Body>>>>,
}

impl Service<http::Request<Body>> for CapturingService {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = std::future::Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        *self.request.lock() = Some(request);
        pending()
    }
}
