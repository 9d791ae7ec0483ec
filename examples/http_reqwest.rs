//! Retries under a reqwest client, with your own settings.
//!
//! ```text
//! cargo run --example http_reqwest
//! ```

mod flaky_http;

use gax_http::{HttpRetryLayer, ReqwestService};
use std::error::Error;
use std::time::Duration;
use tonic_gax::{Code, OperationReport, RetrySettings};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = flaky_http::serve(2).await?; // busy for two requests

    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(5))
        .retry_delay_multiplier(2.0)
        .total_timeout(Duration::from_secs(5))
        .build()?;
    let client = ReqwestService::without_redirects(reqwest::Client::builder())?;
    let client = HttpRetryLayer::new(&settings, [Code::Unavailable]).layer(client);

    let response = client.get(format!("{url}/items")).bearer_auth("token").send().await?;
    println!("{}", response.status());
    let report = OperationReport::of(response.extensions()).ok_or("a response after a retry has a report")?;
    println!("{report}");
    assert_eq!((response.status().as_u16(), report.attempt_count()), (200, 3));
    println!("{}", response.text().await?);
    Ok(())
}
