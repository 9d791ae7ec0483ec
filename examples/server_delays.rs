//! Servers ask for a delay before the next attempt, or for no retry.
//!
//! ```text
//! cargo run --example server_delays
//! ```

mod library;

use gax_testing::{Reply, Script, VirtualServer};
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings, LibraryServiceStubSettings};
use std::error::Error;
use std::time::Duration;
use tonic_gax::{
    CallOptions, Code, OperationError, OperationOptions, OperationReport, RequestExt as _, RetrySettings,
    StopReason,
};

/// The starts of a call's attempts in milliseconds for these replies of the server, and why the call ended.
async fn call(replies: Vec<Reply>) -> Result<(Vec<u128>, Option<StopReason>), Box<dyn Error>> {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(100))
        .total_timeout(Duration::from_secs(10))
        .build()?;
    let mut stub = LibraryServiceStubSettings::builder();
    stub.get_book().set_retry_settings(settings).set_retryable_codes([Code::Unavailable]);
    let settings =
        LibraryServiceSettings::create(stub.build()?).with_options(OperationOptions::new().without_jitter());

    let server = VirtualServer::start(Script::new().on("GetBook", replies));
    let client = LibraryServiceClient::with_settings(server.channel(), settings);
    let request = tonic::Request::new(GetBookRequest { name: "shelves/1/books/1".to_owned() });
    let result = client.get_book(request.with_call_options(CallOptions::new().report(true))).await;
    let report = match &result {
        Ok(response) => OperationReport::of(response.extensions()),
        Err(status) => OperationError::of(status).map(OperationError::report),
    };
    let report = report.ok_or("a call ends with a report")?;
    println!("{report}\n");
    let starts = report.attempts().iter().map(|attempt| attempt.start().as_millis()).collect();
    Ok((starts, report.stop_reason()))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // A pushback replaces the wait, shorter or longer.
    assert_eq!(call(vec![Reply::pushback(700)]).await?, (vec![0, 700], None));

    // A negative pushback means no retry.
    assert_eq!(call(vec![Reply::pushback(-1)]).await?, (vec![0], Some(StopReason::Pushback)));

    // A proxy in front of the server asks for two seconds. The back-off is added, so that not all clients return at the same time.
    let busy = Reply::http(503, &[("retry-after", "2")]);
    assert_eq!(call(vec![busy]).await?, (vec![0, 2100], None));

    // The delay doesn't fit into the total timeout: the operation ends immediately with the server's error.
    let later = Reply::http(503, &[("retry-after", "60")]);
    assert_eq!(call(vec![later]).await?, (vec![0], Some(StopReason::ServerDelayExceedsTotalTimeout)));
    Ok(())
}
