//! One call over a connection.

mod body;
mod future;

pub use future::ConnectionFuture;
