//! A subscription to a feed that ends its streams, repeats messages and sends heartbeats: each change arrives once, whatever the
//! connections do, and another task reads the state of the subscription.
//!
//! ```text
//! cargo run --example feed
//! ```

mod library;

use gax_streams::resumption::{Processed, Resume, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy, Update};
use library::v1::catalog_service_server::{CatalogService, CatalogServiceServer};
use library::v1::{
    Book, CatalogChange, CatalogServiceClient, CatalogServiceSettings, CatalogServiceStubSettings,
    WatchCatalogRequest,
};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tonic::codegen::BoxStream;
use tonic::transport::Server;
use tonic::{Code as TonicCode, Request, Response, Status};
use tonic_gax::{Code, RetrySettings};

/// The last change that there is.
const LAST: u64 = 30;

/// Continues after the last revision, until the last change has arrived.
struct Changes {
    revision: u64,
}

impl StreamResumption for Changes {
    type Request = WatchCatalogRequest;
    type Response = CatalogChange;

    fn process(&mut self, change: &mut CatalogChange) -> Processed {
        // Heartbeats have no book, and the first change of a stream may be a repetition.
        if change.book.is_none() || change.revision <= self.revision {
            return Processed::Skip;
        }
        self.revision = change.revision;
        Processed::Deliver
    }

    fn resume(&mut self, failure: &Status) -> Resume<WatchCatalogRequest> {
        if failure.code() == TonicCode::OutOfRange {
            self.revision = 0;
            return Resume::Anew(WatchCatalogRequest { after: 0 });
        }
        Resume::Again(WatchCatalogRequest { after: self.revision })
    }

    /// If changes are no longer available, another connection starts from the beginning.
    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        (failure.code() == TonicCode::OutOfRange).then_some(true)
    }
}

impl SubscriptionStrategy for Changes {
    type Message = ();

    /// The end of a stream is not the end of the feed.
    fn ended(&mut self) -> OnEnd {
        if self.revision < LAST { OnEnd::Reconnect } else { OnEnd::End }
    }
}

/// A catalog whose streams have six changes and heartbeats, and end successfully or break. Before the third stream, the changes up
/// to 20 are forgotten.
#[derive(Default)]
struct Catalog {
    connections: AtomicU64,
}

#[tonic::async_trait]
impl CatalogService for Catalog {
    async fn watch_catalog(
        &self,
        request: Request<WatchCatalogRequest>,
    ) -> Result<Response<BoxStream<CatalogChange>>, Status> {
        let after = request.into_inner().after;
        println!("the server is asked for the changes behind revision {after}");
        let connections = self.connections.fetch_add(1, Ordering::Relaxed);
        let oldest = if connections < 2 { 1 } else { 21 };
        if (1..oldest).contains(&after) {
            return Err(Status::out_of_range(format!("the changes before revision {oldest} are forgotten")));
        }
        // The last change is repeated.
        let begins_at = after.max(oldest);
        let change = |revision| {
            let book = Book { name: format!("shelves/1/books/{revision}"), title: "Middlemarch".to_owned() };
            [Ok(CatalogChange { revision, book: Some(book) }), Ok(CatalogChange { revision, book: None })]
        };
        let end = (connections % 2 == 1).then(|| Err(Status::unavailable("the connection is lost")));
        let changes = (begins_at..(begins_at + 6).min(LAST + 1)).flat_map(change);
        Ok(Response::new(Box::pin(tokio_stream::iter(changes.chain(end)))))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder().add_service(CatalogServiceServer::new(Catalog::default()));
    let url = library::listen(server).await?;

    let mut stub = CatalogServiceStubSettings::builder();
    let quick =
        RetrySettings::builder().initial_retry_delay(Duration::from_millis(20)).max_attempts(5).build()?;
    stub.watch_catalog().set_retry_settings(quick).set_retryable_codes([Code::Unavailable]);
    // The settings of the RPC; the connections are opened by the same client.
    let subscriber = Subscriber::new(&*stub.watch_catalog())
        .named("library.v1.CatalogService/WatchCatalog")
        .without_total_timeout();
    let settings = CatalogServiceSettings::create(stub.build()?);
    let client = CatalogServiceClient::connect_with_settings(url, settings).await?;

    let first = WatchCatalogRequest { after: 0 };
    let connect = move |opening: Opening<WatchCatalogRequest, ()>| {
        let client = client.clone();
        async move { client.watch_catalog(opening.into_request()).await }
    };
    let mut changes = subscriber.subscribe(first, Changes { revision: 0 }, connect);

    let mut states = changes.states();
    let watching = tokio::spawn(async move {
        let mut seen = 0;
        while states.changed().await.is_some() {
            seen += 1;
        }
        seen
    });

    let mut revisions = Vec::new();
    while let Some(update) = changes.update().await? {
        match update {
            Update::Message(change) => revisions.push(change.revision),
            Update::Restarted => println!("the feed begins anew: the catalog has to be read again"),
        }
    }
    println!("revisions: {revisions:?}");
    let expected: Vec<u64> = (1..=11).chain(21..=LAST).collect();
    assert_eq!((revisions, changes.restarts()), (expected, 1));
    println!("{}", changes.report().ok_or("a subscription that is over has a report")?);
    drop(changes);
    println!("the other task saw {} states", watching.await?);
    Ok(())
}
