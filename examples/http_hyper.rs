//! Retries under a hyper client, or any other HTTP client that is a tower service.
//!
//! The preset decides how long to wait, when to stop and which requests are safe to retry; here those of the
//! Cloud Storage JSON API.
//!
//! ```text
//! cargo run --example http_hyper
//! ```

mod flaky_http;

use gax_driver::strategy::Backoff;
use gax_http::{HttpRetryLayer, presets};
use http::Request;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::error::Error;
use std::time::Duration;
use tonic_gax::OperationReport;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = flaky_http::serve(2).await?; // busy for two requests

    // The preset waits a second or more, which is too long for an example.
    // The rules of the preset apply to Cloud Storage, and to the host of this example.
    let host = url.trim_start_matches("http://").to_owned();
    let preset = presets::storage().with_host(host);
    let quick = Backoff::exponential(Duration::from_millis(5), 2.0, Duration::from_millis(50));
    let strategy = preset.backoff_strategy().with_backoff(quick);
    // Without `TCP_NODELAY`, uploads over HTTP/2 wait for delayed acknowledgements.
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let client = HttpRetryLayer::preset(&preset.with_backoff_strategy(strategy)).layer(client);

    let request = Request::get(format!("{url}/storage/v1/b?project=p")).body(())?;
    let response = client.send(request).await?;
    println!("{}", response.status());
    let report = OperationReport::of(response.extensions()).ok_or("a response after a retry has a report")?;
    println!("{report}");
    assert_eq!((response.status().as_u16(), report.attempt_count()), (200, 3));
    println!("{:?}", response.into_body().collect().await?.to_bytes());
    Ok(())
}
