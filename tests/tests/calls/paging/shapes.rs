//! Lists whose messages are not those of AIP-158.

use gax_client::paging::{PageSource, Paged};
use gax_testing::VirtualServer;
use prost::Message;
use tokio_stream::StreamExt as _;
use tonic_gax::settings::MethodKind;
use tonic_gax_tests::generated::google::cloud::compute::test::v1 as shelves;
use tonic_gax_tests::{Reply, Script};

fn server(pages: impl IntoIterator<Item = Reply>) -> VirtualServer {
    VirtualServer::start(Script::of(pages))
}

async fn all<S: PageSource<Error: std::fmt::Debug>>(list: Paged<S>) -> Vec<S::Item> {
    list.map(Result::unwrap).collect().await
}

fn asked<M: Message + Default>(server: &VirtualServer) -> Vec<M> {
    let message = |arrival: gax_testing::Arrival| M::decode(arrival.body.slice(5..)).unwrap();
    server.arrivals().into_iter().map(message).collect()
}

#[tokio::test(start_paused = true)]
async fn entries_of_a_map_and_fields_that_may_be_missing() {
    let page = |names: &[(&str, u64)], next: Option<&str>| {
        let boxes = names.iter().map(|(name, size)| ((*name).to_owned(), shelves::Box { size: *size }));
        Reply::message(&shelves::ListBoxesResponse {
            unreachable: vec!["east".to_owned()],
            boxes: boxes.collect(),
            next_page_token: next.map(str::to_owned),
        })
    };
    let server = server([page(&[("a", 1), ("b", 2)], Some("2")), page(&[("c", 3)], None)]);
    let client = shelves::ShelvesClient::new(server.channel());
    let request = shelves::ListBoxesRequest { max_results: Some(2), page_token: None };
    let entries: Vec<(String, shelves::Box)> = all(client.list_boxes_paged(request.clone()).limit(3)).await;
    let entry = |name: &str, size| (name.to_owned(), shelves::Box { size });
    assert_eq!(entries, [entry("a", 1), entry("b", 2), entry("c", 3)]);
    let second = shelves::ListBoxesRequest { max_results: Some(1), page_token: Some("2".to_owned()) };
    assert_eq!(asked::<shelves::ListBoxesRequest>(&server), [request, second]);
}

#[tokio::test(start_paused = true)]
async fn a_size_in_a_wrapper() {
    let page = |labels: &[&str], next: &str| {
        Reply::message(&shelves::ListLabelsResponse {
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            next_page_token: next.to_owned(),
            boxes: vec![shelves::Box::default()],
        })
    };
    let server = server([page(&["a", "b"], "2"), page(&["c", "d"], "4")]);
    let client = shelves::ShelvesClient::new(server.channel());
    let request = shelves::ListLabelsRequest { max_results: Some(2), page_token: String::new() };
    let labels: Vec<String> = all(client.list_labels_paged(request).limit(3)).await;
    assert_eq!(labels, ["a", "b", "c"]);
    let sizes: Vec<_> =
        asked::<shelves::ListLabelsRequest>(&server).into_iter().map(|request| request.max_results).collect();
    assert_eq!(sizes, [Some(2), Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn messages_in_messages_and_a_size_that_is_no_number() {
    use shelves::list_types_response::Type;
    let named = |name: &str| Type { name: name.to_owned() };
    let page = |names: &[&str], next: &str| {
        let r#type = names.iter().map(|name| named(name)).collect();
        Reply::message(&shelves::ListTypesResponse { r#type, next_page_token: next.to_owned() })
    };
    let server = server([page(&["a", "b"], "2"), page(&["c", "d"], "4")]);
    let client = shelves::ShelvesClient::new(server.channel());
    let request = shelves::ListTypesRequest { page_size: "many".to_owned(), page_token: String::new() };
    let types: Vec<Type> = all(client.list_types_paged(request).limit(3)).await;
    assert_eq!(types, [named("a"), named("b"), named("c")]);
    let sizes = asked::<shelves::ListTypesRequest>(&server);
    assert!(sizes.iter().all(|request| request.page_size == "many"), "{sizes:?}");
}

/// The build script has prost write these as `Bytes`, and the map above as a `BTreeMap`.
#[tokio::test(start_paused = true)]
async fn bytes() {
    let parts = vec![b"a".to_vec(), b"b".to_vec()];
    let shared = parts.iter().cloned().map(bytes::Bytes::from).collect();
    let page = shelves::ListPartsResponse { parts: shared, next_page_token: String::new() };
    let server = server([Reply::message(&page)]);
    let client = shelves::ShelvesClient::new(server.channel());
    assert_eq!(all(client.list_parts_paged(shelves::ListPartsRequest::default())).await, parts);
}

/// Google's generator counts it as paged, and refuses to go on.
#[test]
fn without_a_list_there_is_no_stream() {
    let methods = shelves::ShelvesStubSettings::methods();
    assert!(methods.iter().all(|method| method.kind() == MethodKind::Paged));
    assert_eq!(methods.len(), 5);
}
