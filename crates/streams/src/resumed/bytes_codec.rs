//! Messages of a stream whose types the layer doesn't know.

use super::body::frame;
use super::codec::{Measured, MeasuringCodec, StreamCodec};
use crate::codec::{Canned, RawCodec, now};
use bytes::{Bytes, BytesMut};
use gax_driver::__private::PREFIX;
use gax_wire::__private::is_one_message;
use http::{HeaderMap, HeaderName};
use tonic::body::Body;
use tonic::codec::Streaming;
use tonic::{Response, Status};
use tonic_gax::__private::MethodConfig;
use tonic_gax::__private::received::value;

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
