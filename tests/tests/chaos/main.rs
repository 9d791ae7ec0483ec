//! Random calls against random servers: whatever a server does and whenever, every call keeps the promises that
//! `tonic_gax_tests::chaos` has the rules for.
//!
//! A seed that fails says how to see it again. `GAX_CHAOS_SEEDS=20000 cargo test -p tonic-gax-tests --test chaos` runs more
//! of them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod footprint;
mod grpc;
mod http;
mod measured;
mod messages;
mod sockets;

use tokio::runtime::{Builder, Runtime};

/// A runtime whose clock jumps from timer to timer.
fn virtual_time() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}
