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
mod codec;
mod connection;
mod connections;
mod grpc_connections;
mod message_source;
mod protocol;
mod stream;
mod taken;

pub(crate) use body::ResumedBody;
pub use body::StreamReport;
pub(crate) use codec::BytesCodec;
pub use codec::{Measured, MeasuringCodec, StreamCodec};
pub(crate) use connections::{Connections, Ending, StrategyOf};
pub use grpc_connections::GrpcConnections;
pub(crate) use message_source::IdleTimeout;
pub use message_source::{MessageSource, SharedSource};
pub use protocol::StreamProtocol;
pub(crate) use stream::MessageStream;
pub use stream::StreamCall;
pub use taken::Streams;
