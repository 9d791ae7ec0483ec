//! Streams of responses that are taken up where they broke off.

mod body;
mod bytes_codec;
mod codec;
mod connection;
mod idle_timeout;
mod message_source;
mod protocol;
mod stream;
mod stream_report;
mod tapped_body;

pub(crate) use body::ResumedBody;
pub(crate) use bytes_codec::BytesCodec;
pub(crate) use codec::{Measured, MeasuringCodec, StreamCodec};
pub(crate) use idle_timeout::IdleTimeout;
pub(crate) use message_source::MessageSource;
pub(crate) use protocol::ResumedProtocol;
pub(crate) use stream::ResumedCall;
pub use stream_report::StreamReport;
