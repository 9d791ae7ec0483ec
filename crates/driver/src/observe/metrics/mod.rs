//! Metrics of operations, of batches and of connections, by one API or another.

#[cfg(feature = "metrics")]
mod facade;
mod measure;
mod metric;
mod metric_names;
#[cfg(feature = "otel")]
mod otel;

#[cfg(feature = "metrics")]
pub use facade::FacadeMetrics;
pub use metric::{COUNT_BUCKETS, LATENCY_BUCKETS, RETRY_BUCKETS, SIZE_BUCKETS};
pub use metric_names::MetricNames;
#[cfg(feature = "otel")]
pub use otel::OtelMetrics;
