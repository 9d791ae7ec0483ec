//! `x-goog-request-params`, byte by byte, from the generated client and from the layer.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use super::shapes::layer;
use gax_client::google::GoogleHeaders;
use gax_testing::VirtualServer;
use std::future::Future;
use tonic::Status;
use tonic::transport::Channel;
use tonic_gax::RetryService;
use tonic_gax_tests::generated::google_shapes::shapes::asset::v1 as asset;
use tonic_gax_tests::generated::google_shapes::shapes::logging::v2 as logging;
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1 as routing;
use tonic_gax_tests::{Reply, Script};

const PARAMS: &str = "x-goog-request-params";

/// A server that refuses the first attempt of each call and does not know the second's method, and what arrives at it.
fn server() -> VirtualServer {
    VirtualServer::start(Script::cycle([Reply::unavailable(), Reply::code(tonic::Code::Unimplemented)]))
}

fn layered(server: &VirtualServer) -> RetryService<Channel> {
    layer(&GoogleHeaders::new()).layer(server.channel())
}

/// The values that the header has in the attempts of a call.
async fn sent<R>(server: &VirtualServer, call: impl Future<Output = Result<R, Status>>) -> Vec<String> {
    let before = server.arrivals().len();
    assert!(call.await.is_err());
    let arrivals = server.arrivals();
    let values = arrivals[before..].iter().map(|arrival| {
        let values: Vec<&str> =
            arrival.headers.get_all(PARAMS).iter().map(|value| value.to_str().unwrap()).collect();
        if values.is_empty() { "-".to_owned() } else { values.join(" and ") }
    });
    values.collect()
}

/// Calls an RPC by the generated client and by tonic's own over the layer, with the expected header in both attempts.
macro_rules! check {
    ($server:ident, $module:ident, $client:ident, $tonic:ident, $method:ident, $request:expr, $expected:expr) => {
        let generated = $module::$client::new($server.channel());
        let ours = sent(&$server, generated.$method($request)).await;
        let mut tonic = $module::$tonic::$client::new(layered(&$server));
        let theirs = sent(&$server, tonic.$method($request)).await;
        assert_eq!(ours, [$expected, $expected], "generated: {}", stringify!($method));
        assert_eq!(theirs, [$expected, $expected], "layer: {}", stringify!($method));
    };
}

macro_rules! asset {
    ($server:ident, $method:ident, $request:expr, $expected:expr) => {
        check!($server, asset, AssetServiceClient, asset_service_client, $method, $request, $expected);
    };
}

#[tokio::test(start_paused = true)]
async fn the_asset_shape() {
    let server = server();
    let parent = || asset::ParentRequest { parent: "projects/p 1".to_owned() };
    asset!(server, export_assets, parent(), "parent=projects%2Fp%201");
    asset!(server, list_assets, parent(), "parent=projects%2Fp%201");
    asset!(server, batch_get_assets_history, parent(), "parent=projects%2Fp%201");
    let name = "projects/p/feeds/é~f.-_";
    let encoded = "projects%2Fp%2Ffeeds%2F%C3%A9~f.-_";
    let get = || asset::GetFeedRequest { name: name.to_owned() };
    asset!(server, get_feed, get(), format!("name={encoded}"));
    let update = || asset::UpdateFeedRequest { feed: Some(asset::Feed { name: name.to_owned() }) };
    asset!(server, update_feed, update(), format!("feed.name={encoded}"));
    asset!(server, update_feed, asset::UpdateFeedRequest { feed: None }, "-");
    // It is sent whatever form it has.
    let search = || asset::SearchRequest { scope: "x".to_owned() };
    asset!(server, search_all_resources, search(), "scope=x");
    let query = || asset::analyze_request::Query { scope: "organizations/1".to_owned() };
    let analyze = || asset::AnalyzeRequest { analysis_query: Some(query()) };
    asset!(server, analyze_iam_policy, analyze(), "analysis_query.scope=organizations%2F1");
}

#[tokio::test(start_paused = true)]
async fn the_logging_shape() {
    macro_rules! logging {
        ($server:ident, $method:ident, $request:expr, $expected:expr) => {
            check!(
                $server,
                logging,
                LoggingServiceV2Client,
                logging_service_v2_client,
                $method,
                $request,
                $expected
            );
        };
    }
    let server = server();
    let write = || logging::WriteRequest { log_name: "projects/p/logs/l".to_owned() };
    logging!(server, write_log_entries, write(), "-");
    let delete = |name: &str| logging::DeleteLogRequest { log_name: name.to_owned() };
    logging!(server, delete_log, delete("projects/p/logs/l"), "log_name=projects%2Fp%2Flogs%2Fl");
    logging!(server, delete_log, delete(""), "-");
}

macro_rules! routing {
    ($server:ident, $method:ident, $request:expr, $expected:expr) => {
        check!($server, routing, TablesClient, tables_client, $method, $request, $expected);
    };
}

fn table(table_name: &str, app_profile_id: &str) -> routing::TableRequest {
    routing::TableRequest { table_name: table_name.to_owned(), app_profile_id: app_profile_id.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn the_last_parameter_that_matches_counts() {
    let server = server();
    for (name, profile, expected) in [
        ("projects/p/instances/i/tables/t", "prof qux", "routing_id=prof%20qux&table=tables%2Ft"),
        ("projects/p/instances/i/tables/t", "", "routing_id=projects%2Fp%2Finstances%2Fi&table=tables%2Ft"),
        ("projects/p/instances/i", "", "routing_id=projects%2Fp%2Finstances%2Fi"),
        ("projects/p/zones/z", "", "routing_id=projects%2Fp"),
        ("projects/p", "", "routing_id=projects%2Fp"),
        ("folders/f", "", "-"),
        ("", "", "-"),
    ] {
        routing!(server, read, table(name, profile), expected);
    }
    for (name, profile, expected) in [
        ("projects/instances/i", "a/b", "app_profile_id=a%2Fb&instance=instances%2Fi"),
        ("projects/p/q/instances/i", "", "instance=instances%2Fi"),
        ("projects/p/instances", "", "-"),
    ] {
        routing!(server, find, table(name, profile), expected);
    }
    routing!(server, count, table("projects/p", "a"), "-");
}

#[tokio::test(start_paused = true)]
async fn numbers_bools_and_enums_are_sent_where_they_are_not_set() {
    let server = server();
    let all_unset = "info.f_int32=0&info.f_double=0.0&info.f_bool=false&info.f_kingdom=0";
    routing!(server, repeat, routing::RepeatRequest::default(), all_unset);
    let info = || routing::repeat_request::Info {
        f_string: "s/t".to_owned(),
        f_int32: -7,
        f_double: 1.5,
        f_bool: true,
        f_kingdom: 2,
    };
    let repeat = || routing::RepeatRequest { info: Some(info()), name: "n".to_owned() };
    let all_set =
        "info.f_string=s%2Ft&info.f_int32=-7&info.f_double=1.5&info.f_bool=true&info.f_kingdom=2&name=n";
    routing!(server, repeat, repeat(), all_set);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_responses_is_routed_by_its_request() {
    let server = server();
    routing!(server, watch, table("projects/p", ""), "table_name=projects%2Fp");
}

/// Such a call is one attempt.
#[tokio::test(start_paused = true)]
async fn a_stream_of_requests_is_routed_by_its_first_message() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let generated = routing::TablesClient::new(server.channel());
    let mut tonic = routing::tables_client::TablesClient::new(layered(&server));
    let messages = |first: &str| tokio_stream::iter([table(first, ""), table("other", "")]);
    for (name, expected) in [("projects/p/tables/t", "table_name=projects%2Fp%2Ftables%2Ft"), ("", "-")] {
        assert_eq!(sent(&server, generated.collect(messages(name))).await, [expected]);
        assert_eq!(sent(&server, generated.append_rows(messages(name))).await, [expected]);
        assert_eq!(sent(&server, tonic.collect(messages(name))).await, [expected]);
        assert_eq!(sent(&server, tonic.append_rows(messages(name))).await, [expected]);
    }
    let nothing = || tokio_stream::empty::<routing::TableRequest>();
    assert_eq!(sent(&server, generated.append_rows(nothing())).await, ["-"]);
    assert_eq!(sent(&server, tonic.append_rows(nothing())).await, ["-"]);
}
