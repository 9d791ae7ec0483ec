//! Connections for retries: a service that replaces tonic's channel, for every gRPC client.
//!
//! See [`Connection`]. The page [Connections](https://tonic-gax.github.io/tonic-gax/connecting.html) of the guide has recommended
//! values, and the settings of other clients.

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
