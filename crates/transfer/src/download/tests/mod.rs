//! Downloads from a server in memory, which breaks off, refuses and replaces its object.

mod ends;
mod ranges;
mod responses;
mod server;
mod state;
