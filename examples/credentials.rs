//! Credentials from a token server: fetched once, used by all calls, and fetched again if the service rejects them.
//!
//! Both servers are in this program: one returns tokens like an OAuth server, and the library accepts all but the first, as if it
//! had been revoked.
//!
//! ```text
//! cargo run --example credentials
//! ```

mod library;

use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsError, CredentialsService};
use gax_testing::{HttpArrival, HttpPeer, HttpReply, HttpScript};
use library::Library;
use library::v1::{GetBookRequest, LibraryServiceClient};
use serde::Deserialize;
use std::error::Error;
use std::io;
use std::time::Duration;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::{Request, Status};
use tonic_gax::{CallOptions, Code, OperationReport, RequestExt as _};

/// The response of a token server.
#[derive(Deserialize)]
struct Token {
    access_token: String,
    expires_in: u64,
}

/// Fetches a token. `UNAVAILABLE` is retried, by the settings of the call that waits for it.
async fn fetch(url: String) -> Result<AuthHeaders, CredentialsError> {
    let unavailable = |error: reqwest::Error| CredentialsError::new(Code::Unavailable, error);
    let response = reqwest::get(url).await.and_then(reqwest::Response::error_for_status);
    let token: Token = response.map_err(unavailable)?.json().await.map_err(unavailable)?;
    println!("fetched a token that is valid for {} s", token.expires_in);
    let headers = AuthHeaders::bearer(&token.access_token)?;
    Ok(headers.expires_in(Duration::from_secs(token.expires_in)))
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let (tokens, url) = (serve_tokens().await?, serve_library().await?);

    let credentials = Credentials::new(move || fetch(tokens.clone()));
    let channel = gax_client::connect(url).await?;
    let client = LibraryServiceClient::new(CredentialsService::new(channel, credentials));

    // The first token is rejected and replaced. The second call uses the new token.
    for replaced in [1, 0] {
        let request = Request::new(GetBookRequest { name: "shelves/1/books/1".to_owned() });
        let request = request.with_call_options(CallOptions::new().report(true));
        let book = client.get_book(request).await?;
        let report = OperationReport::of(book.extensions()).ok_or("no report")?;
        println!("{}\n{report}", book.get_ref().title);
        assert_eq!((report.attempts().len(), report.transparent_retries()), (1, replaced));
    }
    Ok(())
}

/// Serves `token-1`, `token-2` and so on, as JSON; returns the URL.
async fn serve_tokens() -> io::Result<String> {
    let token = |number: usize, _: &HttpArrival| {
        let number = number + 1;
        let body = format!("{{\"access_token\": \"token-{number}\", \"expires_in\": 3600}}");
        HttpReply::status(200).with_header("content-type", "application/json").with_body(body)
    };
    let (_server, url) = HttpPeer::on_socket(HttpScript::by(token)).await?;
    Ok(url)
}

/// Serves a library that accepts every token but the first; returns the URL.
async fn serve_library() -> io::Result<String> {
    let check = |request: Request<()>| match request.metadata().get("authorization") {
        Some(token) if token != "Bearer token-1" => Ok(request),
        _ => Err(Status::unauthenticated("the token has been revoked")),
    };
    let service = InterceptedService::new(Library::refusing(0), check);
    library::listen(Server::builder().add_service(service)).await
}
