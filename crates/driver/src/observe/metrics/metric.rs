//! Which metrics there are.

use std::borrow::Cow;

/// The bounds of the buckets of latencies, in seconds (gRFC A66).
pub const LATENCY_BUCKETS: [f64; 41] = [
    0.0, 0.000_01, 0.000_05, 0.0001, 0.0003, 0.0006, 0.0008, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008,
    0.01, 0.013, 0.016, 0.02, 0.025, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4,
    0.5, 0.65, 0.8, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0,
];

/// The bounds of the buckets of retries, transparent retries and hedges of a call (gRFC A96).
pub const RETRY_BUCKETS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// The bounds of the buckets of other counts, such as the elements of a batch.
pub const COUNT_BUCKETS: [f64; 18] = [
    0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0,
    32768.0, 65536.0,
];

/// The bounds of the buckets of sizes, in bytes (gRFC A66).
pub const SIZE_BUCKETS: [f64; 14] = [
    0.0,
    1024.0,
    2048.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
    268_435_456.0,
    1_073_741_824.0,
    4_294_967_296.0,
];

/// A metric's name and its unit.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) description: &'static str,
}

impl Metric {
    /// Its whole name: one that begins with a slash follows a prefix of the program's choice.
    pub(super) fn full_name(&self, prefix: Option<&str>) -> Cow<'static, str> {
        match prefix {
            Some(prefix) if self.name.starts_with('/') => Cow::Owned(format!("{prefix}{}", self.name)),
            _ => Cow::Borrowed(self.name),
        }
    }

    /// The bounds of a histogram's buckets; `None`: those that an SDK has by default.
    #[cfg(feature = "otel")]
    pub(super) fn buckets(&self) -> Option<&'static [f64]> {
        match self.unit {
            SECONDS => Some(&LATENCY_BUCKETS),
            BYTES => Some(&SIZE_BUCKETS),
            MILLISECONDS => None,
            ELEMENTS => Some(&COUNT_BUCKETS),
            _ => Some(&RETRY_BUCKETS),
        }
    }
}

/// The metrics of operations over gRPC, or over anything else.
#[derive(Debug)]
pub(super) struct Metrics {
    pub(super) attempts: Metric,
    pub(super) stops: Metric,
    pub(super) attempt_duration: Metric,
    pub(super) attempt_delay: Metric,
    pub(super) call_duration: Metric,
    pub(super) retries: Metric,
    pub(super) transparent_retries: Metric,
    pub(super) hedges: Metric,
    pub(super) retry_delay: Metric,
    pub(super) method: &'static str,
    pub(super) target: &'static str,
    pub(super) status: &'static str,
    pub(super) attempt_type: &'static str,
    pub(super) delay_type: &'static str,
}

impl Metrics {
    pub(super) fn counters(&self) -> [&Metric; 2] {
        [&self.attempts, &self.stops]
    }

    pub(super) fn histograms(&self) -> [&Metric; 7] {
        let Self { attempt_duration, attempt_delay, call_duration, .. } = self;
        let Self { retries, transparent_retries, hedges, retry_delay, .. } = self;
        [attempt_duration, attempt_delay, call_duration, retries, transparent_retries, hedges, retry_delay]
    }
}

/// Defines metrics: the name, the unit, and what it is.
macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident = $name:literal, $unit:expr, $description:literal;)+) => {
        $($(#[$doc])*
        pub(super) static $metric: Metric = Metric { name: $name, unit: $unit, description: $description };)+
    };
}

metrics! {
    /// By OpenTelemetry's own conventions for RPCs.
    RPC_DURATION = "rpc.client.call.duration", SECONDS,
        "The time of a call as its caller sees it: all attempts and delays.";

    /// The size of what is sent with an attempt.
    SENT = "grpc.client.attempt.sent_total_compressed_message_size", BYTES,
        "The bytes of all request messages that were sent with an attempt, compressed, without framing.";

    /// The size of what arrives.
    RECEIVED = "grpc.client.attempt.rcvd_total_compressed_message_size", BYTES,
        "The bytes of all response messages that an attempt received, compressed, without framing.";

    /// The tokens left in a retry budget; not in a gRFC.
    BUDGET = "gax.client.retry_budget.available", "{retry}",
        "What is left of the retry budget: tokens, or the retries that a ratio allows.";

    /// Which settings count; not in a gRFC.
    VERSION = "gax.client.settings.version", "{version}",
        "The version of the settings of the call that ended last.";

    /// The state of the watch of the settings' file; not in a gRFC.
    WATCHED = "gax.client.settings.watched", "{watch}",
        "1 if the settings file was watched when the last call started, 0 if it could not be read or is no longer watched.";

    /// How many entries a batch has.
    BATCH_ELEMENTS = "gax.client.batch.elements", ELEMENTS, "The entries of a batch.";

    /// How many bytes it has.
    BATCH_SIZE = "gax.client.batch.size", BYTES, "The bytes of a batch, if its batcher counts them.";

    /// How long it was open.
    BATCH_WAIT = "gax.client.batch.wait", SECONDS, "The time from a batch's first element until the batch is sent.";

    /// How long its elements had waited for room.
    BATCH_THROTTLED = "gax.client.batch.throttled_time", SECONDS,
        "The total time that the elements of a batch waited for space.";

    /// Connections that were established.
    CONNECTED = "grpc.subchannel.connection_attempts_succeeded", "{attempt}", "Connections that were established.";

    /// Connections that could not be established.
    NOT_CONNECTED = "grpc.subchannel.connection_attempts_failed", "{attempt}", "Connections that could not be established.";

    /// Connections that were lost.
    DISCONNECTED = "grpc.subchannel.disconnections", "{disconnection}",
        "Connections that no longer take calls, by reason.";

    /// Endpoints that calls avoid; not in a gRFC.
    EJECTED = "gax.client.endpoint.ejections", "{ejection}", "Endpoints that were ejected because calls to them failed.";

    /// By gax-java's name, as the next three, which all follow a prefix.
    ATTEMPT_COUNT = "/attempt_count", "1", "Attempts that have ended.";
    ATTEMPT_LATENCY = "/attempt_latency", MILLISECONDS, "The time of an attempt, from its start to its end.";
    OPERATION_COUNT = "/operation_count", "1", "Operations that have ended.";
    OPERATION_LATENCY = "/operation_latency", MILLISECONDS,
        "The time of an operation as its caller sees it: all attempts and delays.";
}

/// Those of batches; no proposal has them.
pub(super) static BATCHES: [&Metric; 4] = [&BATCH_ELEMENTS, &BATCH_SIZE, &BATCH_WAIT, &BATCH_THROTTLED];

/// Those of connections, by the names of gRFC A94 where it has them.
pub(super) static CONNECTIONS: [&Metric; 4] = [&CONNECTED, &NOT_CONNECTED, &DISCONNECTED, &EJECTED];

/// The level of what belongs to a whole client or layer.
pub(super) static GAUGES: [&Metric; 3] = [&BUDGET, &VERSION, &WATCHED];

/// The metrics of gax-java.
pub(super) static GAX_JAVA_COUNTERS: [&Metric; 2] = [&ATTEMPT_COUNT, &OPERATION_COUNT];
pub(super) static GAX_JAVA_HISTOGRAMS: [&Metric; 2] = [&ATTEMPT_LATENCY, &OPERATION_LATENCY];

pub(super) const SECONDS: &str = "s";
pub(super) const MILLISECONDS: &str = "ms";
pub(super) const BYTES: &str = "By";
pub(super) const ELEMENTS: &str = "{element}";

/// The metrics of operations, by names with that prefix: each with its unit, and what it is. And their attributes.
macro_rules! metrics_of {
    ($prefix:literal: $($metric:ident = $name:literal, $unit:expr, $description:literal;)+) => {
        Metrics {
            $($metric: Metric { name: concat!($prefix, $name), unit: $unit, description: $description },)+
            method: concat!($prefix, ".method"),
            target: concat!($prefix, ".target"),
            status: concat!($prefix, ".status"),
            attempt_type: concat!($prefix, ".attempt_type"),
            delay_type: concat!($prefix, ".delay_type"),
        }
    };
    ($prefix:literal) => {
        metrics_of! { $prefix:
            attempts = ".client.attempt.started", "{attempt}", "Attempts started, whether they have ended or not.";
            stops = ".client.call.stops", "{call}", "Calls that failed, by the reason why no further attempt was made.";
            attempt_duration = ".client.attempt.duration", SECONDS,
                "The time of an attempt, from its start to its end.";
            attempt_delay = ".client.attempt.delay.duration", SECONDS,
                "The time that an attempt waited until a connection read its request.";
            call_duration = ".client.call.duration", SECONDS,
                "The time of a call as its caller sees it: all attempts and delays.";
            retries = ".client.call.retries", "{retry}", "Retries of a call that had any.";
            transparent_retries = ".client.call.transparent_retries", "{transparent_retry}",
                "Transparent retries of a call that had any.";
            hedges = ".client.call.hedges", "{hedge}", "Hedges of a call that had any.";
            retry_delay = ".client.call.retry_delay", SECONDS, "The time of a call in which no attempt was active.";
        }
    };
}

/// Of gRPC, by the names of gRFC A66, A96 and A121, except for the reasons of failures, which no proposal has.
pub(super) static GRPC: Metrics = {
    let mut metrics = metrics_of!("grpc");
    metrics.stops.name = OTHERS.stops.name;
    metrics
};

/// Of anything else.
pub(super) static OTHERS: Metrics = metrics_of!("gax");
