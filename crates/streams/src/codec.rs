//! Codecs of messages that are not decoded here.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for the crates of this repository alone"
)]

use bytes::{Buf as _, BufMut as _, Bytes};
use http::uri::PathAndQuery;
use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tower_service::Service;

/// A service that responds once, with a response that is there already.
#[derive(Debug)]
pub struct Canned {
    response: Option<http::Response<Body>>,
}

impl Canned {
    pub fn new(response: http::Response<Body>) -> Self {
        Self { response: Some(response) }
    }

    /// The path of its method, which is not used.
    pub fn path() -> PathAndQuery {
        PathAndQuery::from_static("/")
    }
}

impl Service<http::Request<Body>> for Canned {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        ready(self.response.take().ok_or_else(|| Status::internal("the response was read twice")))
    }
}

/// The result of a call over such a service, whose response is there as far as it is read.
pub fn now<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Status::internal("a collected response did not end")),
    }
}

/// A codec of messages that are bytes. With prost's own codec tonic's client would be compiled for the messages of each RPC that a
/// program calls.
#[derive(Debug)]
pub struct RawCodec;

impl Codec for RawCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        let length = source.remaining();
        Ok(Some(source.copy_to_bytes(length)))
    }
}
