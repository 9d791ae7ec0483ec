//! All that generated clients do, over REST: pages, operations, hedging, resumed streams, observers; and other clients.

use gax_batching::BatchingSettings;
use gax_batching::{BatchCall, Batcher};
use gax_client::longrunning::{ListOperationsRequest, OperationsClient};
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use gax_rest::{HttpRule, RestOptions, RestTransport};
use gax_streams::resumption::Resumption;
use gax_table::RetryTable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tonic::{Code, Request};
use tonic_gax::{
    CallOptions, Code as GaxCode, Hedging, OperationOptions, OperationReport, RequestExt as _, RetryLayer,
};
use tonic_gax_tests::generated::rest_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::everything_service_gax::{
    EverythingServiceClient, EverythingServiceSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::{Flat, ListThingsRequest};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_client::MessagingClient as TonicClient;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings, MessagingStubSettings, MessagingStubSettingsBuilder,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{
    GetByUserRequest, GetNamedRequest, ListReply, Message, UpdateFieldRequest,
};
use tonic_gax_tests::{Recorder, RestReply, RestServer, codes, ms};

type Client = EverythingServiceClient<RestTransport<RestServer>>;

fn client(server: &RestServer) -> Client {
    EverythingServiceClient::rest(server.clone(), EverythingServiceSettings::default())
}

#[tokio::test(start_paused = true)]
async fn lists_are_read_page_by_page() {
    let server = RestServer::by(|request| {
        let query = request.uri.query().unwrap_or_default();
        RestReply::ok(if query.contains("pageToken=next") {
            r#"{"things":[{"aString":"c"}]}"#
        } else {
            r#"{"things":[{"aString":"a"},{"aString":"b"}],"nextPageToken":"next"}"#
        })
    });
    let request = ListThingsRequest { page_size: 2, page_token: String::new() };
    let mut things = client(&server).list_things_paged(request);
    let mut texts = Vec::new();
    while let Some(thing) = things.next().await {
        texts.push(thing.unwrap().a_string);
    }
    assert_eq!(texts, ["a", "b", "c"]);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn operations_are_polled_by_the_rules_of_the_service_yaml() {
    let server = RestServer::new([
        RestReply::ok(r#"{"name":"builds/7"}"#),
        RestReply::new(503, "{}"),
        RestReply::ok(
            r#"{"name":"builds/7","metadata":{"@type":"type.googleapis.com/rest.everything.v1.BuildProgress","percent":50}}"#,
        ),
        RestReply::ok(
            r#"{"name":"builds/7","done":true,"response":{"@type":"type.googleapis.com/rest.everything.v1.Everything","anInt64":"5"}}"#,
        ),
    ]);
    let built =
        client(&server).build_operation(Flat { name: "things/1".to_owned(), ..Flat::default() }).await;
    assert_eq!(built.unwrap().an_int64, 5);
    let lines = server.lines();
    let alt = "?$alt=json%3Benum-encoding%3Dint";
    assert_eq!(lines[0], format!("POST /v1/things/1:build{alt} {{}}"));
    assert_eq!(lines[1..], ["GET /v1/builds/7"; 3].map(|line| format!("{line}{alt}")));
}

#[tokio::test(start_paused = true)]
async fn one_operation_of_an_unknown_type_does_not_hide_the_others() {
    let server = RestServer::new([RestReply::ok(
        r#"{"operations":[
            {"name":"builds/1","metadata":{}},
            {"name":"builds/2","done":true,"response":{"@type":"type.googleapis.com/nobody.Knows","a":1}},
            {"name":"builds/3","done":true,"error":{"code":5,"details":[{"@type":"nobody/Knows"}]}}]}"#,
    )]);
    let options = RestOptions::new()
        .origin("http://example.com".parse().unwrap())
        .rule("google.longrunning.Operations.ListOperations", HttpRule::get("/v1/builds"));
    let transport = RestTransport::new(server, DESCRIPTORS, options).unwrap();
    let client = OperationsClient::new(transport);
    let listed = client.list_operations(ListOperationsRequest::default()).await.unwrap().into_inner();
    let names: Vec<&str> = listed.operations.iter().map(|operation| &*operation.name).collect();
    assert_eq!(names, ["builds/1", "builds/2", "builds/3"]);
    let metadata = listed.operations[0].metadata.clone().unwrap();
    assert_eq!((&*metadata.type_url, metadata.value.len()), ("", 0));
}

fn messaging(
    server: &RestServer,
    stub: MessagingStubSettingsBuilder,
) -> MessagingClient<RestTransport<RestServer>> {
    let settings = MessagingSettings::create(stub.build().unwrap());
    let options = RestOptions::new().origin("http://example.com".parse().unwrap());
    MessagingClient::rest_with_options(server.clone(), settings, options).unwrap()
}

/// How often a call is sent whose first attempt takes long, and which is hedged so.
async fn sent<F: Future>(
    stub: MessagingStubSettingsBuilder,
    call: impl FnOnce(MessagingClient<RestTransport<RestServer>>) -> F,
) -> usize {
    let server = RestServer::new([RestReply::ok("{}").after(ms(1000))]);
    call(messaging(&server, stub)).await;
    server.requests().len()
}

#[tokio::test(start_paused = true)]
async fn hedging_goes_by_the_verb() {
    let (stub, hedging) = (MessagingStubSettings::builder, Hedging::new(2).delay(ms(100)));
    let named = || GetNamedRequest { name: "messages/1".to_owned(), force: false };
    let message = Message { name: "rooms/a/messages/1".to_owned(), ..Message::default() };
    let rename = || UpdateFieldRequest { message: Some(message.clone()), ..UpdateFieldRequest::default() };
    let mut get = stub();
    get.get_named().set_hedging(hedging);
    assert_eq!(sent(get, |client| client.get_named(named())).await, 2);
    // Idempotent, and no read.
    let mut put = stub();
    put.rename().set_hedging(hedging);
    assert_eq!(sent(put, |client| client.rename(rename())).await, 1);
    let mut put = stub();
    put.rename().set_hedging(hedging.allow_non_idempotent());
    assert_eq!(sent(put, |client| client.rename(rename())).await, 2);
}

#[tokio::test(start_paused = true)]
async fn streams_that_break_are_resumed() {
    let server = RestServer::new([
        RestReply::ok(r#"[{"number":"1"},{"number":"2"},"#).broken(),
        RestReply::new(503, "{}"),
        RestReply::ok(r#"[{"number":"2"},{"number":"3"}]{"error":{"code":503,"message":"later"}}"#),
        RestReply::ok(r#"[{"number":"4"}]"#),
    ]);
    let by_number = Resumption::by_position(
        |message: &Message| message.number.unwrap_or_default(),
        |first: &GetByUserRequest, last| GetByUserRequest { message_id: last.to_string(), ..first.clone() },
    );
    let mut stub = MessagingStubSettings::builder();
    stub.watch().set_resumption(by_number);
    let request = GetByUserRequest { user_id: "me".to_owned(), message_id: String::new() };
    let mut stream = messaging(&server, stub).watch(request).await.unwrap().into_inner();
    let mut numbers = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        numbers.push(message.number.unwrap());
    }
    assert_eq!(numbers, [1, 2, 3, 4]);
    let watch = "GET /v1/users/me/messages:watch";
    let from = |last| format!("{watch}?messageId={last}");
    assert_eq!(server.lines(), [watch.to_owned(), from(2), from(2), from(3)]);
}

#[tokio::test(start_paused = true)]
async fn elements_are_sent_in_batches() {
    let server = RestServer::new([RestReply::new(503, "{}")]);
    let client = messaging(&server, MessagingStubSettings::builder());
    let call = BatchCall::rpc(move |texts: Vec<String>| {
        let client = client.clone();
        let messages = texts.into_iter().map(|text| Message { text, ..Message::default() }).collect();
        async move { client.import(ListReply { messages }).await }
    });
    let settings = BatchingSettings::builder()
        .element_count_threshold(2)
        .request_byte_threshold(1000)
        .delay_threshold(ms(100))
        .build();
    let batching =
        call.without_replies().settings(settings).bytes(|text: &String| text.len() as u64).named("texts");
    let batcher = Batcher::spawn(batching).unwrap();
    let first = batcher.add("a".to_owned()).await.unwrap();
    let second = batcher.add("b".to_owned()).await.unwrap();
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(server.lines(), [r#"POST /v1/messages:import [{"text":"a"},{"text":"b"}]"#; 2]);
}

#[tokio::test(start_paused = true)]
async fn observers_and_reports_know_of_no_rest() {
    let (server, recorder) = (RestServer::new([RestReply::new(503, "{}")]), Arc::new(Recorder::default()));
    let settings = EverythingServiceSettings::default()
        .with_options(OperationOptions::new().observer(recorder.clone()).reports(true));
    let client = EverythingServiceClient::rest(server.clone(), settings);
    let response = client.query(Flat { name: "things/1".to_owned(), ..Flat::default() }).await.unwrap();
    let report = OperationReport::of(response.extensions()).unwrap();
    assert_eq!(codes(report), [GaxCode::Unavailable, GaxCode::Ok]);
    assert_eq!(report.method(), "/rest.everything.v1.EverythingService/Query");
    let lines = recorder.take();
    let begin_and_end: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| !line.contains("sent")).collect();
    assert_eq!(begin_and_end.first(), Some(&"operation_started rest.everything.v1.EverythingService/Query"));
    assert!(begin_and_end.iter().any(|line| line.starts_with("attempt_failed 1 UNAVAILABLE")), "{lines:?}");
    assert!(
        begin_and_end.iter().any(|line| line.starts_with("operation_succeeded OK 2 attempts")),
        "{lines:?}"
    );
    // An observer's headers go along.
    let requests = server.requests();
    let numbers: Vec<_> = requests.iter().map(|request| request.header("x-attempt")).collect();
    assert_eq!(numbers, [Some("1"), Some("2")]);
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let server = RestServer::new([RestReply::ok("{}").after(ms(1000))]);
    let client = EverythingServiceClient::rest(server.clone(), EverythingServiceSettings::default());
    let request = Request::new(Flat { name: "things/1".to_owned(), ..Flat::default() });
    let status = client.query(request.with_call_options(options)).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
}

#[tokio::test(start_paused = true)]
async fn tonics_own_client_stands_on_it_with_and_without_the_layer() {
    let options = || RestOptions::new().origin("http://example.com".parse().unwrap());
    let request = || GetNamedRequest { name: "messages/1".to_owned(), force: false };
    let server = RestServer::new([RestReply::new(503, r#"{"error":{"message":"busy"}}"#)]);
    let transport = RestTransport::new(server.clone(), DESCRIPTORS, options()).unwrap();
    let status = TonicClient::new(transport).get_named(request()).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unavailable, "busy"));
    let failure = RestServer::new([RestReply::failure(std::io::ErrorKind::ConnectionRefused)]);
    let transport = RestTransport::new(failure, DESCRIPTORS, options()).unwrap();
    let status = TonicClient::new(transport).get_named(request()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    let table = include_str!("../../../proto/rest/rest_grpc_service_config.json");
    let layer = RetryLayer::new(RetryTable::parse(table).unwrap());
    let server = RestServer::new([RestReply::new(503, "{}"), RestReply::ok(r#"{"text":"a"}"#)]);
    let transport = RestTransport::new(server.clone(), DESCRIPTORS, options()).unwrap();
    let response = TonicClient::new(layer.layer(transport)).get_named(request()).await.unwrap();
    assert_eq!((response.get_ref().text.as_str(), server.requests().len()), ("a", 2));
}

#[test]
fn descriptors_that_are_none_are_an_error() {
    let error = RestTransport::new(RestServer::new([]), b"\xff", RestOptions::new()).unwrap_err();
    assert!(error.to_string().starts_with("the descriptors are not a FileDescriptorSet"), "{error}");
}

#[test]
fn descriptors_that_are_damaged_are_an_error_or_others() {
    let made = |bytes: &[u8]| RestTransport::new(RestServer::new([]), bytes, RestOptions::new());
    made(DESCRIPTORS).unwrap();
    let length = DESCRIPTORS.len();
    for place in (0..length).step_by(length / 40) {
        // Cut there: an error, or the files that come before. Nothing panics.
        drop(made(&DESCRIPTORS[..place]));
        let mut damaged = DESCRIPTORS.to_vec();
        damaged[place] ^= 0x15;
        drop(made(&damaged));
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_that_a_server_refuses_are_fetched_anew() {
    let count = Arc::new(AtomicU32::new(0));
    let fetched = Arc::clone(&count);
    let credentials = Credentials::new(move || {
        let number = fetched.fetch_add(1, Ordering::Relaxed);
        async move { Ok(AuthHeaders::bearer(&format!("token-{number}")).unwrap()) }
    });
    let server = RestServer::new([RestReply::new(401, r#"{"error":{"message":"expired"}}"#)]);
    let http = CredentialsService::new(server.clone(), credentials);
    let client = EverythingServiceClient::rest(http, EverythingServiceSettings::default());
    client.query(Flat { name: "things/1".to_owned(), ..Flat::default() }).await.unwrap();
    let requests = server.requests();
    let sent: Vec<_> = requests.iter().map(|request| request.header("authorization").unwrap()).collect();
    assert_eq!(sent, ["Bearer token-0", "Bearer token-1"]);
}
