//! Messages through tonic's client without their types.

use bytes::{Buf as _, BufMut as _, Bytes};
use prost::Message;
use std::any::Any;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// A message of any type.
pub(super) type AnyMessage = Box<dyn Any + Send + Sync>;

/// A codec of messages that are bytes before tonic writes them and have their type after it has read them. With prost's own codec
/// tonic's client would be compiled for the messages of each RPC that a program calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErasedCodec {
    decode: fn(Bytes) -> Result<AnyMessage, Status>,
}

impl ErasedCodec {
    /// A codec of responses of that type.
    pub(super) fn reading<M: Message + Default + Send + Sync + 'static>() -> Self {
        Self {
            decode: |bytes| match M::decode(bytes) {
                Ok(message) => Ok(Box::new(message)),
                Err(error) => Err(Status::internal(error.to_string())),
            },
        }
    }
}

impl Codec for ErasedCodec {
    type Encode = Bytes;
    type Decode = AnyMessage;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for ErasedCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for ErasedCodec {
    type Item = AnyMessage;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<AnyMessage>, Status> {
        let length = source.remaining();
        (self.decode)(source.copy_to_bytes(length)).map(Some)
    }
}
