//! Messages of a stream that resumes, by prost.

use crate::client::codec::Codec;
use crate::grpc::{Measured, StreamCodec};
use bytes::Bytes;
use prost::Message;
use std::marker::PhantomData;
use tonic::body::Body;
use tonic::{Response, Status, Streaming};

/// Writes and reads the messages of a method as its client is set to.
pub(in crate::client) struct ProstStream<Q, M> {
    codec: Codec,
    messages: PhantomData<fn(Q) -> M>,
}

impl<Q, M> ProstStream<Q, M> {
    pub(in crate::client) fn new(codec: Codec) -> Self {
        Self { codec, messages: PhantomData }
    }
}

impl<Q: Message, M: Message + Default + Send + Sync + 'static> StreamCodec for ProstStream<Q, M> {
    type Request = Q;
    type Response = M;

    /// It is not compressed, which gRPC leaves to each message.
    fn encode(&self, request: &Q) -> Result<Bytes, Status> {
        self.codec.encode(request)
    }

    fn open(&self, response: http::Response<Body>) -> Result<Response<Streaming<Measured<M>>>, Status> {
        self.codec.open_by_tonic(response)
    }
}
