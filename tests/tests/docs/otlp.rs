//! The guide's page on OTLP: its functions, as they stand there, send the spans of a retried call to a collector.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::observe::{OutgoingHeaders, TracingObserver};
use http_body_util::{BodyExt as _, Full};
use opentelemetry::propagation::{Injector, TextMapPropagator as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_gax::{Code, OperationOptions, RetrySettings};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{Reply, Script, Setup, VirtualServer, ms};
use tower_service::Service;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Sends all spans of the program to this collector. Keep the returned provider, and shut it down at the end.
fn export(endpoint: &str) -> Result<SdkTracerProvider, Box<dyn Error>> {
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build()?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("my-program"));
    tracing_subscriber::registry().with(spans).try_init()?;
    Ok(provider)
}

/// Headers of a request, for OpenTelemetry's propagators.
struct Headers<'a, 'b>(&'a mut OutgoingHeaders<'b>);

impl Injector for Headers<'_, '_> {
    fn set(&mut self, name: &str, value: String) {
        self.0.set(name, &value);
    }
}

fn observer() -> TracingObserver {
    TracingObserver::new().server_address("asset.example.com").propagator(|span, headers| {
        TraceContextPropagator::new().inject_context(&span.context(), &mut Headers(headers));
    })
}

/// Takes whatever comes, as OTLP's collector.
#[derive(Debug, Clone, Default)]
struct Collector(Arc<Mutex<Vec<u8>>>);

impl NamedService for Collector {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl Service<http::Request<Body>> for Collector {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let taken = Arc::clone(&self.0);
        Box::pin(async move {
            let bytes = request.into_body().collect().await.unwrap().to_bytes();
            taken.lock().unwrap().extend_from_slice(&bytes);
            // An empty message; the status comes in the headers.
            let reply = Body::new(Full::new(Bytes::from_static(&[0; 5])));
            let response = http::Response::builder().header("content-type", "application/grpc");
            Ok(response.header("grpc-status", "0").body(reply).unwrap())
        })
    }
}

#[test]
fn these_functions_are_those_of_the_page() {
    let (_, page) =
        include_str!("../../../docs/src/observing.md").split_once("\n/// Sends all spans").unwrap();
    let (functions, _) = page.split_once("\n\n#[tokio::main]").unwrap();
    assert!(include_str!("otlp.rs").contains(functions), "the page has other functions: {functions}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_the_operation_and_each_attempt() {
    let collector = Collector::default();
    let incoming = TcpIncoming::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = incoming.local_addr().unwrap();
    tokio::spawn(Server::builder().add_service(collector.clone()).serve_with_incoming(incoming));

    let provider = export(&format!("http://{address}")).unwrap();
    let settings = RetrySettings::builder().initial_retry_delay(ms(0)).max_attempts(3).build().unwrap();
    let setup = Setup::new(settings).retrying([Code::Unavailable]);
    let server =
        VirtualServer::start(Script::at_once([Reply::unavailable(), Reply::unavailable(), Reply::Serve]));
    let layer = setup.layer().options(OperationOptions::new().observer(Arc::new(observer())));
    let mut client = AssetServiceClient::new(layer.layer(server.channel()));
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    tokio::task::spawn_blocking(move || provider.shutdown()).await.unwrap().unwrap();

    let taken = collector.0.lock().unwrap();
    let text = String::from_utf8_lossy(&taken);
    let attempt = "Attempt.google.cloud.asset.v1.AssetService";
    assert_eq!(text.matches(attempt).count(), 3, "an attempt's span for each attempt: {text}");
    let all = text.matches("google.cloud.asset.v1.AssetService/ListAssets").count();
    assert!(all > 0 && text.contains("asset.example.com"), "the operation's span: {text}");
}
