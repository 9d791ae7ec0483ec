//! A long-running operation: the program starts it, prints its progress, and resumes it by its name.
//!
//! ```text
//! cargo run --example long_running
//! ```

mod library;

use library::longrunning::operations_server::{Operations, OperationsServer};
use library::longrunning::{GetOperationRequest, Operation, operation};
use library::v1::archive_service_gax::{
    ArchiveServiceClient, ArchiveServiceSettings, ArchiveServiceStubSettings,
};
use library::v1::archive_service_server::{ArchiveService, ArchiveServiceServer};
use library::v1::{ArchiveBooksMetadata, ArchiveBooksRequest, ArchiveBooksResponse};
use prost::Message;
use prost_types::Any;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_gax::RetrySettings;

const BOOKS: i32 = 120;

/// Archives thirty books between two polls, and is unavailable at every third poll.
#[derive(Debug, Clone, Default)]
struct Archive {
    looks: Arc<AtomicI32>,
}

fn any(name: &str, message: &impl Message) -> Any {
    Any { type_url: format!("type.googleapis.com/library.v1.{name}"), value: message.encode_to_vec() }
}

impl Archive {
    fn operation(name: String, archived: i32) -> Operation {
        let done = archived >= BOOKS;
        let response = ArchiveBooksResponse { uri: "archive://shelves/1".to_owned() };
        let result = operation::Result::Response(any("ArchiveBooksResponse", &response));
        let metadata = ArchiveBooksMetadata { archived, total: BOOKS };
        let metadata = Some(any("ArchiveBooksMetadata", &metadata));
        Operation { name, metadata, done, result: done.then_some(result) }
    }
}

#[tonic::async_trait]
impl ArchiveService for Archive {
    async fn archive_books(&self, _: Request<ArchiveBooksRequest>) -> Result<Response<Operation>, Status> {
        Ok(Response::new(Self::operation("operations/archive-1".to_owned(), 0)))
    }
}

#[tonic::async_trait]
impl Operations for Archive {
    async fn get_operation(
        &self,
        request: Request<GetOperationRequest>,
    ) -> Result<Response<Operation>, Status> {
        let look = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        if look % 3 == 0 {
            return Err(Status::unavailable("the archive is being moved"));
        }
        Ok(Response::new(Self::operation(request.into_inner().name, 30 * (look - look / 3))))
    }
}

fn bar(metadata: ArchiveBooksMetadata) -> String {
    let filled = usize::try_from(20 * metadata.archived / metadata.total).unwrap_or_default();
    let (done, left) = ("#".repeat(filled), ".".repeat(20_usize.saturating_sub(filled)));
    format!("[{done}{left}] {} of {} books", metadata.archived, metadata.total)
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let archive = Archive::default();
    let server = Server::builder()
        .add_service(ArchiveServiceServer::new(archive.clone()))
        .add_service(OperationsServer::new(archive));
    let url = library::listen(server).await?;

    // Polls follow quickly here. By default they follow after 5 s, 7.5 s and so on.
    let mut stub = ArchiveServiceStubSettings::builder();
    let quick = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(20))
        .total_timeout(Duration::from_secs(60))
        .build()?;
    stub.archive_books_operation().set_polling_settings(quick);
    let settings = ArchiveServiceSettings::create(stub.build()?);
    let client = ArchiveServiceClient::connect_with_settings(url, settings).await?;

    let mut archive = client.archive_books_operation(ArchiveBooksRequest { parent: "shelves/1".to_owned() });
    let name = archive.started().await?.to_owned();
    println!("{name} has started");

    // The first process prints the beginning, and ends.
    let mut progress = archive.progress();
    for _ in 0..2 {
        let metadata = progress.next().await.ok_or("it is not done yet")?;
        println!("{}", bar(metadata));
    }
    drop(archive);

    // Another process has the name and continues.
    let mut archive = client.resume_archive_books_operation(name);
    let mut progress = archive.progress();
    while let Some(metadata) = progress.next().await {
        println!("{}", bar(metadata));
    }
    let response = (&mut archive).await?;
    println!("{}", response.uri);
    if let Some(report) = archive.report() {
        println!("{report}");
    }
    assert_eq!(response.uri, "archive://shelves/1");
    Ok(())
}
