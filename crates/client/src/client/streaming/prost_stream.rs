//! Messages of a stream that resumes, by prost.

use crate::client::codec::Codec;
use bytes::Bytes;
use gax_streams::__private::{Measured, StreamCodec};
use http::uri::PathAndQuery;
use prost::Message;
use std::marker::PhantomData;
use tonic::body::Body;
use tonic::{Request, Response, Status, Streaming};

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

impl<Q, M> StreamCodec for ProstStream<Q, M>
where
    Q: Message + Send + Sync + 'static,
    M: Message + Default + Send + Sync + 'static,
{
    type Request = Q;
    type Response = M;

    fn encode(&self, request: Q) -> Result<Bytes, Status> {
        if self.codec.is_plain() {
            return self.codec.encode(&request);
        }
        // The headers, which name the compression, are those of the first request.
        let path = PathAndQuery::from_static("/");
        let request = Request::new(Bytes::from(request.encode_to_vec()));
        self.codec.encode_by_tonic(request, path).map(|(_, message)| message)
    }

    fn open(&self, response: http::Response<Body>) -> Result<Response<Streaming<Measured<M>>>, Status> {
        self.codec.open_by_tonic(response)
    }
}
