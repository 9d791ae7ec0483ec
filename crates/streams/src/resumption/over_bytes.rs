//! Strategies over messages whose types the layer doesn't know.

use crate::resumption::strategy::{BoxResumption, Processed, Resume, StreamResumption};
use bytes::Bytes;
use prost::Message;
use tonic::Status;

/// Decodes messages for the strategy, and encodes what it has made.
pub(super) struct OverBytes<Q, M> {
    strategy: BoxResumption<Q, M>,
}

impl<Q, M> OverBytes<Q, M> {
    pub(super) fn new(strategy: BoxResumption<Q, M>) -> Self {
        Self { strategy }
    }
}

impl<Q: Message, M: Message + Default> StreamResumption for OverBytes<Q, M> {
    type Request = Bytes;
    type Response = Bytes;

    fn process(&mut self, bytes: &mut Bytes) -> Processed {
        // One that is no such message goes to the client, which says so.
        let Ok(mut message) = M::decode(bytes.clone()) else { return Processed::Deliver };
        let processed = self.strategy.process(&mut message);
        if processed == Processed::Replaced {
            *bytes = message.encode_to_vec().into();
        }
        processed
    }

    fn resume(&mut self, failure: &Status) -> Resume<Bytes> {
        let encoded = |request: Q| request.encode_to_vec().into();
        match self.strategy.resume(failure) {
            Resume::Again(request) => Resume::Again(encoded(request)),
            Resume::Anew(request) => Resume::Anew(encoded(request)),
            Resume::Stop => Resume::Stop,
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        self.strategy.is_retryable(failure)
    }
}
