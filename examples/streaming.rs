//! A stream of requests that is sent again: it is buffered while it is sent, up to a limit.
//!
//! ```text
//! cargo run --example streaming
//! ```

mod library;

use library::v1::{Book, LibraryServiceClient, LibraryServiceSettings, LibraryServiceStubSettings};
use std::error::Error;
use std::time::Duration;
use tonic::Request;
use tonic_gax::{
    CallOptions, Code, OperationOptions, OperationReport, ReplayOptions, RequestExt as _, RetrySettings, note,
};

fn books(count: u32) -> impl Iterator<Item = Book> {
    let book = |number| Book { name: format!("shelves/1/books/{number}"), title: "Middlemarch".to_owned() };
    (0..count).map(book)
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    let mut stub = LibraryServiceStubSettings::builder();
    let quick = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(20))
        .total_timeout(Duration::from_secs(10))
        .build()?;
    stub.import_books().set_retry_settings(quick).set_retryable_codes([Code::Unavailable]);
    // An import may run twice: an existing book is replaced.
    let settings = LibraryServiceSettings::create(stub.build()?)
        .with_replay(ReplayOptions::new().replay_streams(true).max_replay_bytes(64 * 1024))
        .with_options(OperationOptions::new().reports(true));
    let client = LibraryServiceClient::connect_with_settings(url, settings).await?;

    // Each of the three attempts is sent all books.
    let response = client.import_books(tokio_stream::iter(books(100))).await?;
    let report = OperationReport::of(response.extensions()).ok_or("a retry is reported")?;
    println!("{report}");
    assert_eq!((report.attempt_count(), response.get_ref().count), (3, 100));

    // A stream above the limit is still sent, but only once: from then on the call is committed.
    let request = Request::new(tokio_stream::iter(books(10_000)));
    let request = request.with_call_options(CallOptions::new().timeout(Duration::from_secs(60)));
    let response = client.import_books(request).await?;
    let report = OperationReport::of(response.extensions()).ok_or("the client asks for reports")?;
    println!("{report}");
    assert_eq!(response.get_ref().count, 10_000);
    assert!(report.notes().contains(&note::STREAM_TOO_LARGE_TO_REPLAY));
    Ok(())
}
