//! Ids of requests (AIP-4235): one a call, whatever attempts it has.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use gax_testing::VirtualServer;
use prost::Message as _;
use std::time::Duration;
use tonic::{Code, Request};
use tonic_gax::Hedging;
use tonic_gax_tests::generated::google_shapes::shapes::storage::v2::{
    FolderRequest, StorageControlClient, StorageControlStubSettings,
};
use tonic_gax_tests::{Reply, Script};

/// The requests that arrived.
fn arrived(server: &VirtualServer) -> Vec<FolderRequest> {
    let arrivals = server.arrivals();
    arrivals.iter().map(|arrival| FolderRequest::decode(&arrival.body[5..]).unwrap()).collect()
}

fn folder() -> FolderRequest {
    FolderRequest { parent: "p".to_owned(), ..FolderRequest::default() }
}

/// A random UUID.
fn is_uuid(id: &str) -> bool {
    let parts: Vec<&str> = id.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_hex = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_random = parts.get(2).is_some_and(|part| part.starts_with('4'));
    lengths == [8, 4, 4, 4, 12] && is_hex && is_random
}

#[tokio::test(start_paused = true)]
async fn all_attempts_of_a_call_have_one_id_and_each_call_has_its_own() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let client = StorageControlClient::new(server.channel());
    for _ in 0..2 {
        assert_eq!(client.create_folder(folder()).await.unwrap_err().code(), Code::Unavailable);
    }
    let requests = arrived(&server);
    assert_eq!(requests.len(), 10);
    let (first, second) = requests.split_at(5);
    for (call, request) in [(first, &first[0]), (second, &second[0])] {
        assert!(is_uuid(&request.request_id) && is_uuid(request.r#type.as_deref().unwrap()), "{request:?}");
        assert_ne!(Some(&request.request_id), request.r#type.as_ref());
        assert_eq!(call, vec![request.clone(); 5]);
    }
    assert_ne!(first[0].request_id, second[0].request_id);
}

#[tokio::test(start_paused = true)]
async fn hedges_have_the_id_of_their_call() {
    let server = VirtualServer::start(Script::always(Reply::stall()));
    let mut stub = StorageControlStubSettings::builder();
    let hedging = Hedging::new(3).delay(Duration::from_millis(10)).allow_non_idempotent();
    stub.create_folder().set_hedging(hedging);
    let client = StorageControlClient::with_settings(server.channel(), stub.build().unwrap().into());
    let mut request = Request::new(folder());
    request.set_timeout(Duration::from_millis(100));
    client.create_folder(request).await.unwrap_err();
    let requests = arrived(&server);
    assert!(is_uuid(&requests[0].request_id), "{requests:?}");
    assert_eq!(requests, vec![requests[0].clone(); 3]);
}

#[tokio::test(start_paused = true)]
async fn what_the_caller_sets_stays_and_other_methods_have_no_id() {
    let server = VirtualServer::start(Script::always(Reply::code(Code::NotFound)));
    let client = StorageControlClient::new(server.channel());
    let own = || FolderRequest { request_id: "mine".to_owned(), r#type: Some(String::new()), ..folder() };
    client.create_folder(own()).await.unwrap_err();
    client.delete_folder(folder()).await.unwrap_err();
    assert_eq!(arrived(&server), [own(), folder()]);
}
