//! A library that rejects its first calls, like a server that is starting.

use super::v1::library_service_server::{LibraryService, LibraryServiceServer};
use super::v1::{
    Book, CreateBookRequest, GetBookRequest, ImportBooksResponse, ListBooksRequest, ListBooksResponse,
};
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::{Router, TcpIncoming};
use tonic::{Request, Response, Status, Streaming};

/// The books on each shelf.
const TITLES: [&str; 7] = [
    "Middlemarch",
    "Romola",
    "Adam Bede",
    "Silas Marner",
    "Daniel Deronda",
    "Felix Holt",
    "The Mill on the Floss",
];

fn bad_token(token: &str) -> Status {
    Status::invalid_argument(format!("{token:?} is no page token"))
}

#[derive(Debug)]
pub(crate) struct Library {
    refusals: AtomicU32,
}

impl Library {
    /// A library that rejects this many calls with `UNAVAILABLE`, and then replies.
    pub(crate) fn refusing(calls: u32) -> LibraryServiceServer<Self> {
        LibraryServiceServer::new(Self { refusals: calls.into() })
    }

    fn open(&self) -> Result<(), Status> {
        let one_less = |left: u32| left.checked_sub(1);
        match self.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
            Ok(_) => Err(Status::unavailable("the library is not open yet")),
            Err(_) => Ok(()),
        }
    }
}

#[tonic::async_trait]
impl LibraryService for Library {
    async fn get_book(&self, request: Request<GetBookRequest>) -> Result<Response<Book>, Status> {
        self.open()?;
        Ok(Response::new(Book { name: request.into_inner().name, title: "Middlemarch".to_owned() }))
    }

    async fn list_books(
        &self,
        request: Request<ListBooksRequest>,
    ) -> Result<Response<ListBooksResponse>, Status> {
        self.open()?;
        let ListBooksRequest { parent, page_size, page_token } = request.into_inner();
        // A page's token is the number of books before it.
        let before =
            if page_token.is_empty() { 0 } else { page_token.parse().map_err(|_| bad_token(&page_token))? };
        let size = usize::try_from(page_size).ok().filter(|size| *size > 0).unwrap_or(TITLES.len());
        let books = TITLES.iter().enumerate().skip(before).take(size);
        let book = |(number, title): (usize, &&str)| Book {
            name: format!("{parent}/books/{}", number + 1),
            title: (*title).to_owned(),
        };
        let after = before.saturating_add(size);
        let next_page_token = if after < TITLES.len() { after.to_string() } else { String::new() };
        Ok(Response::new(ListBooksResponse { books: books.map(book).collect(), next_page_token }))
    }

    async fn import_books(
        &self,
        request: Request<Streaming<Book>>,
    ) -> Result<Response<ImportBooksResponse>, Status> {
        self.open()?;
        let (mut books, mut count) = (request.into_inner(), 0);
        while books.message().await?.is_some() {
            count += 1;
        }
        Ok(Response::new(ImportBooksResponse { count }))
    }

    async fn create_book(&self, request: Request<CreateBookRequest>) -> Result<Response<Book>, Status> {
        self.open()?;
        let CreateBookRequest { parent, book } = request.into_inner();
        Ok(Response::new(Book { name: format!("{parent}/books/2"), ..book.unwrap_or_default() }))
    }
}

/// Serves a library that rejects this many calls on a local port, and returns its URL.
pub(crate) async fn serve(refusals: u32) -> io::Result<String> {
    listen(Server::builder().add_service(Library::refusing(refusals))).await
}

/// Serves that on a port of this machine; its URL.
pub(crate) async fn listen(server: Router) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true))));
    Ok(url)
}
