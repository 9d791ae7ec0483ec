//! The base that generated clients stand on.

mod codec;
mod connect;
mod connector;
mod core;
mod encoded;
#[cfg(feature = "longrunning")]
mod long_running;
#[cfg(feature = "longrunning")]
pub(crate) mod lro;
mod method;
mod methods;
pub mod paging;
mod streaming;
mod unary;

pub use crate::grpc::Transport;
#[doc(hidden)]
pub use connect::connect_for;
pub use connect::{connect, connect_lazy};
pub use connector::{Connector, ConnectorIo};
#[doc(hidden)]
pub use core::Client;
#[cfg(feature = "tables")]
pub use gax_wire::CloneService;
pub use streaming::{MessageCall, ResponseStream, StreamingCall};
pub use unary::UnaryCall;
