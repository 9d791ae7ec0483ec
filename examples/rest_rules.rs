//! Retries for your own REST API, by the rules in `rest_rules.toml`: which requests are safe to retry, for which statuses, how
//! often and how long.
//!
//! ```text
//! cargo run --example rest_rules
//! ```

use gax_http::HttpRetryLayer;
use gax_table::RetryTable;
use gax_testing::{HttpPeer, HttpReply, HttpScript};
use http::{Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::error::Error;
use tonic_gax::{OperationOptions, OperationReport};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let table = RetryTable::parse(include_str!("rest_rules.toml"))?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let client =
        HttpRetryLayer::from_policies(&table).options(OperationOptions::new().reports(true)).layer(client);

    // Each of these servers is busy for two requests.
    for (title, request, attempts) in [
        ("a GET is safe to retry", Request::get("/v1/invoices/7").body(String::new())?, 3),
        ("so is a search, says its rule", Request::post("/v1/invoices:search").body("{}".to_owned())?, 3),
        ("this POST is not", Request::post("/v1/invoices").body("{}".to_owned())?, 1),
        (
            "with a key it is",
            Request::post("/v1/invoices").header("Idempotency-Key", "8e03978e").body("{}".to_owned())?,
            3,
        ),
    ] {
        let busy = HttpScript::new([HttpReply::status(503), HttpReply::status(503)]);
        let (_server, url) = HttpPeer::on_socket(busy).await?;
        let (mut parts, body) = request.into_parts();
        parts.uri = format!("{url}{}", parts.uri).parse()?;
        let response = client.send(Request::from_parts(parts, body)).await?;
        let report = OperationReport::of(response.extensions()).ok_or("reports are asked for")?;
        println!("{title}:\n{report}\n");
        let expected = if attempts == 1 { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        assert_eq!((response.status(), report.attempt_count()), (expected, attempts));
    }
    Ok(())
}
