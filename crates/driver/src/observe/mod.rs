//! Observers, which a program installs to be notified of its operations while they run.
//!
//! An [`OperationObserver`] is installed by [`OperationOptions::observer`](crate::OperationOptions::observer), which layers, the
//! settings of generated clients and [`Retryer`](crate::Retryer) take. It is notified of operations over gRPC and HTTP and of closures.
//! `TracingObserver` (feature `tracing`) creates spans and events, and `OtelMetrics` (feature `otel`) and
//! `FacadeMetrics` (feature `metrics`) record metrics.

#[cfg(any(feature = "otel", feature = "metrics"))]
mod metrics;
#[cfg(feature = "tracing")]
mod spans;

#[cfg(feature = "batching")]
pub use crate::operation::BatchInfo;
pub use crate::operation::{
    AttemptTransfer, Event, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, Peer, Retry,
    Transport, WireMessage,
};
pub use crate::operation::{ConnectionChange, ConnectionEvent, LostReason};
pub use gax_retry::{AttemptKind, ServerDelay};
#[cfg(feature = "metrics")]
pub use metrics::FacadeMetrics;
#[cfg(feature = "otel")]
pub use metrics::OtelMetrics;
#[cfg(any(feature = "otel", feature = "metrics"))]
pub use metrics::{COUNT_BUCKETS, LATENCY_BUCKETS, MetricNames, RETRY_BUCKETS, SIZE_BUCKETS};
#[cfg(feature = "tracing")]
pub use spans::TracingObserver;
