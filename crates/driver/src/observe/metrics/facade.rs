//! Metrics by the facade `metrics`.

use crate::observe::metrics::measure::{Attribute, Instruments, Measure, observe_by_measure};
use crate::observe::metrics::metric::{
    BATCHES, BYTES, CONNECTIONS, GAUGES, GAX_JAVA_COUNTERS, GAX_JAVA_HISTOGRAMS, GRPC, MILLISECONDS, Metric,
    OTHERS, RECEIVED, RPC_DURATION, SECONDS, SENT,
};
use crate::observe::metrics::metric_names::MetricNames;
use crate::observe::{AttemptTransfer, OperationInfo, OperationSummary};
use gax_retry::{Attempt, StartedAttempt, StopReason};
use metrics::{Key, Label, Level, Metadata, Unit, with_recorder};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Measures operations and attempts by the facade [`metrics`], whose recorder the program installs.
///
/// [`LATENCY_BUCKETS`](super::LATENCY_BUCKETS), [`SIZE_BUCKETS`](super::SIZE_BUCKETS) and
/// [`RETRY_BUCKETS`](super::RETRY_BUCKETS) are the buckets that gRPC's metrics have; they are the recorder's to set.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use gax_driver::observe::{FacadeMetrics, MetricNames};
/// use gax_driver::{Code, OperationOptions, RetrySettings, Retryer};
///
/// let metrics = FacadeMetrics::new(MetricNames::new().target("dns:///asset.example.com"));
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let retryer = Retryer::new(&settings, [Code::Unavailable])
///     .options(OperationOptions::new().observer(Arc::new(metrics)));
/// # drop(retryer);
/// # Ok::<(), gax_driver::SettingsError>(())
/// ```
pub struct FacadeMetrics {
    measure: Measure<Facade>,
}

impl FacadeMetrics {
    /// Metrics by these names. The recorder that is installed by now gets their descriptions.
    #[must_use]
    pub fn new(names: MetricNames) -> Self {
        with_recorder(|recorder| {
            let prefix = names.gax_java_prefix.as_deref();
            let describe = |counters: &[&'static Metric], histograms: &[&'static Metric]| {
                for metric in counters {
                    let name = metric.full_name(prefix).into();
                    recorder.describe_counter(name, Some(Unit::Count), metric.description.into());
                }
                for metric in histograms {
                    let name = metric.full_name(prefix).into();
                    recorder.describe_histogram(name, Some(unit(metric)), metric.description.into());
                }
            };
            for metrics in [&GRPC, &OTHERS] {
                describe(&metrics.counters(), &metrics.histograms());
            }
            describe(&[], &[&RPC_DURATION, &SENT, &RECEIVED]);
            describe(&[], &BATCHES);
            describe(&CONNECTIONS, &[]);
            if prefix.is_some() {
                describe(&GAX_JAVA_COUNTERS, &GAX_JAVA_HISTOGRAMS);
            }
            for gauge in GAUGES {
                recorder.describe_gauge(gauge.name.into(), Some(Unit::Count), gauge.description.into());
            }
        });
        let instruments = Facade { prefix: names.gax_java_prefix.clone() };
        Self { measure: Measure { names, instruments } }
    }
}

impl fmt::Debug for FacadeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FacadeMetrics").field("names", &self.measure.names).finish()
    }
}

struct Facade {
    /// Of gax-java's metrics.
    prefix: Option<Cow<'static, str>>,
}

impl Facade {
    fn key(&self, metric: &Metric, attributes: &[Attribute]) -> Key {
        let labels = attributes.iter().map(|(name, value)| Label::new(*name, value.clone().into_owned()));
        Key::from_parts(metric.full_name(self.prefix.as_deref()), labels.collect::<Vec<_>>())
    }
}

static METADATA: Metadata<'static> = Metadata::new("tonic_gax", Level::INFO, Some("tonic_gax"));

fn unit(metric: &Metric) -> Unit {
    match metric.unit {
        SECONDS => Unit::Seconds,
        MILLISECONDS => Unit::Milliseconds,
        BYTES => Unit::Bytes,
        _ => Unit::Count,
    }
}

impl Instruments for Facade {
    fn count(&self, metric: &'static Metric, attributes: &[Attribute]) {
        let key = self.key(metric, attributes);
        with_recorder(|recorder| recorder.register_counter(&key, &METADATA).increment(1));
    }

    fn record(&self, metric: &'static Metric, value: f64, attributes: &[Attribute]) {
        let key = self.key(metric, attributes);
        with_recorder(|recorder| recorder.register_histogram(&key, &METADATA).record(value));
    }

    fn set(&self, gauge: &'static Metric, value: f64, attributes: &[Attribute]) {
        let key = self.key(gauge, attributes);
        with_recorder(|recorder| recorder.register_gauge(&key, &METADATA).set(value));
    }
}

observe_by_measure!(FacadeMetrics);
