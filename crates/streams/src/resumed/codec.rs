//! Messages of a stream, to bytes and back.

use super::body::frame;
use crate::codec::{Canned, RawCodec, now};
use bytes::{Buf as _, Bytes, BytesMut};
use gax_driver::__private::PREFIX;
use gax_wire::__private::is_one_message;
use http::{HeaderMap, HeaderName};
use tonic::body::Body;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, Streaming};
use tonic::{Response, Status};
use tonic_gax::__private::MethodConfig;
use tonic_gax::__private::received::value;

/// Writes the requests of a stream, and reads its messages.
pub trait StreamCodec {
    type Request;
    type Response: Send + 'static;

    /// The request with its prefix.
    ///
    /// # Errors
    ///
    /// It is longer than a client may send.
    fn encode(&self, request: Self::Request) -> Result<Bytes, Status>;

    /// Returns whether the messages of a response with that head can be read at all.
    fn can_read(&self, head: &HeaderMap) -> bool {
        let _ = head;
        true
    }

    /// The longest message that is taken apart from the rest of its response. From a longer one on the response is passed on as
    /// it arrives.
    fn max_message(&self, config: &MethodConfig) -> usize {
        let _ = config;
        usize::MAX
    }

    /// The messages of a response.
    ///
    /// # Errors
    ///
    /// It is compressed as nobody has allowed it.
    fn open(
        &self,
        response: http::Response<Body>,
    ) -> Result<Response<Streaming<Measured<Self::Response>>>, Status>;
}

/// A message, and how many bytes it had.
#[derive(Debug)]
pub struct Measured<M> {
    pub message: M,
    pub size: usize,
}

/// Another codec, whose decoder says how long messages are.
#[derive(Debug)]
pub struct MeasuringCodec<C>(pub C);

/// Another decoder, which says how long messages are.
#[derive(Debug)]
pub struct MeasuringDecoder<D>(D);

impl<C: Codec> Codec for MeasuringCodec<C> {
    type Encode = C::Encode;
    type Decode = Measured<C::Decode>;
    type Encoder = C::Encoder;
    type Decoder = MeasuringDecoder<C::Decoder>;

    fn encoder(&mut self) -> Self::Encoder {
        self.0.encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        MeasuringDecoder(self.0.decoder())
    }
}

impl<D: Decoder> Decoder for MeasuringDecoder<D> {
    type Item = Measured<D::Item>;
    type Error = D::Error;

    #[inline]
    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Self::Error> {
        let size = source.remaining();
        Ok(self.0.decode(source)?.map(|message| Measured { message, size }))
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}

/// How messages are compressed.
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

/// Messages as they are on the wire, without their prefixes.
#[derive(Debug)]
pub(crate) struct BytesCodec;

impl BytesCodec {
    /// The message of a request of one message that is not compressed.
    pub(crate) fn decoded(frame: &Bytes) -> Option<Bytes> {
        let is_plain = frame.first() == Some(&0) && is_one_message(frame);
        is_plain.then(|| frame.slice(PREFIX..))
    }
}

impl StreamCodec for BytesCodec {
    type Request = Bytes;
    type Response = Bytes;

    fn encode(&self, request: Bytes) -> Result<Bytes, Status> {
        frame(&request, &mut BytesMut::new())
    }

    fn can_read(&self, head: &HeaderMap) -> bool {
        value(head, &ENCODING).is_none_or(|encoding| encoding == "identity")
    }

    fn max_message(&self, config: &MethodConfig) -> usize {
        config.max_response_buffer
    }

    fn open(&self, response: http::Response<Body>) -> Result<Response<Streaming<Measured<Bytes>>>, Status> {
        // Longer messages than the buffer holds don't come here, and the client has a separate limit.
        let mut grpc = tonic::client::Grpc::new(Canned::new(response)).max_decoding_message_size(usize::MAX);
        now(grpc.server_streaming(
            tonic::Request::new(Bytes::new()),
            Canned::path(),
            MeasuringCodec(RawCodec),
        ))
    }
}
