//! A watch that survives broken connections: it continues after the last revision that it has seen, and restarts if the server
//! no longer has what came after that.
//!
//! ```text
//! cargo run --example watch
//! ```

mod library;

use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use library::v1::catalog_service_server::{CatalogService, CatalogServiceServer};
use library::v1::{
    Book, CatalogChange, CatalogServiceClient, CatalogServiceSettings, CatalogServiceStubSettings,
    WatchCatalogRequest,
};
use std::error::Error;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::Server;
use tonic::{Code as TonicCode, Request, Response, Status};
use tonic_gax::{Code, RetrySettings};

/// Continues after the last revision, or restarts if that is no longer available.
struct Watch {
    revision: u64,
}

impl StreamResumption for Watch {
    type Request = WatchCatalogRequest;
    type Response = CatalogChange;

    fn process(&mut self, change: &mut CatalogChange) -> Processed {
        self.revision = change.revision;
        Processed::Deliver
    }

    fn resume(&mut self, failure: &Status) -> Resume<WatchCatalogRequest> {
        if failure.code() == TonicCode::OutOfRange {
            return Resume::Anew(WatchCatalogRequest { after: 0 });
        }
        Resume::Again(WatchCatalogRequest { after: self.revision })
    }

    /// If a revision is no longer available, another attempt starts from the beginning.
    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        (failure.code() == TonicCode::OutOfRange).then_some(true)
    }
}

/// A catalog with 40 revisions. A connection breaks after seven of them, and while the client is disconnected for the second
/// time, those up to 20 are compacted.
#[derive(Default)]
struct Catalog {
    connections: AtomicU64,
}

#[tonic::async_trait]
impl CatalogService for Catalog {
    type WatchCatalogStream = Pin<Box<dyn Stream<Item = Result<CatalogChange, Status>> + Send>>;

    async fn watch_catalog(
        &self,
        request: Request<WatchCatalogRequest>,
    ) -> Result<Response<Self::WatchCatalogStream>, Status> {
        let after = request.into_inner().after;
        println!("the server is asked for the changes behind revision {after}");
        let oldest = if self.connections.fetch_add(1, Ordering::Relaxed) < 2 { 1 } else { 21 };
        let begins_at = if after == 0 { oldest } else { after + 1 };
        if begins_at < oldest {
            return Err(Status::out_of_range(format!("the changes before revision {oldest} are gone")));
        }
        let ends_at = (begins_at + 7).min(41);
        let change = |revision| {
            let book = Book { name: format!("shelves/1/books/{revision}"), title: "Middlemarch".to_owned() };
            Ok(CatalogChange { revision, book: Some(book) })
        };
        let end = (ends_at <= 40).then(|| Err(Status::unavailable("the connection is lost")));
        Ok(Response::new(Box::pin(tokio_stream::iter((begins_at..ends_at).map(change).chain(end)))))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder().add_service(CatalogServiceServer::new(Catalog::default()));
    let url = library::listen(server).await?;

    let mut stub = CatalogServiceStubSettings::builder();
    let quick = RetrySettings::builder().initial_retry_delay(Duration::from_millis(20)).build()?;
    // There is no time limit: the watch may run for days. Without a number of attempts, it never stops.
    let resumption = Resumption::new(|_: &WatchCatalogRequest| Watch { revision: 0 }).without_total_timeout();
    stub.watch_catalog()
        .set_retry_settings(quick)
        .set_retryable_codes([Code::Unavailable])
        .set_resumption(resumption);
    let settings = CatalogServiceSettings::create(stub.build()?);
    let client = CatalogServiceClient::connect_with_settings(url, settings).await?;

    let mut changes = client.watch_catalog(WatchCatalogRequest::default()).await?.into_inner();
    let (mut revisions, mut restarts) = (Vec::new(), 0);
    while let Some(change) = changes.next().await {
        let change = change?;
        if changes.restarts() > restarts {
            restarts = changes.restarts();
            println!("the watch begins anew: the catalog has to be read again");
        }
        revisions.push(change.revision);
    }
    println!("revisions: {revisions:?}");
    let expected: Vec<u64> = (1..=14).chain(21..=40).collect();
    assert_eq!((revisions, restarts), (expected, 1));
    println!("{}", changes.report().ok_or("a stream that resumes has a report")?);
    Ok(())
}
