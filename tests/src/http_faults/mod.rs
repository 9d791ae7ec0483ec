//! An HTTP/1.1 server that follows a script, over memory or a socket, byte by byte where a library would
//! not misbehave.

mod act;
mod arrival;
mod connection;
mod connector;
mod server;

pub use act::{HttpAct, HttpScript, TEST_ID};
pub use arrival::HttpArrival;
pub(crate) use connection::serve;
pub use connector::MemoryConnector;
pub use server::FaultServer;
