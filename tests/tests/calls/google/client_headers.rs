//! The headers that are the same for all requests of a client, and what a caller's own metadata does to them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::shapes::{layer, table};
use gax_client::google::GoogleHeaders;
use gax_table::RetryTable;
use gax_testing::VirtualServer;
use std::time::Duration;
use tonic::codec::CompressionEncoding;
use tonic::{Code, Request};
use tonic_gax::{Hedging, OperationError, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient as PlainClient, ListAssetsRequest,
};
use tonic_gax_tests::generated::google_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::google_shapes::shapes::asset::v1::{
    AssetServiceClient, AssetServiceSettings, GetFeedRequest, asset_service_client as tonic_asset,
};
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::{
    TableRequest, TablesClient, TablesSettings, TablesStubSettings, tables_client as tonic_tables,
};
use tonic_gax_tests::{Reply, Script};

const NAMES: [&str; 5] = [
    "x-goog-api-client",
    "x-goog-api-key",
    "x-goog-api-version",
    "x-goog-request-params",
    "x-goog-user-project",
];

/// The headers for Google's servers that each attempt had, without those that have no value.
fn seen(server: &VirtualServer) -> Vec<Vec<String>> {
    let values = |name: &'static str, arrival: &gax_testing::Arrival| -> Vec<String> {
        let values = arrival.headers.get_all(name).iter();
        values.map(|value| format!("{}: {}", &name[7..], value.to_str().unwrap())).collect()
    };
    let arrivals = server.arrivals();
    arrivals.iter().map(|arrival| NAMES.iter().flat_map(|name| values(name, arrival)).collect()).collect()
}

/// The value of `x-goog-api-client`, with the version of the package that the client is compiled in or without.
fn api_client(gapic: bool, tokens: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let gapic = if gapic { format!(" gapic/{version}") } else { String::new() };
    format!("api-client: gl-rust/{} gax/{version}{gapic} grpc/0.14-tonic{tokens}", rustc())
}

/// The version of the compiler that made this.
fn rustc() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().nth(1).unwrap().to_owned()
}

fn unavailable() -> VirtualServer {
    VirtualServer::start(Script::always(Reply::unavailable()))
}

fn feed() -> GetFeedRequest {
    GetFeedRequest { name: "f".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_headers_of_its_client() {
    let headers = || GoogleHeaders::new().quota_project("billed").unwrap().api_key("AIza").unwrap();
    let headers = || headers().client_token("my-app", "1.4").unwrap();
    let expected = |gapic, version: Option<&str>, params: &str| {
        let mut expected = vec![api_client(gapic, " my-app/1.4"), "api-key: AIza".to_owned()];
        expected.extend(version.map(|version| format!("api-version: {version}")));
        expected.extend([format!("request-params: {params}"), "user-project: billed".to_owned()]);
        vec![expected; 5]
    };
    let server = unavailable();
    let settings = AssetServiceSettings::default().with_google_headers(headers());
    AssetServiceClient::with_settings(server.channel(), settings).get_feed(feed()).await.unwrap_err();
    assert_eq!(seen(&server), expected(true, None, "name=f"));

    let server = unavailable();
    let settings = TablesSettings::default().with_google_headers(headers());
    TablesClient::with_settings(server.channel(), settings).watch(table("t")).await.unwrap_err();
    assert_eq!(seen(&server), expected(true, Some("v1_20240506"), "table_name=t"));

    let server = unavailable();
    let channel = layer(&headers()).layer(server.channel());
    tonic_asset::AssetServiceClient::new(channel).get_feed(feed()).await.unwrap_err();
    assert_eq!(seen(&server), expected(false, None, "name=f"));

    let server = unavailable();
    let channel = layer(&headers()).layer(server.channel());
    tonic_tables::TablesClient::new(channel).watch(table("t")).await.unwrap_err();
    assert_eq!(seen(&server), expected(false, Some("v1_20240506"), "table_name=t"));
}

#[tokio::test(start_paused = true)]
async fn hedges_have_the_same_headers() {
    let server = VirtualServer::start(Script::always(Reply::stall()));
    let mut stub = TablesStubSettings::builder();
    let hedging = Hedging::new(3).delay(Duration::from_millis(10)).allow_non_idempotent();
    stub.find().set_hedging(hedging);
    let client = TablesClient::with_settings(server.channel(), stub.build().unwrap().into());
    let request = TableRequest { app_profile_id: "a".to_owned(), ..TableRequest::default() };
    let mut request = Request::new(request);
    request.set_timeout(Duration::from_millis(100));
    client.find(request).await.unwrap_err();
    let expected = [
        api_client(true, ""),
        "api-version: v1_20240506".to_owned(),
        "request-params: app_profile_id=a".to_owned(),
    ];
    assert_eq!(seen(&server), vec![expected.to_vec(); 3]);
}

#[tokio::test(start_paused = true)]
async fn what_is_turned_off_and_other_services_have_no_headers() {
    let nothing: Vec<Vec<String>> = vec![Vec::new(); 5];
    let server = unavailable();
    let off = GoogleHeaders::new().api_client(false).request_params(false);
    let settings = AssetServiceSettings::default().with_google_headers(off.clone());
    AssetServiceClient::with_settings(server.channel(), settings).get_feed(feed()).await.unwrap_err();
    assert_eq!(seen(&server), nothing);

    let server = unavailable();
    tonic_asset::AssetServiceClient::new(layer(&off).layer(server.channel()))
        .get_feed(feed())
        .await
        .unwrap_err();
    assert_eq!(seen(&server), nothing);

    // Its proto has none of the annotations.
    let server = VirtualServer::start(Script::always(Reply::code(Code::NotFound)));
    PlainClient::new(server.channel()).list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(seen(&server), [Vec::<String>::new()]);
}

/// It is an operation then, of one attempt.
#[tokio::test(start_paused = true)]
async fn the_layer_adds_headers_where_the_table_has_nothing_for_a_method() {
    let server = unavailable();
    let layer = RetryLayer::new(RetryTable::parse(r#"{"methodConfig": []}"#).unwrap());
    let plain = layer.clone().layer(server.channel());
    tonic_asset::AssetServiceClient::new(plain).get_feed(feed()).await.unwrap_err();
    let google =
        layer.headers(GoogleHeaders::new().for_descriptors(DESCRIPTORS).unwrap()).layer(server.channel());
    let status = tonic_asset::AssetServiceClient::new(google).get_feed(feed()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(OperationError::of(&status).unwrap().report().attempts().len(), 1);
    let expected = vec![api_client(false, ""), "request-params: name=f".to_owned()];
    assert_eq!(seen(&server), [Vec::new(), expected]);
}

/// tonic does not say its version.
#[test]
fn the_version_of_tonic_is_the_one_that_is_compiled() {
    let manifest = include_str!("../../../../Cargo.toml");
    assert!(
        manifest.contains("\ntonic = { version = \"0.14."),
        "change `TONIC` in crates/client/src/google/method_headers.rs"
    );
}

/// A request with metadata of its caller's.
fn with<M>(message: M, metadata: &[(&'static str, &str)]) -> Request<M> {
    let mut request = Request::new(message);
    for (name, value) in metadata {
        request.metadata_mut().append(*name, value.parse().unwrap());
    }
    request
}

#[tokio::test(start_paused = true)]
async fn a_caller_s_own_headers_go_over_the_client_s() {
    let metadata = [
        ("x-goog-api-client", "one/1"),
        ("x-goog-api-client", "two/2"),
        ("x-goog-api-key", "other"),
        ("x-goog-request-params", "name=other"),
        ("x-goog-user-project", "own"),
        // Not the client's to set.
        ("x-goog-api-version", "v7"),
    ];
    let headers = || GoogleHeaders::new().quota_project("billed").unwrap().api_key("AIza").unwrap();
    let expected = |gapic| {
        let others = ["api-key: other", "api-version: v7", "request-params: name=other", "user-project: own"];
        let mut expected = vec![api_client(gapic, " one/1 two/2")];
        expected.extend(others.map(str::to_owned));
        vec![expected; 5]
    };
    let server = unavailable();
    let settings = AssetServiceSettings::default().with_google_headers(headers());
    let client = AssetServiceClient::with_settings(server.channel(), settings);
    client.get_feed(with(feed(), &metadata)).await.unwrap_err();
    assert_eq!(seen(&server), expected(true));

    let server = unavailable();
    let mut client = tonic_asset::AssetServiceClient::new(layer(&headers()).layer(server.channel()));
    client.get_feed(with(feed(), &metadata)).await.unwrap_err();
    assert_eq!(seen(&server), expected(false));
}

#[tokio::test(start_paused = true)]
async fn another_version_of_the_api_is_refused() {
    let server = unavailable();
    let metadata = [("x-goog-api-version", "v7")];
    let generated = TablesClient::new(server.channel());
    let mut tonic = tonic_tables::TablesClient::new(layer(&GoogleHeaders::new()).layer(server.channel()));
    for status in [
        generated.read(with(table("t"), &metadata)).await.unwrap_err(),
        generated.watch(with(table("t"), &metadata)).await.unwrap_err(),
        tonic.read(with(table("t"), &metadata)).await.unwrap_err(),
        tonic.watch(with(table("t"), &metadata)).await.unwrap_err(),
    ] {
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(
            status.message().starts_with("the call sets x-goog-api-version, but the client"),
            "{status:?}"
        );
        assert_eq!(OperationError::of(&status).unwrap().report().attempts().len(), 0);
    }
    assert!(server.arrivals().is_empty());
}

/// The client reads what a request is routed by before it compresses it.
#[tokio::test(start_paused = true)]
async fn a_compressed_request_is_routed_as_well() {
    let server = unavailable();
    let client = TablesClient::new(server.channel()).send_compressed(CompressionEncoding::Gzip);
    let request = || TableRequest { app_profile_id: "a".repeat(100), ..TableRequest::default() };
    client.find(request()).await.unwrap_err();
    client.watch(table("t")).await.unwrap_err();
    let params = |attempt: &Vec<String>| attempt[2].clone();
    let seen: Vec<String> = seen(&server).iter().map(params).collect();
    let found = vec![format!("request-params: app_profile_id={}", "a".repeat(100)); 5];
    assert_eq!(seen, [found, vec!["request-params: table_name=t".to_owned(); 5]].concat());
}
