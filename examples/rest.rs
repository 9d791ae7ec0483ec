//! A generated client over HTTP and JSON instead of gRPC: the same calls, settings and reports.
//!
//! The library's protos have no `google.api.http` rules, so the program adds them. Clients of Google's APIs don't need that.
//!
//! ```text
//! cargo run --example rest
//! ```

mod library;

use gax_rest::{HttpRule, RestOptions};
use gax_testing::{HttpPeer, HttpReply, HttpScript};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use library::v1::{GetBookRequest, LibraryServiceClient, LibraryServiceSettings, ListBooksRequest};
use std::error::Error;
use tonic::Code;
use tonic_gax::{OperationOptions, OperationReport};

/// The server's replies, in this order, by status and body.
const REPLIES: [(u16, &str); 5] = [
    (503, r#"{"error": {"code": 503, "message": "the library is not open yet"}}"#),
    (200, r#"{"name": "shelves/1/books/2", "title": "Romola"}"#),
    (200, r#"{"books": [{"title": "Middlemarch"}, {"title": "Romola"}], "nextPageToken": "2"}"#),
    (200, r#"{"books": [{"title": "Adam Bede"}]}"#),
    (404, r#"{"error": {"code": 404, "message": "there is no such book"}}"#),
];

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let replies = REPLIES.map(|(status, body)| HttpReply::status(status).with_body(body));
    let (server, url) = HttpPeer::on_socket(HttpScript::new(replies)).await?;
    let http = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
    let options = RestOptions::new()
        .origin(url.parse()?)
        .rule("library.v1.LibraryService.GetBook", HttpRule::get("/v1/{name=shelves/*/books/*}"))
        .rule("library.v1.LibraryService.ListBooks", HttpRule::get("/v1/{parent=shelves/*}/books"));
    let settings = LibraryServiceSettings::default().with_options(OperationOptions::new().reports(true));
    let client = LibraryServiceClient::rest_with_options(http, settings, options)?;

    // The first reply is retried, by the retry table.
    let request = GetBookRequest { name: "shelves/1/books/2".to_owned() };
    let response = client.get_book(request).await?;
    println!("{}", OperationReport::of(response.extensions()).ok_or("reports were asked for")?);
    assert_eq!(response.into_inner().title, "Romola");

    // A list, page by page.
    let request = ListBooksRequest { parent: "shelves/1".to_owned(), page_size: 2, ..Default::default() };
    let mut books = client.list_books_paged(request);
    let mut titles = Vec::new();
    while let Some(book) = books.next().await.transpose()? {
        titles.push(book.title);
    }
    println!("{titles:?}");
    assert_eq!(titles, ["Middlemarch", "Romola", "Adam Bede"]);

    // An error of the server, by its HTTP status.
    let request = GetBookRequest { name: "shelves/1/books/9".to_owned() };
    let status = client.get_book(request).await.err().ok_or("there is no such book")?;
    println!("{status}");
    assert_eq!((status.code(), status.message()), (Code::NotFound, "there is no such book"));

    // A request that doesn't fit the rule's path is not sent.
    let request = GetBookRequest { name: "Romola".to_owned() };
    let status = client.get_book(request).await.err().ok_or("it has no path")?;
    println!("{}", status.message());
    assert_eq!(status.code(), Code::InvalidArgument);

    for request in server.arrivals() {
        println!("{} {}", request.method, request.target);
    }
    Ok(())
}
