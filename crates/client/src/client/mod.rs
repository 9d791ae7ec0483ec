//! The base that generated clients stand on.

mod codec;
pub(crate) mod connect;
mod connector;
pub(crate) mod core;
mod encoded;
#[cfg(feature = "longrunning")]
mod long_running;
#[cfg(feature = "longrunning")]
pub(crate) mod lro;
mod methods;
pub mod paging;
mod streaming;
mod unary;

pub use connect::{connect, connect_lazy};
pub use connector::{Connector, ConnectorIo};
pub use streaming::{ResponseStream, StreamingCall};
pub use unary::UnaryCall;
