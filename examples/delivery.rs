//! Checks whether a failed call may have changed something on the server.
//!
//! ```text
//! cargo run --example delivery
//! ```

mod library;

use gax_driver::report::Delivery;
use gax_testing::{Break, Reply, Script, VirtualServer};
use library::v1::{Book, CreateBookRequest, LibraryServiceClient};
use library::v1::{LibraryServiceSettings, LibraryServiceStubSettings};
use std::error::Error;
use std::time::Duration;
use tonic::Status;
use tonic_gax::{Code, Note, OperationError, RetrySettings};

/// `REFUSED_STREAM` of HTTP/2: the server has not processed the request.
const REFUSED: Reply = Reply::Break(Break::Reset(7));

/// The status that creating a book ends with if the server replies so to its two attempts.
async fn create(replies: Vec<Reply>) -> Result<Status, Box<dyn Error>> {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(100))
        .max_attempts(2)
        .total_timeout(Duration::from_secs(5));
    let mut stub = LibraryServiceStubSettings::builder();
    stub.create_book().set_retry_settings(settings.build()?).set_retryable_codes([Code::Unavailable]);
    let settings = LibraryServiceSettings::create(stub.build()?);

    let server = VirtualServer::start(Script::new().on("CreateBook", replies));
    let client = LibraryServiceClient::with_settings(server.channel(), settings);
    let book = Book { name: String::new(), title: "Middlemarch".to_owned() };
    let request = CreateBookRequest { parent: "shelves/1".to_owned(), book: Some(book) };
    Ok(client.create_book(request).await.err().ok_or("it can't be created")?)
}

fn outcome(status: &Status) -> Result<&OperationError, &'static str> {
    let error = OperationError::of(status).ok_or("a call ends with a report")?;
    println!("{error}: {:?}", error.delivery());
    Ok(error)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // The server reports each time that it has not processed the request: there is no book.
    let status = create(vec![REFUSED; 3]).await?;
    assert_eq!(outcome(&status)?.delivery(), Delivery::NotProcessed);

    // The connection breaks during the request: there may be a book.
    let status = create(vec![Reply::Break(Break::Close), REFUSED, Reply::unavailable()]).await?;
    assert!(outcome(&status)?.may_have_been_applied());

    // The first attempt's response is lost, and the second attempt finds the book. It may be the one that the first attempt created.
    let there = Reply::status(Status::already_exists("there is such a book"));
    let status = create(vec![Reply::Break(Break::Close), there]).await?;
    assert_eq!(outcome(&status)?.report().notes(), [Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED]);
    Ok(())
}
