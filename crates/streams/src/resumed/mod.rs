//! Streams of responses that are resumed where they broke off.
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
mod taken;
mod tapped_body;

pub(crate) use body::ResumedBody;
pub(crate) use bytes_codec::BytesCodec;
pub use codec::{Measured, MeasuringCodec, StreamCodec};
pub(crate) use connections::{Connections, Ending, StrategyOf};
pub use grpc_connections::GrpcConnections;
pub(crate) use idle_timeout::IdleTimeout;
pub use message_source::MessageSource;
pub use protocol::StreamProtocol;
pub use shared_source::SharedSource;
pub(crate) use stream::MessageStream;
pub use stream::StreamCall;
pub use stream_report::StreamReport;
pub use taken::Streams;
