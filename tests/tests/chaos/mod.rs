//! Random calls against random servers: whatever a server does and whenever, every call keeps the promises that
//! `tonic_gax_tests::chaos` has the rules for.
//!
//! A seed that fails says how to see it again. `GAX_CHAOS_SEEDS=20000 cargo test -p tonic-gax-tests chaos::` runs more
//! of them.
mod batches;
mod endpoints;
mod footprint;
mod grpc;
mod http;
mod measured;
mod messages;
mod sockets;
mod streams;
mod transfers;
