//! The metrics of operations, by OpenTelemetry's API and by the facade.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_connection::{Address, AddressList, Connection};
use gax_driver::observe::{
    FacadeMetrics, LATENCY_BUCKETS, MetricNames, OperationObserver, OtelMetrics, RETRY_BUCKETS, SIZE_BUCKETS,
};
use gax_driver::{OperationOptions, Retryer};
use gax_http::HttpRetryLayer;
use gax_retry::{Code, RetryBudget, RetrySettings};
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use http_body_util::Full;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tonic::Status;
use tonic_gax::RetryLayer;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualServer,
    delays, ms,
};
use tower_service::Service as _;

fn settings() -> RetrySettings {
    delays(200, 1.0).max_attempts(3).build().unwrap()
}

/// A metric with its attributes, how many values it has and their sum.
type Line = (String, u64, f64);

fn line(name: &str, mut attributes: Vec<(String, String)>, count: u64, sum: f64) -> Line {
    attributes.sort();
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    // Sums of a few decimal fractions, without what floats make of them.
    (format!("{name}{{{}}}", attributes.join(",")), count, (sum * 1e6).round() / 1e6)
}

fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by(|left, right| left.0.cmp(&right.0));
    lines
}

/// The buckets that OpenTelemetry's SDK takes where none are advised.
const SDK_BUCKETS: [f64; 15] =
    [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10000.0];

/// Collects what OpenTelemetry's SDK gets.
struct Otel {
    exporter: InMemoryMetricExporter,
    provider: SdkMeterProvider,
}

impl Otel {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(exporter.clone()).build();
        Self { exporter, provider: SdkMeterProvider::builder().with_reader(reader).build() }
    }

    fn observer(&self, names: MetricNames) -> Arc<dyn OperationObserver> {
        Arc::new(OtelMetrics::new(&self.provider.meter("test"), names))
    }

    fn lines(&self) -> Vec<Line> {
        self.provider.force_flush().unwrap();
        let mut lines = Vec::new();
        for metrics in self.exporter.get_finished_metrics().unwrap() {
            for metric in metrics.scope_metrics().flat_map(ScopeMetrics::metrics) {
                let pairs = |pairs: &mut dyn Iterator<Item = &opentelemetry::KeyValue>| -> Vec<_> {
                    pairs.map(|pair| (pair.key.to_string(), pair.value.to_string())).collect()
                };
                match metric.data() {
                    AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                        for point in sum.data_points() {
                            let attributes = pairs(&mut point.attributes());
                            lines.push(line(metric.name(), attributes, point.value(), 0.0));
                        }
                    }
                    AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                        for point in histogram.data_points() {
                            let expected = match metric.unit() {
                                "s" => &LATENCY_BUCKETS[..],
                                "By" => &SIZE_BUCKETS,
                                "ms" => &SDK_BUCKETS,
                                _ => &RETRY_BUCKETS,
                            };
                            assert!(point.bounds().eq(expected.iter().copied()), "{}", metric.name());
                            let attributes = pairs(&mut point.attributes());
                            lines.push(line(metric.name(), attributes, point.count(), point.sum()));
                        }
                    }
                    AggregatedMetrics::F64(MetricData::Gauge(gauge)) => {
                        for point in gauge.data_points() {
                            let attributes = pairs(&mut point.attributes());
                            lines.push(line(metric.name(), attributes, 1, point.value()));
                        }
                    }
                    other => unreachable!("{other:?}"),
                }
            }
        }
        sorted(lines)
    }
}

/// The metrics that a recorder of the facade has.
fn facade_lines(recorder: &DebuggingRecorder) -> Vec<Line> {
    let mut lines = Vec::new();
    for (key, _, _, value) in recorder.snapshotter().snapshot().into_vec() {
        let labels =
            key.key().labels().map(|label| (label.key().to_owned(), label.value().to_owned())).collect();
        let (count, sum) = match value {
            DebugValue::Counter(count) => (count, 0.0),
            DebugValue::Histogram(values) => {
                let sum = values.iter().map(|value| value.into_inner()).sum();
                (u64::try_from(values.len()).unwrap(), sum)
            }
            DebugValue::Gauge(level) => (1, level.into_inner()),
        };
        lines.push(line(key.key().name(), labels, count, sum));
    }
    sorted(lines)
}

fn of(name: &str, count: u64, sum: f64) -> Line {
    (name.to_owned(), count, sum)
}

/// The metrics that were described to the facade: names, and whether each is a counter, a gauge or a histogram.
#[derive(Debug, Default)]
struct Described(Mutex<BTreeMap<String, &'static str>>);

impl Described {
    fn add(&self, name: &KeyName, kind: &'static str) {
        self.0.lock().unwrap().insert(name.as_str().to_owned(), kind);
    }
}

impl Recorder for Described {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.add(&name, "counter");
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.add(&name, "gauge");
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.add(&name, "histogram");
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// A call that succeeds with its second attempt, and one that fails with its third: the first waits 200 ms, the other
/// 400.
async fn two_calls(stack: Stack, observer: Arc<dyn OperationObserver>) -> usize {
    let script = Script::of([(ms(10), Reply::unavailable()), (ms(0), Reply::Serve)]);
    let server = VirtualServer::start(script.then_always(ms(0), Reply::unavailable()));
    let setup = Setup::new(settings()).observed(observer);
    let mut caller = stack.caller(server.channel(), &setup);
    // 7 bytes: 2 before the text, and 2 for the size of a page, whose assets have 5 bytes each and 2 before them.
    let request =
        || ListAssetsRequest { parent: "abc".to_owned(), page_size: 2, ..ListAssetsRequest::default() };
    caller.list(request()).await.unwrap();
    caller.list(request()).await.unwrap_err();
    server.log().arrivals().len()
}

fn expected() -> Vec<Line> {
    let method = "grpc.method=google.cloud.asset.v1.AssetService/ListAssets";
    let with = |name: &str, more: &str, count, sum| {
        of(&format!("grpc.client.{name}{{{method}{more},grpc.target=dns:///assets}}"), count, sum)
    };
    let status = |name: &str, code: &str, count, sum| {
        let more = format!("{{{method},grpc.status={code},grpc.target=dns:///assets}}");
        of(&format!("grpc.client.{name}{more}"), count, sum)
    };
    let stops = format!(
        "gax.client.call.stops{{gax.stop_reason=MAX_ATTEMPTS,{method},grpc.status=UNAVAILABLE,grpc.target=dns:///assets}}"
    );
    sorted(vec![
        of(&stops, 1, 0.0),
        with("attempt.started", "", 5, 0.0),
        status("attempt.duration", "OK", 1, 0.0),
        status("attempt.duration", "UNAVAILABLE", 4, 0.01),
        status("attempt.sent_total_compressed_message_size", "OK", 1, 7.0),
        status("attempt.sent_total_compressed_message_size", "UNAVAILABLE", 4, 28.0),
        status("attempt.rcvd_total_compressed_message_size", "OK", 1, 14.0),
        status("attempt.rcvd_total_compressed_message_size", "UNAVAILABLE", 4, 0.0),
        status("call.duration", "OK", 1, 0.21),
        status("call.duration", "UNAVAILABLE", 1, 0.4),
        with("call.retries", "", 2, 3.0),
        with("call.retry_delay", "", 2, 0.6),
    ])
}

fn names() -> MetricNames {
    MetricNames::new().target("dns:///assets")
}

#[tokio::test(start_paused = true)]
async fn attempts_counted_are_attempts_arrived() {
    for stack in Stack::ALL {
        let otel = Otel::new();
        let arrived = two_calls(stack, otel.observer(names())).await;
        assert_eq!(arrived, 5, "{stack:?}");
        assert_eq!(otel.lines(), expected(), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_facade_gets_the_same() {
    for stack in Stack::ALL {
        let recorder = DebuggingRecorder::new();
        let _guard = metrics::set_default_local_recorder(&recorder);
        let observer = Arc::new(FacadeMetrics::new(names()));
        assert_eq!(two_calls(stack, observer).await, 5, "{stack:?}");
        assert_eq!(facade_lines(&recorder), expected(), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn closures_and_http_have_names_of_their_own() {
    let otel = Otel::new();
    let retryer = Retryer::new(&settings(), [Code::Unavailable]).named("redis: SET");
    let retryer = retryer
        .options(OperationOptions::new().observer(otel.observer(MetricNames::new().attempt_types(true))));
    retryer.run(|_| async { Err::<(), _>(Status::not_found("")) }).await.unwrap_err();
    assert_eq!(
        otel.lines(),
        [
            of("gax.client.attempt.duration{gax.method=redis: SET,gax.status=NOT_FOUND}", 1, 0.0),
            of("gax.client.attempt.started{gax.attempt_type=original,gax.method=redis: SET}", 1, 0.0),
            of("gax.client.call.duration{gax.method=redis: SET,gax.status=NOT_FOUND}", 1, 0.0),
            of(
                "gax.client.call.stops{gax.method=redis: SET,gax.status=NOT_FOUND,gax.stop_reason=NON_RETRYABLE}",
                1,
                0.0
            ),
        ]
    );
    // The paths of requests have no bound, so that they are no names unless the program says so.
    for (names, method) in [
        (MetricNames::new(), "other"),
        (MetricNames::new().method_filter(|_| Some("GET /thing".into())), "GET /thing"),
    ] {
        let otel = Otel::new();
        let (_server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::status(200)]));
        let layer = HttpRetryLayer::new(&settings(), [Code::Unavailable])
            .options(OperationOptions::new().observer(otel.observer(names)));
        let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
        layer.layer(FaultServer::full_client(connector)).call(request).await.unwrap();
        let duration = format!("gax.client.call.duration{{gax.method={method},gax.status=OK}}");
        assert!(otel.lines().contains(&of(&duration, 1, 0.0)), "{:?}", otel.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_attempt_waits_for_its_transport_is_measured_on_request() {
    let otel = Otel::new();
    let names = MetricNames::new().attempt_delays(true).attempt_types(true).message_sizes(false);
    let observer = otel.observer(names);
    two_calls(Stack::Generated, Arc::clone(&observer)).await;
    let method = "grpc.method=google.cloud.asset.v1.AssetService/ListAssets";
    let retries = format!("grpc.client.attempt.started{{grpc.attempt_type=retry,{method}}}");
    let lines = otel.lines();
    assert!(lines.contains(&of(&retries, 3, 0.0)), "{lines:?}");
    // Who waits for nothing has no delay.
    assert!(!lines.iter().any(|(name, ..)| name.contains("delay.duration")), "{lines:?}");
    assert!(!lines.iter().any(|(name, ..)| name.contains("message_size")), "{lines:?}");

    // One call runs, and the other waits 99 ms for its stream.
    let play = [RawFrame::Wait(ms(100)), RawFrame::Good];
    let server = RawServer::with_stream_limit(1, [vec![RawFrame::Good], play.to_vec()]);
    let mut caller =
        Stack::Generated.caller(server.channel(), &Setup::new(settings()).observed(Arc::clone(&observer)));
    caller.list(ListAssetsRequest::default()).await.unwrap();
    let mut running = caller.clone();
    let running = tokio::spawn(async move { running.list(ListAssetsRequest::default()).await });
    tokio::time::sleep(ms(1)).await;
    caller.list(ListAssetsRequest::default()).await.unwrap();
    running.await.unwrap().unwrap();
    let delays = format!("grpc.client.attempt.delay.duration{{grpc.delay_type=connecting,{method}}}");
    let lines = otel.lines();
    assert!(lines.contains(&of(&delays, 1, 0.099)), "{lines:?}");

    // A connection of our own says what the wait was for.
    let server = RawServer::with_stream_limit(1, [vec![RawFrame::Good], play.to_vec()]);
    let connection = Connection::to("http://server").max_connections(1);
    let connection = connection
        .resolver(AddressList::new([Address::from(std::net::SocketAddr::from(([10, 0, 0, 1], 1)))]));
    let pipes = server.connector();
    let connect = move |_| std::future::ready(pipes.connect().map(hyper_util::rt::TokioIo::into_inner));
    let connection = connection.connector(connect).connect_lazy().unwrap();
    let mut caller = Stack::Generated.caller(connection, &Setup::new(settings()).observed(observer));
    caller.list(ListAssetsRequest::default()).await.unwrap();
    let mut running = caller.clone();
    let running = tokio::spawn(async move { running.list(ListAssetsRequest::default()).await });
    tokio::time::sleep(ms(1)).await;
    caller.list(ListAssetsRequest::default()).await.unwrap();
    running.await.unwrap().unwrap();
    let lines = otel.lines();
    let delays = delays.replace("connecting", "gax.stream");
    assert!(lines.contains(&of(&delays, 1, 0.099)), "{lines:?}");
}

/// A call that fails with its third attempt, over a layer with a budget and a table that was replaced once.
async fn a_budgeted_call(observer: Arc<dyn OperationObserver>) {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let table = || {
        let service = "google.cloud.asset.v1.AssetService";
        let table = RetryTable::builder().service(service, settings(), Code::Unavailable);
        let known = "/google.cloud.asset.v1.AssetService/ListAssets";
        table.method(known, settings(), Code::Unavailable).build().unwrap()
    };
    let handle = SettingsHandle::new(table());
    let layer = RetryLayer::live(&handle)
        .options(OperationOptions::new().retry_budget(RetryBudget::tokens(10, 0.1)).observer(observer));
    let mut client = AssetServiceClient::new(layer.layer(server.channel()));
    handle.replace(table()).unwrap();
    client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn budgets_versions_and_opentelemetry_s_own_conventions_are_measured() {
    let names = || names().settings_versions(true).rpc_conventions(true).server_address("assets");
    let otel = Otel::new();
    a_budgeted_call(otel.observer(names())).await;
    let recorder = DebuggingRecorder::new();
    let facade = {
        let _guard = metrics::set_default_local_recorder(&recorder);
        a_budgeted_call(Arc::new(FacadeMetrics::new(names()))).await;
        facade_lines(&recorder)
    };
    let method = "google.cloud.asset.v1.AssetService/ListAssets";
    let (target, version) = ("grpc.target=dns:///assets", "gax.settings_version=2");
    for lines in [otel.lines(), facade] {
        for expected in [
            // Three failures took a token each.
            of(&format!("gax.client.retry_budget.available{{{target}}}"), 1, 7.0),
            of(&format!("gax.client.settings.version{{{target}}}"), 1, 2.0),
            of(&format!("grpc.client.attempt.started{{{version},grpc.method={method},{target}}}"), 3, 0.0),
            of(
                &format!(
                    "rpc.client.call.duration{{error.type=UNAVAILABLE,rpc.method={method},\
                     rpc.response.status_code=UNAVAILABLE,rpc.system.name=grpc,server.address=assets}}"
                ),
                1,
                0.4,
            ),
        ] {
            assert!(lines.contains(&expected), "{expected:?} is not in {lines:#?}");
        }
    }
}

#[test]
fn whether_the_settings_file_is_watched_is_a_gauge() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("measured_watch.json");
    std::fs::write(&path, r#"{"methodConfig": []}"#).unwrap();
    let handle = SettingsHandle::new(RetryTable::parse(r#"{"methodConfig": []}"#).unwrap());
    let (ended, end) = std::sync::mpsc::channel();
    let measured = || {
        let otel = Otel::new();
        let retryer = Retryer::live(&handle, "any", [Code::Unavailable])
            .options(OperationOptions::new().observer(otel.observer(names())));
        retryer.run_blocking(|_| Ok::<_, Status>(())).unwrap();
        let lines = otel.lines();
        lines.into_iter().find(|line| line.0 == "gax.client.settings.watched{gax.target=dns:///assets}")
    };
    assert_eq!(measured(), None);
    let watch = gax_table::live::watch(&path, &handle).unwrap();
    assert_eq!(format!("{:?}", measured().unwrap().2), "1.0");
    handle.on_event(move |event| ended.send(event.to_string()).unwrap());
    drop(watch);
    assert!(end.recv().unwrap().ends_with("is no longer watched"));
    assert_eq!(format!("{:?}", measured().unwrap().2), "0.0");
}

/// gax-java's own names, for dashboards that services in Java have already.
#[tokio::test(start_paused = true)]
async fn gax_s_counts_and_latencies_are_measured_on_request() {
    let prefixed = |names: MetricNames| names.gax_java_prefix("assets.example.com");
    let otel = Otel::new();
    two_calls(Stack::Generated, otel.observer(prefixed(names()))).await;
    let recorder = DebuggingRecorder::new();
    let facade = {
        let _guard = metrics::set_default_local_recorder(&recorder);
        two_calls(Stack::Layer, Arc::new(FacadeMetrics::new(prefixed(names())))).await;
        facade_lines(&recorder)
    };
    let version = env!("CARGO_PKG_VERSION");
    let line = |name: &str, code: &str, count, sum| {
        let attributes =
            format!("language=Rust,method=AssetService.ListAssets,status={code},version={version}");
        of(&format!("assets.example.com/{name}{{{attributes}}}"), count, sum)
    };
    let expected = sorted(vec![
        line("attempt_count", "OK", 1, 0.0),
        line("attempt_count", "UNAVAILABLE", 4, 0.0),
        line("attempt_latency", "OK", 1, 0.0),
        line("attempt_latency", "UNAVAILABLE", 4, 10.0),
        line("operation_count", "OK", 1, 0.0),
        line("operation_count", "UNAVAILABLE", 1, 0.0),
        line("operation_latency", "OK", 1, 210.0),
        line("operation_latency", "UNAVAILABLE", 1, 400.0),
    ]);
    for lines in [otel.lines(), facade] {
        let ours: Vec<Line> =
            lines.iter().filter(|(name, ..)| name.starts_with("assets.example.com/")).cloned().collect();
        assert_eq!(ours, expected);
    }
    // Names that the program gives stay as they are, and without a prefix there are none of these metrics.
    let otel = Otel::new();
    let own = prefixed(MetricNames::new()).method_filter(|_| Some("redis/SET".into()));
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().observer(otel.observer(own)));
    retryer.run(|_| async { Ok::<_, Status>(()) }).await.unwrap();
    let of_closure = "assets.example.com/operation_count{language=Rust,method=redis/SET,status=OK";
    assert!(otel.lines().iter().any(|(name, ..)| name.starts_with(of_closure)), "{:?}", otel.lines());
    let otel = Otel::new();
    two_calls(Stack::Generated, otel.observer(names())).await;
    assert!(!otel.lines().iter().any(|(name, ..)| name.contains('/') && name.contains("_count")));
}

/// The words of a text that are made of letters and these signs, and begin so.
fn words<'a>(text: &'a str, signs: &[char], beginning: &str) -> BTreeSet<&'a str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && !signs.contains(&letter));
    words.filter(|word| word.starts_with(beginning)).collect()
}

/// The bounds of the buckets of calls with retries are those of gRFC A96.
#[tokio::test(start_paused = true)]
async fn retries_have_the_buckets_of_a96() {
    let otel = Otel::new();
    two_calls(Stack::Generated, otel.observer(names())).await;
    otel.provider.force_flush().unwrap();
    let metrics = otel.exporter.get_finished_metrics().unwrap();
    let all = metrics.iter().flat_map(ResourceMetrics::scope_metrics).flat_map(ScopeMetrics::metrics);
    let retries = all.filter(|metric| metric.name() == "grpc.client.call.retries");
    let bounds = retries.filter_map(|metric| match metric.data() {
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram.data_points().next(),
        _ => None,
    });
    let bounds: Vec<Vec<f64>> = bounds.map(|point| point.bounds().collect()).collect();
    assert_eq!(format!("{bounds:?}"), "[[1.0, 2.0, 3.0, 4.0, 5.0]]");
}

const OBSERVING: &str = include_str!("../../../docs/src/observing.md");
const METRICS: &str = include_str!("../../../docs/src/reference/metrics.md");
const RUNBOOK: &str = include_str!("../../../docs/src/runbook.md");
/// For Grafana.
const DASHBOARD: &str = include_str!("../../../docs/dashboard.json");

#[test]
fn the_guide_has_every_metric_and_no_other() {
    let described = Described::default();
    drop(metrics::with_local_recorder(&described, || FacadeMetrics::new(MetricNames::new())));
    let described = described.0.into_inner().unwrap();
    // Those of HTTP and closures have the same names with another beginning.
    let is_described = |name: &&String| {
        let ours = ["gax.client.batch.", "gax.client.endpoint."];
        !name.starts_with("gax.")
            || name.contains("stops")
            || ours.iter().any(|prefix| name.starts_with(prefix))
    };
    let (before, missing) = METRICS.split_once("Not implemented:").unwrap();
    let mut recorded = words(before, &['.', '_'], "grpc.client.");
    recorded.extend(words(before, &['.', '_'], "rpc.client."));
    recorded.extend(words(before, &['.', '_'], "grpc.subchannel."));
    recorded.extend(words(before, &['.', '_'], "gax.client."));
    // `.hedges` and the like stand beside the whole name.
    let siblings = [
        "grpc.client.call.transparent_retries",
        "grpc.client.call.hedges",
        "grpc.subchannel.connection_attempts_failed",
        "gax.client.batch.size",
        "gax.client.batch.wait",
        "gax.client.batch.throttled_time",
    ];
    recorded.extend(siblings);
    let gauges = described.iter().filter(|(_, kind)| **kind == "gauge").map(|(name, _)| name);
    let exported: BTreeSet<&str> =
        described.keys().filter(is_described).chain(gauges).map(String::as_str).collect();
    assert_eq!(recorded, exported);
    for name in words(missing, &['.', '_'], "grpc.client.") {
        assert!(!described.contains_key(name), "{name}");
    }
}

/// The queries of the dashboard and of the alerts, held against a page that Prometheus would scrape.
#[tokio::test(start_paused = true)]
async fn the_dashboard_and_the_alerts_name_what_is_exported() {
    let mut builder = PrometheusBuilder::new().with_recommended_naming(true);
    for suffix in ["duration", "retry_delay"] {
        let of_name = Matcher::Suffix(suffix.to_owned());
        builder = builder.set_buckets_for_metric(of_name, &LATENCY_BUCKETS).unwrap();
    }
    let recorder = builder.build_recorder();
    let page = recorder.handle();
    {
        let _guard = metrics::set_default_local_recorder(&recorder);
        two_calls(Stack::Generated, Arc::new(FacadeMetrics::new(names()))).await;
        a_budgeted_call(Arc::new(FacadeMetrics::new(names().attempt_types(true)))).await;
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched_for_the_dashboard.json");
        std::fs::write(&path, r#"{"methodConfig": []}"#).unwrap();
        let handle = SettingsHandle::new(RetryTable::from_path(&path).unwrap());
        let _watch = gax_table::live::watch(&path, &handle).unwrap();
        let metrics = Arc::new(FacadeMetrics::new(names()));
        let retryer = Retryer::live(&handle, "any", [Code::Unavailable])
            .options(OperationOptions::new().observer(metrics));
        retryer.run(|_| async { Ok::<_, Status>(()) }).await.unwrap();
        let retryer = Retryer::new(&settings(), [Code::Unavailable]);
        let retryer =
            retryer.options(OperationOptions::new().observer(Arc::new(FacadeMetrics::new(names()))));
        retryer.run(|_| async { Err::<(), _>(Status::unavailable("")) }).await.unwrap_err();
    }
    let page = page.render();
    let queries = &format!("{}{RUNBOOK}", OBSERVING.split_once("## A dashboard").unwrap().1);
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().map(|panel| panel["targets"].as_array().unwrap());
    let targets = targets.inspect(|targets| assert!(!targets.is_empty())).flatten();
    let drawn: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(drawn.len() >= 8, "{drawn:?}");
    let mut named = BTreeSet::new();
    for beginning in ["grpc_client_", "gax_client_", "rpc_client_"] {
        named.extend(words(queries, &['_'], beginning));
        for query in &drawn {
            named.extend(words(query, &['_'], beginning));
        }
    }
    assert!(named.len() >= 9, "{named:?}");
    for name in named {
        let has_it = page.lines().any(|line| line.starts_with(&format!("{name}{{")));
        assert!(has_it, "{name} is not in {page}");
    }
    for label in ["grpc_method", "grpc_status", "gax_method", "gax_stop_reason"] {
        assert!(queries.contains(label) && page.contains(&format!("{label}=\"")), "{label}");
        assert!(drawn.iter().any(|query| query.contains(label)), "{label}");
    }
    for kind in ["original", "retry"] {
        let label = format!("grpc_attempt_type=\"{kind}\"");
        assert!(queries.contains(&label) && page.contains(&label), "{label}");
    }
}
