//! What generated clients stand on.

mod codec;
mod connect;
mod core;
mod encoded;
mod method;
mod streaming;
mod unary;

pub use crate::grpc::Transport;
pub use connect::connect;
pub use core::Client;
pub use streaming::{MessageCall, StreamingCall};
pub use unary::UnaryCall;
