//! An HTTP/1.1 peer that follows a script.

mod arrival;
mod connection;
mod message;
mod peer;
mod reply;
mod script;

pub use arrival::HttpArrival;
pub use peer::HttpPeer;
pub use reply::{HttpChange, HttpReply};
pub use script::{HttpScript, TEST_ID};
