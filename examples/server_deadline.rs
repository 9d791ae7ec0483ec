//! A server's handler calls another service within the deadline of its caller.
//!
//! `DeadlineLayer` reads the `grpc-timeout` of each incoming request. Calls that the handler makes in
//! its own task end with it, whatever their settings are.
//!
//! ```text
//! cargo run --example server_deadline
//! ```

mod library;

use library::v1::library_service_server::{LibraryService, LibraryServiceServer};
use library::v1::{Book, CreateBookRequest, GetBookRequest, ImportBooksResponse, LibraryServiceClient};
use library::v1::{ListBooksRequest, ListBooksResponse};
use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{IntoRequest as _, Request, Response, Status, Streaming};
use tonic_gax::{DeadlineLayer, OperationError};

/// A library without books, which calls another library.
struct Branch {
    main: LibraryServiceClient<Channel>,
}

#[tonic::async_trait]
impl LibraryService for Branch {
    async fn get_book(&self, request: Request<GetBookRequest>) -> Result<Response<Book>, Status> {
        let result = self.main.get_book(request.into_inner()).await;
        if let Some(error) = result.as_ref().err().and_then(|status| OperationError::of(status)) {
            // The table gives GetBook ten seconds. The caller has less time, which limits the call.
            println!("the branch gave up: {error}");
            assert!(error.report().elapsed() < Duration::from_secs(1));
        }
        result
    }

    async fn list_books(&self, _: Request<ListBooksRequest>) -> Result<Response<ListBooksResponse>, Status> {
        Err(Status::unimplemented("a branch has no lists"))
    }

    async fn create_book(&self, _: Request<CreateBookRequest>) -> Result<Response<Book>, Status> {
        Err(Status::unimplemented("books are added at the main library"))
    }

    async fn import_books(
        &self,
        _: Request<Streaming<Book>>,
    ) -> Result<Response<ImportBooksResponse>, Status> {
        Err(Status::unimplemented("books are imported at the main library"))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let main = library::serve(u32::MAX).await?; // rejects every call
    let branch = Branch { main: LibraryServiceClient::connect(main).await? };

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = Server::builder().layer(DeadlineLayer::new()).add_service(LibraryServiceServer::new(branch));
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));

    let client = LibraryServiceClient::connect(url).await?;
    let mut request = GetBookRequest { name: "shelves/1/books/1".to_owned() }.into_request();
    request.set_timeout(Duration::from_millis(200));
    let status = client.get_book(request).await.err().ok_or("nobody has the book")?;
    println!("the caller got: {status}");
    Ok(())
}
