//! Streams of responses that are taken up where they broke off.

mod body;
mod bytes_codec;
mod codec;
mod connection;
mod message_source;
mod protocol;
mod stream;
mod tapped_body;

pub(crate) use body::ResumedBody;
pub(crate) use bytes_codec::BytesCodec;
pub(crate) use codec::{Measured, MeasuringCodec, StreamCodec};
pub(crate) use message_source::MessageSource;
pub(crate) use protocol::ResumedProtocol;
pub(crate) use stream::ResumedCall;
