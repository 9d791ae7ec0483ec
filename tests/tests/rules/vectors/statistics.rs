//! Requirements 42 to 44: what is counted of a call and of each attempt.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_driver::observe::{MetricNames, OtelMetrics, TracingObserver};
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, HistogramDataPoint, MetricData, ScopeMetrics, SumDataPoint,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tonic_gax::OperationOptions;
use tonic_gax_tests::a6::{U, config, layer_of as layer};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{RawFrame, RawServer};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, SubscriberExt as _};

const HEDGED: &str = r#"{"methodConfig": [{"name": [{}], "hedgingPolicy": {
    "maxAttempts": 4, "hedgingDelay": "0.1s", "nonFatalStatusCodes": ["UNAVAILABLE"]}}]}"#;
const REFUSED: RawFrame = RawFrame::Reset(7);
const GOOD: RawFrame = RawFrame::Good;

/// h01: the fourth attempt gets the reply.
fn h01() -> Vec<Vec<RawFrame>> {
    vec![vec![], vec![], vec![], vec![GOOD]]
}

/// OpenTelemetry's metrics of one call: of each how many values it has, and their sum.
async fn measured(config: &str, plays: Vec<Vec<RawFrame>>) -> BTreeMap<String, (u64, f64)> {
    let exporter = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exporter.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let names = MetricNames::new().attempt_types(true);
    let server = RawServer::start(plays);
    let layer = layer(config).options(
        OperationOptions::new().observer(Arc::new(OtelMetrics::new(&provider.meter("test"), names))),
    );
    let mut client = AssetServiceClient::new(layer.layer(server.channel()));
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    provider.force_flush().unwrap();
    let mut measured = BTreeMap::new();
    for metrics in exporter.get_finished_metrics().unwrap() {
        for metric in metrics.scope_metrics().flat_map(ScopeMetrics::metrics) {
            let (count, sum) = match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                    (sum.data_points().map(SumDataPoint::value).sum(), 0.0)
                }
                AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                    let points = || histogram.data_points();
                    let (counts, sums) = (HistogramDataPoint::count, HistogramDataPoint::sum);
                    (points().map(counts).sum(), points().map(sums).sum())
                }
                other => unreachable!("{other:?}"),
            };
            measured.insert(metric.name().to_owned(), (count, sum));
        }
    }
    measured
}

/// 42 and 43: REF,U,OK has one transparent retry and one retry, and waited for 80 to 120 ms; h01 has three hedges, and never
/// waited. What is zero is not reported.
#[tokio::test(start_paused = true)]
async fn calls_count_retries_hedges_and_waits() {
    let refused = measured(&config(&[], ""), vec![vec![REFUSED], vec![U], vec![GOOD]]).await;
    let hedged = measured(HEDGED, h01()).await;
    for (name, of_refused, of_hedged) in
        [("retries", Some(1.0), None), ("transparent_retries", Some(1.0), None), ("hedges", None, Some(3.0))]
    {
        let metric = format!("grpc.client.call.{name}");
        for (measured, expected) in [(&refused, of_refused), (&hedged, of_hedged)] {
            assert_eq!(measured.get(&metric).map(|(_, sum)| *sum), expected, "{name}");
        }
    }
    let (count, waited) = refused["grpc.client.call.retry_delay"];
    assert!(count == 1 && (0.08..=0.121).contains(&waited), "{count} {waited}");
    assert!(hedged.get("grpc.client.call.retry_delay").is_none_or(|(_, waited)| *waited < 0.001));
    // Every attempt that has started has ended, and a transparent retry is no attempt.
    for (measured, attempts) in [(&hedged, 4), (&refused, 2)] {
        assert_eq!(measured["grpc.client.attempt.started"].0, attempts);
        assert_eq!(measured["grpc.client.attempt.duration"].0, attempts);
    }
}

/// The names of spans, and the two fields of attempts.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        if attributes.metadata().target().starts_with("gax_driver::") {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            let named = ["otel.name", "previous-rpc-attempts", "transparent-retry"];
            let values: Vec<_> = named.iter().filter_map(|name| fields.0.remove(name)).collect();
            self.0.lock().unwrap().push(values.join(" "));
        }
    }
}

/// 44: a span for the call, and below it one for each attempt. (The call's own name is OpenTelemetry's, the method without `Sent.`
/// before it.)
#[tokio::test(start_paused = true)]
async fn spans_tell_the_attempts() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(spans.clone()));
    let server = RawServer::start([vec![U], vec![U], vec![GOOD]]);
    let layer =
        layer(&config(&[], "")).options(OperationOptions::new().observer(Arc::new(TracingObserver::new())));
    let mut client = AssetServiceClient::new(layer.layer(server.channel()));
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    let method = "google.cloud.asset.v1.AssetService/ListAssets";
    let attempt =
        |previous: u32| format!("\"Attempt.google.cloud.asset.v1.AssetService.ListAssets\" {previous} false");
    assert_eq!(*spans.0.lock().unwrap(), [format!("{method:?}"), attempt(0), attempt(1), attempt(2)]);
}
