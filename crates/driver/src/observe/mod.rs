//! Observers, which a program installs to be notified of its operations while they run.
//!
//! An [`OperationObserver`] is installed by [`OperationOptions::observer`](crate::OperationOptions::observer), which layers, the
//! settings of generated clients and [`Retryer`](crate::Retryer) take. It is notified of operations over gRPC and HTTP and of closures.
//! `TracingObserver` (feature `tracing`) creates spans and events, and `OtelMetrics` (feature `otel`) and
//! `FacadeMetrics` (feature `metrics`) record metrics.

#[cfg(feature = "metrics")]
mod facade;
#[cfg(any(feature = "otel", feature = "metrics"))]
mod measure;
#[cfg(any(feature = "otel", feature = "metrics"))]
mod metric;
#[cfg(any(feature = "otel", feature = "metrics"))]
mod metric_names;
#[cfg(feature = "otel")]
mod otel;
#[cfg(feature = "tracing")]
mod spans;

#[cfg(feature = "batching")]
pub use crate::operation::BatchInfo;
pub use crate::operation::{
    AttemptTransfer, Event, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, Peer, Retry,
    Transport, WireMessage,
};
pub use crate::operation::{ConnectionChange, ConnectionEvent, LostReason};
#[cfg(feature = "metrics")]
pub use facade::FacadeMetrics;
pub use gax_retry::{AttemptKind, ServerDelay};
#[cfg(any(feature = "otel", feature = "metrics"))]
pub use metric::COUNT_BUCKETS;
#[cfg(any(feature = "otel", feature = "metrics"))]
pub use metric::{LATENCY_BUCKETS, RETRY_BUCKETS, SIZE_BUCKETS};
#[cfg(any(feature = "otel", feature = "metrics"))]
pub use metric_names::MetricNames;
#[cfg(feature = "otel")]
pub use otel::OtelMetrics;
#[cfg(feature = "tracing")]
pub use spans::TracingObserver;
