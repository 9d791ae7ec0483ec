//! An HTTP/1.1 peer that follows a script.

mod connection;
mod message;
mod peer;
mod script;

pub use peer::HttpPeer;
pub use script::{HttpArrival, HttpChange, HttpReply, HttpScript, TEST_ID};
