//! Streams of responses that are resumed where they broke off.

mod body;
mod bytes_codec;
mod codec;
mod connection;
mod connections;
mod grpc_connections;
mod idle_timeout;
mod message_source;
mod protocol;
mod shared_source;
mod stream;
mod stream_report;
mod tapped_body;

pub(crate) use body::ResumedBody;
pub(crate) use bytes_codec::BytesCodec;
pub(crate) use codec::{Measured, MeasuringCodec, StreamCodec};
pub(crate) use connections::{Connections, Ending, StrategyOf};
pub(crate) use grpc_connections::GrpcConnections;
pub(crate) use idle_timeout::IdleTimeout;
pub(crate) use message_source::MessageSource;
pub(crate) use protocol::StreamProtocol;
pub(crate) use shared_source::SharedSource;
pub(crate) use stream::MessageStream;
pub(crate) use stream::StreamCall;
pub use stream_report::StreamReport;
