//! One call over a connection.

mod body;
mod future;

pub use body::ConnectionBody;
pub use future::ConnectionFuture;
