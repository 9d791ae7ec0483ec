//! Metrics that Prometheus scrapes.
//!
//! ```text
//! cargo run --example metrics_prometheus
//! ```

mod library;

use gax_driver::observe::{FacadeMetrics, LATENCY_BUCKETS, MetricNames, RETRY_BUCKETS, SIZE_BUCKETS};
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tonic_gax::OperationOptions;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    // In production, use a port that Prometheus scrapes. Here it is a free port.
    let endpoint: SocketAddr = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    // Durations, sizes and retries have their own buckets; without any they would be summaries. The recommended names are
    // those of the guide's dashboard.
    let (recorder, exporter) = PrometheusBuilder::new()
        .with_http_listener(endpoint)
        .with_recommended_naming(true)
        .set_buckets_for_metric(Matcher::Suffix("duration".to_owned()), &LATENCY_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("retry_delay".to_owned()), &LATENCY_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("message_size".to_owned()), &SIZE_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("retries".to_owned()), &RETRY_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("hedges".to_owned()), &RETRY_BUCKETS)?
        .build()?;
    metrics::set_global_recorder(recorder)?;
    tokio::spawn(exporter);

    let metrics = FacadeMetrics::new(MetricNames::new().target(url.clone()));
    let settings =
        LibraryServiceSettings::default().with_options(OperationOptions::new().observer(Arc::new(metrics)));
    let client = LibraryServiceClient::connect_with_settings(url, settings).await?;
    client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;

    // Prometheus does this every few seconds.
    let page = reqwest::get(format!("http://{endpoint}/metrics")).await?.error_for_status()?.text().await?;
    let lines = page.lines().filter(|line| line.starts_with("grpc_client_attempt_started_total"));
    let started: Vec<_> = lines.collect();
    println!("{}", started.join("\n"));
    assert!(started.len() == 1 && started.iter().all(|line| line.ends_with(" 3")), "{page}");
    assert!(page.contains("grpc_client_call_duration_seconds_bucket{"), "{page}");
    assert!(page.contains("# HELP grpc_client_call_retries "), "{page}");
    Ok(())
}
