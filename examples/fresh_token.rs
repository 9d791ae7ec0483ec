//! A new token in every attempt: the interceptor is inside the retries.
//!
//! A token that is fetched once per call may have expired by the time of the last attempt. An interceptor that
//! a generated client is given runs for each attempt; so does one between the layer and the channel.
//!
//! ```text
//! cargo run --example fresh_token
//! ```

mod library;

use library::v1::{GetBookRequest, LibraryServiceClient};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tonic::{Request, Status};

/// The source of tokens. A real one would fetch a new token shortly before the old one expires.
#[derive(Debug, Default)]
struct Tokens {
    handed_out: AtomicU32,
}

impl Tokens {
    fn token(&self) -> String {
        format!("token-{}", self.handed_out.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    let tokens = Arc::new(Tokens::default());
    let source = Arc::clone(&tokens);
    let authorize = move |mut request: Request<()>| {
        let token = source.token();
        println!("this attempt is sent with {token}");
        let value = format!("Bearer {token}").parse();
        let value = value.map_err(|_| Status::unauthenticated("the token is no header value"))?;
        request.metadata_mut().insert("authorization", value);
        Ok(request)
    };
    let channel = gax_client::connect(url).await?;
    let client = LibraryServiceClient::with_interceptor(channel, authorize);

    let book = client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;
    println!("{:?}", book.into_inner());
    assert_eq!(tokens.handed_out.load(Ordering::Relaxed), 3);
    Ok(())
}
