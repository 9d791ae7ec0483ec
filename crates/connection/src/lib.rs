#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
#[cfg(test)]
mod tests;
mod wait;

pub use builder::ConnectionBuilder;
pub use call::ConnectionFuture;
pub use error::ConnectionError;
#[cfg(feature = "_tls")]
pub use io::ClientTls;
pub use resolver::{Address, AddressList, ResolveFuture, Resolver, TargetError};
pub use service::Connection;
pub use settings::{ConnectBackoff, Ejection, Http2, Picker};
