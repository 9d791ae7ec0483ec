//! The attempts of an outage with a retry budget, and without.
//!
//! Two clients call the same server, each over its own layer. With a registry of budgets, they share the server's
//! budget, so that one need not find out what the other knows.
//!
//! ```text
//! cargo run --example budgets
//! ```

mod library;

use gax_table::RetryTable;
use library::Library;
use library::v1::GetBookRequest;
use library::v1::library_service_client::LibraryServiceClient;
use std::error::Error;
use tonic_gax::settings::RetryBudgets;
use tonic_gax::{OperationError, OperationOptions, RetryLayer, StopReason};

const TABLE: &str = r#"{
    "methodConfig": [{
        "name": [{"service": "library.v1.LibraryService"}],
        "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.01s", "maxBackoff": "1s", "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"]}
    }],
    "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
}"#;

/// How many attempts fifty calls of each client make while the server is down, and how many calls the budget cut short.
async fn outage(layers: [RetryLayer; 2]) -> Result<(u32, u32), Box<dyn Error>> {
    // Clones of one server: it is down for both.
    let down = Library::refusing(u32::MAX);
    let (mut attempts, mut throttled) = (0, 0);
    for layer in layers {
        let mut client = LibraryServiceClient::new(layer.layer(down.clone()));
        for _ in 0..50 {
            let request = GetBookRequest { name: "shelves/1/books/1".to_owned() };
            let status = client.get_book(request).await.err().ok_or("the library stays closed")?;
            let report = OperationError::of(&status).ok_or("a call ends with a report")?.report();
            attempts += report.attempt_count();
            throttled += u32::from(report.stop_reason() == Some(StopReason::Throttled));
        }
    }
    Ok((attempts, throttled))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let layer = || RetryTable::parse(TABLE).map(RetryLayer::new);

    let without = outage([
        layer()?.options(OperationOptions::new().retry_budget(None)),
        layer()?.options(OperationOptions::new().retry_budget(None)),
    ])
    .await?;
    println!("without a budget: {} attempts of 100 calls", without.0);
    assert_eq!(without, (400, 0));

    // With the table, each layer has its own budget.
    let own = outage([layer()?, layer()?]).await?;
    println!("a budget for each layer: {} attempts, {} calls were not retried to the end", own.0, own.1);
    assert_eq!(own, (106, 98));

    // gRPC has one for each server.
    let budgets = RetryBudgets::new();
    let of_server = || layer().map(|layer| layer.server_retry_budget(&budgets, "library"));
    let shared = outage([of_server()?, of_server()?]).await?;
    println!("one for the server: {} attempts, {} calls", shared.0, shared.1);
    assert_eq!(shared, (103, 99));
    Ok(())
}
