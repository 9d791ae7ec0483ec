//! Spans and events for `tracing`.

mod operation_span;
mod tracing_observer;

pub use tracing_observer::TracingObserver;
