//! A test of your own code: a fake server in the same process, and a paused clock.
//!
//! tonic's server type is a tower service, so a client or a layer takes it where it takes a channel: no port, no
//! connection. With tokio's clock paused, a delay passes immediately, and every time is exact.
//!
//! ```text
//! cargo run --example testing
//! ```

mod library;

use gax_client::GrpcTransport;
use library::Library;
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings, LibraryServiceStubSettings};
use std::error::Error;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Code;
use tonic_gax::{OperationError, RetrySettings, StopReason};

/// The function under test: it takes a client over any transport.
async fn title<T: GrpcTransport>(client: &LibraryServiceClient<T>) -> Result<String, tonic::Status> {
    let book = client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;
    Ok(book.into_inner().title)
}

// In a program this is `#[tokio::test(start_paused = true)]`.
#[tokio::main(flavor = "current_thread", start_paused = true)]
#[expect(clippy::disallowed_methods, reason = "the clock is paused, so the time that it shows is exact")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // Without jitter, the delays are exact.
    let exact = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(200))
        .retry_delay_multiplier(2.0)
        .total_timeout(Duration::from_secs(2))
        .jittered(false)
        .build()?;
    let mut stub = LibraryServiceStubSettings::builder();
    stub.get_book().set_retry_settings(exact);
    let settings = LibraryServiceSettings::create(stub.build()?);

    // An outage that ends in time: two rejected attempts, and delays of 200 and 400 ms.
    let client = LibraryServiceClient::with_settings(Library::refusing(2), settings.clone());
    let began = Instant::now();
    assert_eq!(title(&client).await?, "Middlemarch");
    assert_eq!(began.elapsed(), Duration::from_millis(600));

    // And one that doesn't: attempts at 0, 200, 600 and 1400 ms; the next would be at 3000 ms.
    let client = LibraryServiceClient::with_settings(Library::refusing(100), settings);
    let status = title(&client).await.err().ok_or("the library stays closed")?;
    assert_eq!(status.code(), Code::Unavailable);
    let report = OperationError::of(&status).ok_or("a call ends with a report")?.report();
    let starts: Vec<_> = report.attempts().iter().map(|attempt| attempt.start().as_millis()).collect();
    assert_eq!(starts, [0, 200, 600, 1400]);
    assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
    println!("{report}");
    Ok(())
}
