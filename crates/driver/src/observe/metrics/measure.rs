//! Measurements of operations.

#[cfg(feature = "batching")]
use crate::observe::BatchInfo;
use crate::observe::metrics::metric::{
    ATTEMPT_COUNT, ATTEMPT_LATENCY, BUDGET, CONNECTED, DISCONNECTED, EJECTED, GRPC, Metric, Metrics,
    NOT_CONNECTED, OPERATION_COUNT, OPERATION_LATENCY, OTHERS, RECEIVED, RPC_DURATION, SENT, VERSION,
    WATCHED,
};
#[cfg(feature = "batching")]
use crate::observe::metrics::metric::{BATCH_ELEMENTS, BATCH_SIZE, BATCH_THROTTLED, BATCH_WAIT};
use crate::observe::metrics::metric_names::MetricNames;
use crate::observe::{AttemptTransfer, OperationInfo, OperationSummary};
use crate::observe::{ConnectionChange, ConnectionEvent, LostReason};
use crate::operation::DelayType;
use gax_retry::{Attempt, AttemptKind, Code, StartedAttempt};
use std::borrow::Cow;
use std::time::Duration;

/// A name and a value.
pub(super) type Attribute = (&'static str, Cow<'static, str>);

/// Where measurements go.
pub(super) trait Instruments: Send + Sync + 'static {
    fn count(&self, metric: &'static Metric, attributes: &[Attribute]);

    fn record(&self, metric: &'static Metric, value: f64, attributes: &[Attribute]);

    fn set(&self, gauge: &'static Metric, value: f64, attributes: &[Attribute]);
}

/// Makes measurements of what an observer is notified of.
pub(super) struct Measure<I> {
    pub(super) names: MetricNames,
    pub(super) instruments: I,
}

impl<I: Instruments> Measure<I> {
    fn metrics(operation: &OperationInfo) -> &'static Metrics {
        if operation.transport().is_rpc() { &GRPC } else { &OTHERS }
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

    /// The measurements of a whole client or layer.
    #[expect(clippy::cast_precision_loss, reason = "nobody replaces settings so often")]
    fn levels(&self, operation: &OperationInfo, summary: &OperationSummary) {
        let target = self.target(operation);
        if let Some(left) = summary.retry_budget() {
            self.instruments.set(&BUDGET, left, target.as_slice());
        }
        if let Some(version) = operation.settings_version() {
            self.instruments.set(&VERSION, version as f64, target.as_slice());
        }
        if let Some(is_watched) = operation.settings_are_watched() {
            self.instruments.set(&WATCHED, f64::from(u8::from(is_watched)), target.as_slice());
        }
    }

    fn by_conventions(&self, operation: &OperationInfo, summary: &OperationSummary) {
        if !self.names.rpc_conventions || !operation.transport().is_rpc() {
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

    /// By gax-java's names, if they are wanted.
    fn as_gax_java(
        &self,
        operation: &OperationInfo,
        (count, latency): (&'static Metric, &'static Metric),
        code: Code,
        took: Duration,
    ) {
        if self.names.gax_java_prefix.is_none() {
            return;
        }
        let attributes = [
            ("method", self.gax_java_method(operation)),
            ("status", Cow::Borrowed(code.name())),
            ("language", Cow::Borrowed("Rust")),
            ("version", Cow::Borrowed(env!("CARGO_PKG_VERSION"))),
        ];
        self.instruments.count(count, &attributes);
        self.instruments.record(latency, took.as_secs_f64() * 1000.0, &attributes);
    }

    /// `Service.Method`, as gax-java calls an RPC, unless the program has a separate name for it.
    fn gax_java_method(&self, operation: &OperationInfo) -> Cow<'static, str> {
        let method = self.names.method(operation).unwrap_or(Cow::Borrowed("other"));
        let is_rpc = operation.transport().is_rpc() && *method == *operation.full_method();
        match method.rsplit_once('/').filter(|_| is_rpc) {
            Some((service, name)) => {
                let service = service.rsplit_once('.').map_or(service, |(_, service)| service);
                Cow::Owned(format!("{service}.{name}"))
            }
            None => method,
        }
    }

    pub(super) fn started(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        let metrics = Self::metrics(operation);
        let mut attributes = self.attributes(operation);
        if self.names.attempt_types {
            let kind = match attempt.kind() {
                AttemptKind::Original => "original",
                AttemptKind::Hedge => "hedge",
                _ => "retry",
            };
            attributes.push((metrics.attempt_type, Cow::Borrowed(kind)));
        }
        self.instruments.count(&metrics.attempts, &attributes);
    }

    pub(super) fn watches_transfers(&self, operation: &OperationInfo) -> bool {
        let counts = operation.transport().counts_messages();
        self.names.attempt_delays || (self.names.message_sizes && counts)
    }

    #[expect(clippy::cast_precision_loss, reason = "buckets are wider than that")]
    pub(super) fn transferred(
        &self,
        operation: &OperationInfo,
        attempt: &Attempt,
        transfer: AttemptTransfer,
    ) {
        let metrics = Self::metrics(operation);
        let waited = transfer.waited();
        if self.names.attempt_delays && !waited.is_zero() {
            let mut attributes = self.attributes(operation);
            attributes.push((
                metrics.delay_type,
                Cow::Borrowed(transfer.delay_type().map_or("connecting", DelayType::as_str)),
            ));
            self.instruments.record(&metrics.attempt_delay, waited.as_secs_f64(), &attributes);
        }
        let sizes = [(&SENT, transfer.sent()), (&RECEIVED, transfer.received())];
        for (metric, size) in sizes.into_iter().filter(|_| self.names.message_sizes) {
            if let Some(size) = size {
                self.instruments.record(
                    metric,
                    size as f64,
                    &self.attributes_with_code(operation, attempt.code()),
                );
            }
        }
    }

    #[cfg(feature = "batching")]
    #[expect(clippy::cast_precision_loss, reason = "buckets are wider than that")]
    pub(super) fn batch_sent(&self, batch: &BatchInfo<'_>) {
        let attributes = [
            ("gax.batcher", Cow::Owned(batch.batcher().to_owned())),
            ("gax.batch.trigger", Cow::Borrowed(batch.trigger().as_str())),
        ];
        let record = |metric, value| self.instruments.record(metric, value, &attributes);
        record(&BATCH_ELEMENTS, batch.entries() as f64);
        record(&BATCH_WAIT, batch.waited().as_secs_f64());
        if batch.bytes() > 0 {
            record(&BATCH_SIZE, batch.bytes() as f64);
        }
        if !batch.throttled().is_zero() {
            record(&BATCH_THROTTLED, batch.throttled().as_secs_f64());
        }
    }

    pub(super) fn connection_event(&self, event: &ConnectionEvent<'_>) {
        let target = self.names.target.clone().unwrap_or_else(|| Cow::Owned(event.target().to_owned()));
        let target = (GRPC.target, target);
        match event.change() {
            ConnectionChange::Connecting => {}
            ConnectionChange::Ready { .. } => self.instruments.count(&CONNECTED, &[target]),
            ConnectionChange::Failed { .. } => self.instruments.count(&NOT_CONNECTED, &[target]),
            ConnectionChange::Lost { reason } => {
                // The values of gRFC A94.
                let error = match reason {
                    LostReason::Closed => "unknown",
                    LostReason::Broken(_) => "socket error",
                    LostReason::Silent => "connection timed out",
                    LostReason::TooOld | LostReason::Removed => "subchannel shutdown",
                };
                let error = ("grpc.disconnect_error", Cow::Borrowed(error));
                self.instruments.count(&DISCONNECTED, &[target, error]);
            }
            ConnectionChange::Ejected { .. } => self.instruments.count(&EJECTED, &[target]),
        }
    }

    fn attributes_with_code(&self, operation: &OperationInfo, code: Code) -> Vec<Attribute> {
        let mut attributes = self.attributes(operation);
        attributes.push((Self::metrics(operation).status, Cow::Borrowed(code.name())));
        attributes
    }

    pub(super) fn ended(&self, operation: &OperationInfo, attempt: &Attempt) {
        let attributes = self.attributes_with_code(operation, attempt.code());
        let took = attempt.end().saturating_sub(attempt.start());
        self.as_gax_java(operation, (&ATTEMPT_COUNT, &ATTEMPT_LATENCY), attempt.code(), took);
        self.instruments.record(&Self::metrics(operation).attempt_duration, took.as_secs_f64(), &attributes);
    }

    pub(super) fn closed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        let metrics = Self::metrics(operation);
        let mut attributes = self.attributes(operation);
        self.levels(operation, summary);
        self.by_conventions(operation, summary);
        let gax_java = (&OPERATION_COUNT, &OPERATION_LATENCY);
        self.as_gax_java(operation, gax_java, summary.code(), summary.elapsed());
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

            fn watches_transfers(&self, operation: &OperationInfo) -> bool {
                self.measure.watches_transfers(operation)
            }

            fn attempt_transferred(
                &self,
                operation: &OperationInfo,
                attempt: &Attempt,
                transfer: AttemptTransfer,
            ) {
                self.measure.transferred(operation, attempt, transfer);
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

            fn connection_event(&self, event: &$crate::observe::ConnectionEvent<'_>) {
                self.measure.connection_event(event);
            }

            #[cfg(feature = "batching")]
            fn batch_sent(&self, batch: &$crate::observe::BatchInfo<'_>) {
                self.measure.batch_sent(batch);
            }
        }
    };
}
pub(super) use observe_by_measure;
