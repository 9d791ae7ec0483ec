//! The bytes of a connection: how they are carried, and what is seen of them.

#[cfg(feature = "_tls")]
mod client_tls;
mod custom;
mod dialer;
mod proxy;
mod traffic;
mod tunnel;
mod watched_io;

#[cfg(feature = "_tls")]
pub use client_tls::ClientTls;
#[cfg(feature = "_tls")]
pub(super) use client_tls::Encryption;
pub(super) use custom::{BoxIo, Custom};
pub(super) use dialer::{Dialer, SocketOptions, late};
pub(super) use proxy::ProxyRule;
pub(super) use traffic::Traffic;
pub(super) use tunnel::{ProxyChoice, Tunnel};
pub(super) use watched_io::WatchedIo;
