//! Connections to servers in memory, in virtual time.

mod calls;
mod connecting;
mod endpoints;
mod health;
mod losses;
pub(crate) mod network;
mod pings;
mod runtimes;
mod silence;
mod streams;
