//! Connections over memory, a proxy with faults, and peers that misbehave on the wire.

mod acceptor;
mod connection_fault;
mod fault_proxy;
mod frames;
#[cfg(feature = "http")]
mod http;
mod link;
mod pipes;
mod raw_frame;
mod raw_server;
mod replies;
#[cfg(feature = "connection")]
mod resolver;
mod token_endpoint;

pub(crate) use acceptor::{Acceptor, Stream};
pub use connection_fault::{ConnectionFault, Direction, When};
pub use fault_proxy::FaultProxy;
pub(crate) use frames::{GOAWAY, frame, goaway};
#[cfg(feature = "http")]
pub use http::{HttpArrival, HttpChange, HttpPeer, HttpReply, HttpScript, TEST_ID};
pub(crate) use pipes::wait;
pub use pipes::{Pipe, Pipes, pipes};
pub use raw_frame::RawFrame;
pub use raw_server::{RawRequest, RawServer};
#[cfg(feature = "connection")]
pub use resolver::{Resolution, ScriptedResolver};
pub use token_endpoint::{TokenEndpoint, TokenReply};
