//! The bytes of a connection: how they are carried, and what is seen of them.

#[cfg(feature = "_tls")]
mod client_tls;
mod dialer;
mod proxy;
mod traffic;
mod watched_io;

#[cfg(feature = "_tls")]
pub use client_tls::ClientTls;
#[cfg(feature = "_tls")]
pub(super) use client_tls::Encryption;
pub(super) use dialer::{BoxIo, Custom, Dialer, SocketOptions, custom, late};
pub(super) use proxy::{ProxyChoice, Tunnel};
pub(super) use traffic::Traffic;
pub(super) use watched_io::WatchedIo;
