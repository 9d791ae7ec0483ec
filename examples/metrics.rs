//! Metrics: an observer that counts a client's operations and attempts.
//!
//! ```text
//! cargo run --example metrics
//! ```

mod library;

use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary};
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tonic_gax::{OperationOptions, StartedAttempt};

/// The counters. In a program, use those of your metrics library, with the method as a label.
#[derive(Debug, Default)]
struct Counters {
    attempts: AtomicU64,
    succeeded: AtomicU64,
    retried: AtomicU64,
    failed: AtomicU64,
}

impl OperationObserver for Counters {
    fn attempt_started(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        println!("{}: attempt {} starts", operation.method(), attempt.number());
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    fn operation_succeeded(&self, operation: &OperationInfo, summary: &OperationSummary) {
        println!("{}: OK after {:?}", operation.method(), summary.elapsed());
        self.succeeded.fetch_add(1, Ordering::Relaxed);
        self.retried.fetch_add((summary.attempts() > 1).into(), Ordering::Relaxed);
    }

    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        println!("{}: {} after {:?}", operation.method(), summary.code(), summary.elapsed());
        self.failed.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    let counters = Arc::new(Counters::default());
    let observer: Arc<dyn OperationObserver> = Arc::clone(&counters) as _;
    let settings = LibraryServiceSettings::default().with_options(OperationOptions::new().observer(observer));
    let client = LibraryServiceClient::connect_with_settings(url, settings).await?;

    for _ in 0..2 {
        client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;
    }
    let counts = [&counters.attempts, &counters.succeeded, &counters.retried, &counters.failed];
    assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [4, 2, 1, 0]);
    Ok(())
}
