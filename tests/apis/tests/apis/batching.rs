//! Batching that the generator writes for a `batch_descriptor`.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_batching::BatchingSettings;
use gax_batching::{AddRefusal, Batcher, ElementFailure};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::{Request, Response, Status};
use tonic_gax::{Code, OperationError, RetrySettings};
use tonic_gax_api_tests::mixed::google::longrunning::Operation;
use tonic_gax_api_tests::mixed::mixed::v1 as library;
use tonic_gax_api_tests::mixed::mixed::v1::library_server::{Library, LibraryServer};
use tonic_gax_api_tests::mixed::mixed::v1::{Book, PublishRequest, PublishResponse};

/// Gives each message an id of its topic and name, and refuses topics that are called `gone`.
#[derive(Clone, Default)]
struct Publisher(Arc<Mutex<Vec<PublishRequest>>>);

#[tonic::async_trait]
impl Library for Publisher {
    async fn publish(&self, request: Request<PublishRequest>) -> Result<Response<PublishResponse>, Status> {
        let request = request.into_inner();
        self.0.lock().unwrap().push(request.clone());
        if request.topic == "gone" {
            return Err(Status::not_found("no such topic"));
        }
        if request.topic == "busy" && self.0.lock().unwrap().len() == 1 {
            return Err(Status::unavailable("once"));
        }
        let id = |book: &Book| format!("{}/{}", request.topic, book.name);
        Ok(Response::new(PublishResponse { message_ids: request.messages.iter().map(id).collect() }))
    }

    async fn get_book(&self, _: Request<Book>) -> Result<Response<Book>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn reindex(&self, _: Request<Book>) -> Result<Response<Operation>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn r#move(&self, _: Request<Book>) -> Result<Response<Operation>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn begin(&self, _: Request<Book>) -> Result<Response<Operation>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn move_operation(&self, _: Request<Book>) -> Result<Response<Book>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// A request with messages of these names.
fn request(topic: &str, label: &str, names: &[&str]) -> PublishRequest {
    PublishRequest {
        topic: topic.to_owned(),
        r#type: Some(Book { name: "kind".to_owned() }),
        labels: HashMap::from([("a".to_owned(), "1".to_owned()), ("label".to_owned(), label.to_owned())]),
        messages: names.iter().map(|&name| Book { name: name.to_owned() }).collect(),
    }
}

fn client(publisher: &Publisher) -> library::LibraryClient<LibraryServer<Publisher>> {
    let mut stub = library::LibraryStubSettings::builder();
    let settings = RetrySettings::builder().max_attempts(2).build().unwrap();
    stub.publish().set_retry_settings(settings).set_retryable_codes([Code::Unavailable]);
    let settings = library::LibrarySettings::create(stub.build().unwrap());
    library::LibraryClient::with_settings(LibraryServer::new(publisher.clone()), settings)
}

#[tokio::test(start_paused = true)]
async fn requests_are_merged_by_their_discriminators_and_responses_split() {
    let publisher = Publisher::default();
    let batcher = Batcher::spawn(client(&publisher).publish_batching()).unwrap();
    let one = batcher.add(request("t", "x", &["a", "b"])).await.unwrap();
    let other = batcher.add(request("t", "y", &["c"])).await.unwrap();
    // A map that is equal, though its entries may be in another order.
    let two = batcher.add(request("t", "x", &["d"])).await.unwrap();
    let three = batcher.add(request("t", "x", &[])).await.unwrap();
    let ids = |response: PublishResponse| response.message_ids.join(" ");
    let one = one.await.unwrap();
    assert_eq!((one.batch_elements(), ids(one.into_value())), (3, "t/a t/b".to_owned()));
    assert_eq!(ids(two.await.unwrap().into_value()), "t/d");
    assert_eq!(ids(three.await.unwrap().into_value()), "");
    assert_eq!(ids(other.await.unwrap().into_value()), "t/c");
    let seen = std::mem::take(&mut *publisher.0.lock().unwrap());
    assert_eq!(seen, [request("t", "x", &["a", "b", "d"]), request("t", "y", &["c"])]);
}

#[tokio::test(start_paused = true)]
async fn batches_are_operations_of_the_client() {
    let publisher = Publisher::default();
    let batcher = Batcher::spawn(client(&publisher).publish_batching()).unwrap();
    let busy = batcher.add(request("busy", "", &["a"])).await.unwrap();
    let report = busy.await.unwrap().report().unwrap().clone();
    assert_eq!((report.method(), report.attempts().len()), ("/mixed.v1.Library/Publish", 2));
    let gone = batcher.add(request("gone", "", &["a"])).await.unwrap().await.unwrap_err();
    assert_eq!(gone.failure(), ElementFailure::Batch);
    assert_eq!(gone.cause().unwrap().code(), tonic::Code::NotFound);
    assert_eq!(OperationError::of(gone.cause().unwrap()).unwrap().report(), gone.report().unwrap());
    assert_eq!(batcher.close().await.failed_batches(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_table_says_when_batches_are_sent_and_what_may_be_outstanding() {
    let publisher = Publisher::default();
    let batcher = Batcher::spawn(client(&publisher).publish_batching()).unwrap();
    let many: Vec<String> = (0..99).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    drop(batcher.try_add(request("t", "", &many)).unwrap());
    tokio::time::sleep(Duration::from_millis(9)).await;
    assert_eq!(publisher.0.lock().unwrap().len(), 0);
    // The hundredth message.
    batcher.try_add(request("t", "", &["last"])).unwrap().await.unwrap();
    assert_eq!(publisher.0.lock().unwrap()[0].messages.len(), 100);
    // No more than a thousand may be outstanding.
    let lots = vec!["x"; 1001];
    assert_eq!(batcher.try_add(request("t", "", &lots)).unwrap_err().reason(), AddRefusal::NeverHasRoom);

    let one = BatchingSettings::builder().delay_threshold(Duration::ZERO).build();
    let batcher = Batcher::spawn(client(&publisher).publish_batching().settings(one)).unwrap();
    drop(batcher.try_add(request("t", "", &["alone"])).unwrap());
    assert_eq!(batcher.close().await.batches(), 1);
}
