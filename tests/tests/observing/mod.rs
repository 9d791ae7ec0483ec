//! Observers, metrics, spans and text; and the testing kit.

mod batches;
mod connections;
mod escapes;
pub(crate) mod lines;
mod long_running;
mod metrics;
mod observers;
mod panics;
mod short_debug;
mod spans;
mod testing_kit;
mod transfers;
