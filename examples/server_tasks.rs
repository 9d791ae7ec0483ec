//! Work that a server's handler passes to other tasks and threads ends with the request.
//!
//! The handler starts a task, which calls another server, and a thread, which waits before it tries again. The
//! caller goes away after a moment, and neither continues.
//!
//! ```text
//! cargo run --example server_tasks
//! ```

mod library;

use gax_driver::inbound::{Inbound, RequestEnded};
use gax_driver::{RetryError, Retryer};
use library::v1::library_service_server::{LibraryService, LibraryServiceServer};
use library::v1::{Book, GetBookRequest, LibraryServiceClient};
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};
use tonic_gax::{Code, DeadlineLayer, RetrySettings};

/// The ends of what a handler started.
struct Started {
    task: JoinHandle<Result<(), RequestEnded>>,
    thread: JoinHandle<Option<RetryError<Status>>>,
}

/// A library that searches several places concurrently.
struct Branch {
    main: LibraryServiceClient<Channel>,
    started: Mutex<Option<oneshot::Sender<Started>>>,
}

#[tonic::async_trait]
impl LibraryService for Branch {
    async fn get_book(&self, request: Request<GetBookRequest>) -> Result<Response<Book>, Status> {
        let inbound = Inbound::current();
        let main = self.main.clone();
        let request = request.into_inner();

        // This task is dropped with the request. Its calls have no more time than the request.
        let task = tokio::spawn(inbound.clone().scope(async move {
            let result = main.get_book(request).await;
            println!("the task got {result:?}");
        }));

        // A thread can't be stopped, but it stops waiting, and there is no other attempt.
        let thread = tokio::task::spawn_blocking(move || {
            let settings =
                RetrySettings::builder().initial_retry_delay(Duration::from_secs(600)).max_attempts(2);
            let retryer = Retryer::new(&settings.build().ok()?, [Code::Unavailable]).named("catalogue");
            let closed = |_| Err::<(), _>(Status::unavailable("closed for lunch"));
            inbound.enter(|| retryer.run_blocking(closed)).err()
        });

        if let Some(started) = self.started.lock().ok().and_then(|mut started| started.take()) {
            // The receiver may be gone.
            started.send(Started { task, thread }).ok();
        }
        std::future::pending().await
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let main = library::serve(u32::MAX).await?; // rejects every call
    let (sender, started) = oneshot::channel();
    let branch =
        Branch { main: LibraryServiceClient::connect(main).await?, started: Mutex::new(Some(sender)) };

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = Server::builder().layer(DeadlineLayer::new()).add_service(LibraryServiceServer::new(branch));
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));

    let client = LibraryServiceClient::connect(url).await?;
    let request = GetBookRequest { name: "shelves/1/books/1".to_owned() };
    let call = tokio::time::timeout(Duration::from_millis(200), client.get_book(request));
    assert!(call.await.is_err(), "the caller goes away");

    let Started { task, thread } = started.await?;
    let ended = task.await?.err().ok_or("the task was not stopped")?;
    println!("the task: {ended}");
    let error = thread.await?.ok_or("the thread succeeded")?;
    println!("the thread: {error}");
    assert_eq!(error.report().attempt_count(), 1);
    Ok(())
}
