//! What is measured of operations.

use super::metric::{BUDGET, GRPC, Metric, Metrics, OTHERS, RPC_DURATION, VERSION};
use super::{OperationInfo, OperationSummary, Transport};
use gax_retry::{Attempt, AttemptKind, Code, StartedAttempt};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A name and a value.
pub(super) type Attribute = (&'static str, Cow<'static, str>);

/// Where measurements go.
pub(super) trait Instruments: Send + Sync + 'static {
    fn count(&self, metric: &'static Metric, attributes: &[Attribute]);

    fn record(&self, metric: &'static Metric, value: f64, attributes: &[Attribute]);

    fn set(&self, gauge: &'static Metric, value: f64, attributes: &[Attribute]);
}

type MethodFilter = dyn Fn(&OperationInfo) -> Option<Cow<'static, str>> + Send + Sync;

/// What metrics call methods and servers, and which optional ones are made.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`target`](Self::target) | the attribute is left out |
/// | [`method_filter`](Self::method_filter) | the method's name if it is [registered](OperationInfo::is_registered), else `other` |
/// | [`attempt_types`](Self::attempt_types) | false |
/// | [`attempt_delays`](Self::attempt_delays) | false |
/// | [`settings_versions`](Self::settings_versions) | false |
/// | [`rpc_conventions`](Self::rpc_conventions) | false |
/// | [`server_address`](Self::server_address) | the attribute is left out |
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a metric or an attribute that is off by default")]
pub struct MetricNames {
    target: Option<Cow<'static, str>>,
    filter: Option<Arc<MethodFilter>>,
    attempt_types: bool,
    attempt_delays: bool,
    settings_versions: bool,
    rpc_conventions: bool,
    server_address: Option<Cow<'static, str>>,
}

impl MetricNames {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The target URI of the channel, such as `dns:///asset.example.com`, for the attribute `grpc.target`: a layer does
    /// not know it.
    #[must_use]
    pub fn target(mut self, target: impl Into<Cow<'static, str>>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Says what a method is called. Each name makes new time series: where it returns `None`, the method is `other`.
    #[must_use]
    pub fn method_filter(
        mut self,
        filter: impl Fn(&OperationInfo) -> Option<Cow<'static, str>> + Send + Sync + 'static,
    ) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// Whether started attempts have the attribute `grpc.attempt_type` (`original`, `retry`, `hedge` or
    /// `transparent_retry`), as a later text of gRFC A96 has it. Transparent retries are counted then as well.
    #[must_use]
    pub fn attempt_types(mut self, are_told: bool) -> Self {
        self.attempt_types = are_told;
        self
    }

    /// Whether the time is measured that attempts wait until the transport takes their requests (gRFC A121).
    #[must_use]
    pub fn attempt_delays(mut self, are_measured: bool) -> Self {
        self.attempt_delays = are_measured;
        self
    }

    /// Whether all metrics of a call have the attribute `gax.settings_version`, where its settings can be
    /// [replaced](crate::live). Each version makes new time series.
    #[must_use]
    pub fn settings_versions(mut self, are_told: bool) -> Self {
        self.settings_versions = are_told;
        self
    }

    /// Whether calls over gRPC are measured by OpenTelemetry's own conventions as well: `rpc.client.call.duration`, with
    /// the same values as `grpc.client.call.duration`.
    #[must_use]
    pub fn rpc_conventions(mut self, are_followed: bool) -> Self {
        self.rpc_conventions = are_followed;
        self
    }

    /// The server's name, for the attribute `server.address` of `rpc.client.call.duration`.
    #[must_use]
    pub fn server_address(mut self, address: impl Into<Cow<'static, str>>) -> Self {
        self.server_address = Some(address.into());
        self
    }

    #[cfg(feature = "otel")]
    pub(super) fn has_rpc_conventions(&self) -> bool {
        self.rpc_conventions
    }

    fn method(&self, operation: &OperationInfo) -> Option<Cow<'static, str>> {
        match &self.filter {
            Some(filter) => filter(operation),
            None => operation.is_registered().then(|| Cow::Owned(operation.full_method().to_owned())),
        }
    }
}

impl fmt::Debug for MetricNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricNames")
            .field("target", &self.target)
            .field("attempt_types", &self.attempt_types)
            .field("attempt_delays", &self.attempt_delays)
            .field("settings_versions", &self.settings_versions)
            .field("rpc_conventions", &self.rpc_conventions)
            .field("server_address", &self.server_address)
            .finish_non_exhaustive()
    }
}

/// Makes measurements of what an observer is told.
pub(super) struct Measure<I> {
    pub(super) names: MetricNames,
    pub(super) instruments: I,
}

impl<I: Instruments> Measure<I> {
    fn metrics(operation: &OperationInfo) -> &'static Metrics {
        match operation.transport() {
            Transport::Grpc => &GRPC,
            _ => &OTHERS,
        }
    }

    fn attributes(&self, operation: &OperationInfo) -> Vec<Attribute> {
        let metrics = Self::metrics(operation);
        let method = self.names.method(operation).unwrap_or(Cow::Borrowed("other"));
        let mut attributes = vec![(metrics.method, method)];
        attributes.extend(self.target(operation));
        if let Some(version) = operation.settings_version().filter(|_| self.names.settings_versions) {
            attributes.push(("gax.settings_version", Cow::Owned(version.to_string())));
        }
        attributes
    }

    fn target(&self, operation: &OperationInfo) -> Option<Attribute> {
        Some((Self::metrics(operation).target, self.names.target.clone()?))
    }

    /// What belongs to a whole client or layer.
    #[expect(clippy::cast_precision_loss, reason = "nobody replaces settings so often")]
    fn levels(&self, operation: &OperationInfo, summary: &OperationSummary) {
        let target = self.target(operation);
        if let Some(left) = summary.retry_budget() {
            self.instruments.set(&BUDGET, left, target.as_slice());
        }
        if let Some(version) = operation.settings_version() {
            self.instruments.set(&VERSION, version as f64, target.as_slice());
        }
    }

    fn by_conventions(&self, operation: &OperationInfo, summary: &OperationSummary) {
        if !self.names.rpc_conventions || operation.transport() != Transport::Grpc {
            return;
        }
        let code = Cow::Borrowed(summary.code().name());
        let mut attributes = vec![
            ("rpc.system.name", Cow::Borrowed("grpc")),
            ("rpc.method", self.names.method(operation).unwrap_or(Cow::Borrowed("_OTHER"))),
            ("rpc.response.status_code", code.clone()),
        ];
        attributes.extend(self.names.server_address.clone().map(|address| ("server.address", address)));
        if summary.code() != Code::Ok {
            attributes.push(("error.type", code));
        }
        self.instruments.record(&RPC_DURATION, summary.elapsed().as_secs_f64(), &attributes);
    }

    pub(super) fn started(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        let metrics = Self::metrics(operation);
        let mut attributes = self.attributes(operation);
        if self.names.attempt_types {
            let kind = match attempt.kind() {
                AttemptKind::Original => "original",
                AttemptKind::Hedge => "hedge",
                AttemptKind::Resend => "transparent_retry",
                _ => "retry",
            };
            attributes.push((metrics.attempt_type, Cow::Borrowed(kind)));
        }
        self.instruments.count(&metrics.attempts, &attributes);
    }

    pub(super) fn sent_again(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        if self.names.attempt_types {
            self.started(operation, attempt);
        }
    }

    pub(super) fn sent(&self, operation: &OperationInfo, waited: Duration) {
        if self.names.attempt_delays {
            let mut attributes = self.attributes(operation);
            attributes.push(("grpc.delay_type", Cow::Borrowed("connecting")));
            let metric = &Self::metrics(operation).attempt_delay;
            self.instruments.record(metric, waited.as_secs_f64(), &attributes);
        }
    }

    pub(super) fn ended(&self, operation: &OperationInfo, attempt: &Attempt) {
        let metrics = Self::metrics(operation);
        let mut attributes = self.attributes(operation);
        attributes.push((metrics.status, Cow::Borrowed(attempt.code().name())));
        let took = attempt.end().saturating_sub(attempt.start()).as_secs_f64();
        self.instruments.record(&metrics.attempt_duration, took, &attributes);
    }

    pub(super) fn closed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        let metrics = Self::metrics(operation);
        let mut attributes = self.attributes(operation);
        self.levels(operation, summary);
        self.by_conventions(operation, summary);
        let counts = [
            (&metrics.retries, summary.retries()),
            (&metrics.transparent_retries, summary.transparent_retries()),
            (&metrics.hedges, summary.hedges()),
        ];
        for (metric, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            self.instruments.record(metric, f64::from(count), &attributes);
        }
        if !summary.retry_delay().is_zero() {
            self.instruments.record(&metrics.retry_delay, summary.retry_delay().as_secs_f64(), &attributes);
        }
        attributes.push((metrics.status, Cow::Borrowed(summary.code().name())));
        self.instruments.record(&metrics.call_duration, summary.elapsed().as_secs_f64(), &attributes);
        if let Some(reason) = summary.stop_reason() {
            attributes.push(("gax.stop_reason", Cow::Borrowed(reason.as_str())));
            self.instruments.count(&metrics.stops, &attributes);
        }
    }
}

/// Makes an observer of a type that has a `measure`.
macro_rules! observe_by_measure {
    ($observer:ty) => {
        impl $crate::observe::OperationObserver for $observer {
            fn operation_succeeded(&self, operation: &OperationInfo, summary: &OperationSummary) {
                self.measure.closed(operation, summary);
            }

            fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {
                self.measure.closed(operation, summary);
            }

            fn operation_cancelled(&self, operation: &OperationInfo, summary: &OperationSummary) {
                self.measure.closed(operation, summary);
            }

            fn attempt_started(&self, operation: &OperationInfo, attempt: StartedAttempt) {
                self.measure.started(operation, attempt);
            }

            fn transparent_retry(&self, operation: &OperationInfo, attempt: StartedAttempt) {
                self.measure.sent_again(operation, attempt);
            }

            fn attempt_sent(&self, operation: &OperationInfo, _: StartedAttempt, waited: Duration) {
                self.measure.sent(operation, waited);
            }

            fn attempt_succeeded(&self, operation: &OperationInfo, attempt: &Attempt) {
                self.measure.ended(operation, attempt);
            }

            fn attempt_failed(&self, operation: &OperationInfo, attempt: &Attempt, _: Option<Duration>) {
                self.measure.ended(operation, attempt);
            }

            fn attempt_failed_retries_exhausted(
                &self,
                operation: &OperationInfo,
                attempt: &Attempt,
                _: StopReason,
            ) {
                self.measure.ended(operation, attempt);
            }

            fn attempt_permanent_failure(&self, operation: &OperationInfo, attempt: &Attempt, _: StopReason) {
                self.measure.ended(operation, attempt);
            }

            fn attempt_cancelled(&self, operation: &OperationInfo, attempt: &Attempt) {
                self.measure.ended(operation, attempt);
            }
        }
    };
}
pub(super) use observe_by_measure;
