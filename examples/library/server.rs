//! A library that refuses its first calls, as a server that is just starting does.

use super::v1::library_service_server::{LibraryService, LibraryServiceServer};
use super::v1::{
    Book, CreateBookRequest, GetBookRequest, ImportBooksResponse, ListBooksRequest, ListBooksResponse,
};
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

#[derive(Debug)]
pub(crate) struct Library {
    refusals: AtomicU32,
}

impl Library {
    /// A library that refuses that many calls with `UNAVAILABLE`, and replies from then on.
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
        let name = format!("{}/books/1", request.into_inner().parent);
        Ok(Response::new(ListBooksResponse { books: vec![Book { name, title: "Middlemarch".to_owned() }] }))
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

/// Serves a library that refuses that many calls, on a port of this machine; its URL.
pub(crate) async fn serve(refusals: u32) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = Server::builder().add_service(Library::refusing(refusals));
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    Ok(url)
}
