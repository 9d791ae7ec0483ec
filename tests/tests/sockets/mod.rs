//! Real sockets and a real clock, and handshakes that fail.

mod connecting;
mod connections;
mod envoy;
mod servers;
mod soak;
mod tls;
mod watch;
