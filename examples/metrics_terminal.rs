//! Metrics with OpenTelemetry, printed to the terminal.
//!
//! ```text
//! cargo run --example metrics_terminal
//! ```

mod library;

use gax_driver::observe::{MetricNames, OtelMetrics};
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings};
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use std::error::Error;
use std::sync::Arc;
use tonic_gax::OperationOptions;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    // In production this is the exporter to your collector.
    let exporter = opentelemetry_stdout::MetricExporter::default();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter).build();

    let names = MetricNames::new().target(url.clone()).attempt_types(true);
    let metrics = OtelMetrics::new(&provider.meter("library"), names);
    let settings =
        LibraryServiceSettings::default().with_options(OperationOptions::new().observer(Arc::new(metrics)));
    let client = LibraryServiceClient::connect_with_settings(url, settings).await?;
    client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;

    // Measurements are exported once a minute, and now.
    provider.shutdown()?;
    Ok(())
}
