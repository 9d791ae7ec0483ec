//! Connections that retries can stand on: a service in place of tonic's channel, for every gRPC client.
//!
//! [`Connection`] says what it does. The page [Connections](https://tonic-gax.github.io/tonic-gax/connecting.html) of the guide has the
//! numbers that work, and what other clients can set.

mod builder;
mod call;
mod endpoint;
mod error;
mod guarded;
mod io;
mod pool;
mod resolver;
mod service;
mod settings;
mod wait;

pub use builder::ConnectionBuilder;
pub use call::ConnectionFuture;
pub use error::ConnectionError;
#[cfg(feature = "_tls")]
pub use io::ClientTls;
pub use resolver::{Address, AddressList, ResolveFuture, Resolver, TargetError};
pub use service::Connection;
pub use settings::{ConnectBackoff, Ejection, Http2, Picker};
