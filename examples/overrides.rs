//! Overrides the settings of the table: for one RPC, for all RPCs, and for one call.
//!
//! ```text
//! cargo run --example overrides
//! ```

mod library;

use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings, LibraryServiceStubSettings};
use std::error::Error;
use std::time::Duration;
use tonic::{IntoRequest as _, Request};
use tonic_gax::{CallOptions, Code, OperationError, RequestExt as _, RetrySettings, StopReason};

const SECOND: Duration = Duration::from_secs(1);

fn request() -> Request<GetBookRequest> {
    GetBookRequest { name: "shelves/1/books/1".to_owned() }.into_request()
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(u32::MAX).await?; // a server that rejects every call

    // All RPCs: one attempt of at most five seconds.
    let mut stub = LibraryServiceStubSettings::builder();
    stub.apply_to_all_unary_methods(|call| {
        call.set_simple_timeout_no_retries(5 * SECOND);
    });
    // One RPC: its own settings and codes.
    let patient = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(5))
        .retry_delay_multiplier(2.0)
        .max_retry_delay(Duration::from_millis(20))
        .total_timeout(5 * SECOND)
        .max_attempts(4)
        .build()?;
    stub.get_book().set_retry_settings(patient).set_retryable_codes([Code::Unavailable]);
    let settings = LibraryServiceSettings::create(stub.build()?);
    let client = LibraryServiceClient::connect_with_settings(url, settings).await?;

    let status = client.get_book(request()).await.err().ok_or("the library is closed")?;
    assert_eq!(show(&status), Some((4, StopReason::MaxAttempts)));

    // One call: two attempts within a second. Everything else keeps the client's settings.
    let options = CallOptions::new().max_attempts(2).timeout(SECOND);
    let status =
        client.get_book(request().with_call_options(options)).await.err().ok_or("the library is closed")?;
    assert_eq!(show(&status), Some((2, StopReason::MaxAttempts)));
    Ok(())
}

/// Prints why a call failed, the number of attempts, and why there were no more.
fn show(status: &tonic::Status) -> Option<(u32, StopReason)> {
    let error = OperationError::of(status)?;
    println!("{}: {error}", status.code());
    Some((error.report().attempt_count(), error.stop_reason()?))
}
