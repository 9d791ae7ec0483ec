//! Metrics by the API of OpenTelemetry.

use crate::observe::metrics::measure::{Attribute, Instruments, Measure, observe_by_measure};
use crate::observe::metrics::metric::{
    BATCHES, CONNECTIONS, GAUGES, GAX_JAVA_COUNTERS, GAX_JAVA_HISTOGRAMS, GRPC, Metric, OTHERS, RECEIVED,
    RPC_DURATION, SENT,
};
use crate::observe::metrics::metric_names::MetricNames;
use crate::observe::{AttemptTransfer, OperationInfo, OperationSummary};
use gax_retry::{Attempt, StartedAttempt, StopReason};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// Measures operations and attempts by OpenTelemetry's API. The meter is the program's: the global one is never taken.
///
/// Histograms advise the buckets of gRFCs A66 and A96: [`LATENCY_BUCKETS`](super::LATENCY_BUCKETS),
/// [`SIZE_BUCKETS`](super::SIZE_BUCKETS) and [`RETRY_BUCKETS`](super::RETRY_BUCKETS).
///
/// # Examples
///
/// ```
/// use opentelemetry::metrics::MeterProvider;
/// use std::sync::Arc;
/// use gax_driver::observe::{MetricNames, OtelMetrics};
/// use gax_driver::{Code, OperationOptions, RetrySettings, Retryer};
///
/// # fn example(provider: &impl MeterProvider) -> Result<(), gax_driver::SettingsError> {
/// let metrics = OtelMetrics::new(&provider.meter("tonic-gax"), MetricNames::new());
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let retryer = Retryer::new(&settings, [Code::Unavailable])
///     .options(OperationOptions::new().observer(Arc::new(metrics)));
/// # drop(retryer);
/// # Ok(())
/// # }
/// ```
pub struct OtelMetrics {
    measure: Measure<Meters>,
}

impl OtelMetrics {
    /// Metrics of that meter, by these names.
    #[must_use]
    pub fn new(meter: &Meter, names: MetricNames) -> Self {
        let mut meters =
            Meters { counters: HashMap::new(), histograms: HashMap::new(), gauges: HashMap::new() };
        for metrics in [&GRPC, &OTHERS] {
            meters.add(meter, None, &metrics.counters(), &metrics.histograms());
        }
        if names.rpc_conventions {
            meters.add(meter, None, &[], &[&RPC_DURATION]);
        }
        if names.message_sizes {
            meters.add(meter, None, &[], &[&SENT, &RECEIVED]);
        }
        meters.add(meter, None, &[], &BATCHES);
        meters.add(meter, None, &CONNECTIONS, &[]);
        if let Some(prefix) = &names.gax_java_prefix {
            meters.add(meter, Some(prefix), &GAX_JAVA_COUNTERS, &GAX_JAVA_HISTOGRAMS);
        }
        for gauge in GAUGES {
            let builder = meter.f64_gauge(gauge.name).with_unit(gauge.unit);
            meters.gauges.insert(gauge.name, builder.with_description(gauge.description).build());
        }
        Self { measure: Measure { names, instruments: meters } }
    }
}

impl fmt::Debug for OtelMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtelMetrics").field("names", &self.measure.names).finish()
    }
}

/// An instrument for each name.
struct Meters {
    counters: HashMap<&'static str, Counter<u64>>,
    histograms: HashMap<&'static str, Histogram<f64>>,
    gauges: HashMap<&'static str, Gauge<f64>>,
}

impl Meters {
    fn add(
        &mut self,
        meter: &Meter,
        prefix: Option<&str>,
        counters: &[&'static Metric],
        histograms: &[&'static Metric],
    ) {
        for metric in counters {
            let counter = || {
                let builder = meter.u64_counter(metric.full_name(prefix));
                builder.with_unit(metric.unit).with_description(metric.description).build()
            };
            self.counters.entry(metric.name).or_insert_with(counter);
        }
        for metric in histograms {
            let mut builder = meter.f64_histogram(metric.full_name(prefix));
            if let Some(buckets) = metric.buckets() {
                builder = builder.with_boundaries(buckets.to_vec());
            }
            let histogram = builder.with_unit(metric.unit).with_description(metric.description).build();
            self.histograms.insert(metric.name, histogram);
        }
    }
}

fn pairs(attributes: &[Attribute]) -> Vec<KeyValue> {
    attributes.iter().map(|(name, value)| KeyValue::new(*name, value.clone())).collect()
}

impl Instruments for Meters {
    fn count(&self, metric: &'static Metric, attributes: &[Attribute]) {
        if let Some(counter) = self.counters.get(metric.name) {
            counter.add(1, &pairs(attributes));
        }
    }

    fn record(&self, metric: &'static Metric, value: f64, attributes: &[Attribute]) {
        if let Some(histogram) = self.histograms.get(metric.name) {
            histogram.record(value, &pairs(attributes));
        }
    }

    fn set(&self, gauge: &'static Metric, value: f64, attributes: &[Attribute]) {
        if let Some(gauge) = self.gauges.get(gauge.name) {
            gauge.record(value, &pairs(attributes));
        }
    }
}

observe_by_measure!(OtelMetrics);
