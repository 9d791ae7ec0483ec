//! Lists that a server returns in pages: as a stream of items or of pages, up to a limit, and from the place where another program
//! stopped.
//!
//! ```text
//! cargo run --example paging
//! ```

mod library;

use gax_client::paging::paginate;
use library::Library;
use library::v1::library_service_client::LibraryServiceClient as TonicClient;
use library::v1::{LibraryServiceClient, ListBooksRequest};
use std::error::Error;
use tokio_stream::StreamExt as _;
use tonic::Status;

fn request(page_size: i32) -> ListBooksRequest {
    ListBooksRequest { parent: "shelves/1".to_owned(), page_size, ..ListBooksRequest::default() }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // A server in this process that rejects one call: its page is retried.
    let client = LibraryServiceClient::new(Library::refusing(1));
    let mut books = client.list_books_paged(request(3));
    let mut titles = Vec::new();
    while let Some(book) = books.next().await.transpose()? {
        titles.push(book.title);
    }
    println!("{titles:?}");
    assert_eq!(titles.len(), 7);

    // Four books: a page of three and a page of one. The token is the place to continue.
    let mut pages = client.list_books_paged(request(3)).limit(4).pages();
    while let Some(page) = pages.next().await.transpose()? {
        println!("{} books, then {:?}", page.items.len(), page.next_token);
    }
    let token = pages.token().cloned().ok_or("there are more books")?;
    assert_eq!(token, "4");

    // Another program continues from there, one page ahead.
    let books = client.list_books_paged(request(2)).from_token(token).prefetch();
    let rest: Vec<_> = books.collect::<Result<_, _>>().await?;
    assert_eq!(rest.iter().map(|book| &*book.title).collect::<Vec<_>>(), titles.get(4..).unwrap_or_default());

    // With other clients, a closure reads the pages. Here it uses tonic's client, which doesn't retry.
    let tonics_own = TonicClient::new(Library::refusing(0));
    let books = paginate(String::new(), |page_token| {
        let mut client = tonics_own.clone();
        async move {
            let page = client.list_books(ListBooksRequest { page_token, ..request(3) }).await?.into_inner();
            Ok::<_, Status>((page.books, page.next_page_token))
        }
    });
    let books: Vec<_> = books.collect::<Result<_, _>>().await?;
    assert_eq!(books.len(), 7);
    Ok(())
}
