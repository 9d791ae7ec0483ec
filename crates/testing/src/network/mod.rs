//! Connections over memory, a proxy with faults, and peers that misbehave on the wire.

mod connection_fault;
mod fault_proxy;
mod frames;
mod http;
mod link;
mod link_state;
mod pipe;
mod pipes;
mod raw_frame;
mod raw_server;
mod resolver;
mod token_endpoint;

pub use connection_fault::{ConnectionFault, Direction, When};
pub use fault_proxy::FaultProxy;
pub use http::{HttpArrival, HttpChange, HttpPeer, HttpReply, HttpScript, TEST_ID};
pub use pipe::Pipe;
pub(crate) use pipes::wait;
pub use pipes::{Pipes, pipes};
pub use raw_frame::RawFrame;
pub use raw_server::{RawRequest, RawServer};
pub use resolver::{Resolution, ScriptedResolver};
pub use token_endpoint::{TokenEndpoint, TokenReply};
