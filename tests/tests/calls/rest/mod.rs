//! Generated clients over HTTP and JSON, over a server in memory that parses requests by itself.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by it")]

mod any_messages;
mod bindings;
mod failures;
mod over_sockets;
mod responses;
mod streams;
mod types;
mod whole_calls;
