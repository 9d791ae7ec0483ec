//! Retries under a reqwest client, with retry settings of one's own.
//!
//! ```text
//! cargo run --example http_reqwest --features reqwest
//! ```

mod flaky_http;

use http::Request;
use std::error::Error;
use std::time::Duration;
use tonic_gax::{Code, HttpRetryLayer, OperationReport, ReplayBody, ReqwestService, RetrySettings};
use tower_layer::Layer as _;
use tower_service::Service as _;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = flaky_http::serve(2).await?; // busy for two requests

    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(5))
        .retry_delay_multiplier(2.0)
        .total_timeout(Duration::from_secs(5))
        .build()?;
    let client = ReqwestService::new(reqwest::Client::new());
    let mut client = HttpRetryLayer::new(&settings, [Code::Unavailable]).layer(client);

    let request = Request::get(format!("{url}/items")).body(ReplayBody::empty())?;
    let response = client.call(request).await?;
    println!("{}", response.status());
    let report = response.extensions().get::<OperationReport>().ok_or("every response has a report")?;
    print!("{report}");
    assert_eq!((response.status().as_u16(), report.attempt_count()), (200, 3));
    Ok(())
}
