//! Requests that no server has processed are sent again immediately, without a delay, and not treated as attempts.
//!
//! The server refuses the first stream, like a server that is shutting down or has too many streams. An observer and the report
//! show it.
//!
//! ```text
//! cargo run --example transparent_retries
//! ```

mod library;

use gax_driver::observe::{OperationInfo, OperationObserver};
use gax_testing::{Break, Reply, Script, VirtualServer};
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings, LibraryServiceStubSettings};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tonic_gax::{OperationOptions, OperationReport, StartedAttempt};

/// `REFUSED_STREAM` of HTTP/2.
const REFUSED: Reply = Reply::Break(Break::Reset(7));

#[derive(Default)]
struct Resends(AtomicU32);

impl OperationObserver for Resends {
    fn transparent_retry(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        self.0.fetch_add(1, Ordering::Relaxed);
        println!("{}: attempt {} is sent again", operation.method(), attempt.number());
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let resends = Arc::new(Resends::default());
    // GetBook is retried after UNAVAILABLE, by the table.
    let settings = LibraryServiceSettings::create(LibraryServiceStubSettings::builder().build()?);
    let settings = settings.with_options(OperationOptions::new().observer(resends.clone()));

    let server = VirtualServer::start(Script::new().on("GetBook", [REFUSED]));
    let client = LibraryServiceClient::with_settings(server.channel(), settings);
    let response = client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;

    let report = OperationReport::of(response.extensions()).ok_or("a transparent retry is reported")?;
    println!("{report}");
    assert_eq!((report.attempt_count(), report.transparent_retries()), (1, 1));
    assert_eq!(report.elapsed().as_millis(), 0);
    assert_eq!((resends.0.load(Ordering::Relaxed), server.seen().len()), (1, 2));
    Ok(())
}
