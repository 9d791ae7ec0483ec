//! Spans and events for `tracing`.

mod operation_span;
mod sentence;
mod span_options;
mod tracing_observer;

pub use tracing_observer::TracingObserver;
