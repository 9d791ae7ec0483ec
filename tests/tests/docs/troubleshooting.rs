//! The guide's page on troubleshooting shows the library's own output: each section's first block of text is the
//! output of the function here that makes its symptom.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::HttpRetryLayer;
use gax_retry::{Code, CodeSet, Compatibility, Hedging, RetryBudget, RetrySettings};
use gax_table::RetryTable;
use http_body_util::Full;
use std::time::Duration;
use tonic::{Request, Response, Status};
use tonic_gax::{
    CallOptions, Note, OperationError, OperationOptions, OperationReport, RequestExt as _, RetryLayer,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssets;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::{
    Authority, BodyPart, Break, FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, TlsServer,
    VirtualServer, delays, ms, reported,
};

const PAGE: &str = include_str!("../../../docs/src/reference/troubleshooting.md");

/// 200 ms x 2, 5 s in all.
fn settings() -> RetrySettings {
    delays(200, 2.0).total_timeout(ms(5000)).build().unwrap()
}

fn setup() -> Setup {
    Setup::new(settings())
}

/// The layer's result of that request, from a server that follows the script.
async fn call(
    setup: &Setup,
    script: Script,
    request: Request<ListAssetsRequest>,
) -> Result<Response<ListAssetsResponse>, Status> {
    let server = VirtualServer::start(script);
    Stack::LayerWithDescriptors.caller(server.channel(), setup).list(request).await
}

/// The report of such a call, or its absence.
fn printed<T>(result: &Result<Response<T>, Status>) -> String {
    let report = match result {
        Ok(response) => OperationReport::of(response.extensions()),
        Err(status) => OperationError::of(status).map(OperationError::report),
    };
    report.map_or_else(|| "no report".to_owned(), ToString::to_string)
}

async fn report(setup: &Setup, script: Script) -> String {
    printed(&call(setup, script, Request::new(ListAssetsRequest::default())).await)
}

async fn ended_early() -> String {
    let settings = settings().to_builder().max_retry_delay(ms(500)).initial_rpc_timeout(ms(1500));
    let settings = settings.rpc_timeout_multiplier(2.0).max_rpc_timeout(ms(3000)).build().unwrap();
    report(&Setup::new(settings), Script::always(Reply::Hang)).await
}

async fn hung() -> String {
    let settings = settings().to_builder().initial_rpc_timeout(ms(5000)).build().unwrap();
    report(&Setup::new(settings), Script::always(Reply::Hang)).await
}

async fn not_listed() -> String {
    report(&setup(), Script::always(Reply::status(Status::internal("no such shard")))).await
}

async fn unknown_method() -> String {
    let table =
        RetryTable::builder().service("google.cloud.asset.v1.AssetServce", settings(), Code::Unavailable);
    let layer = RetryLayer::new(table.build().unwrap());
    let server = VirtualServer::start(Script::always(Reply::status(Status::unavailable("down"))));
    let mut client = TonicAssets::new(layer.layer(server.channel()));
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(server.seen().len(), 1);
    format!("{status}\n{}", printed(&Err::<Response<()>, _>(status.clone())))
}

async fn proxy_error() -> String {
    let request = Request::new(ListAssetsRequest::default());
    call(&setup(), Script::always(Reply::http(500, &[])), request).await.unwrap_err().to_string()
}

async fn caller_s_deadline() -> String {
    let mut request = Request::new(ListAssetsRequest::default());
    request.set_timeout(ms(900));
    let settings = settings().to_builder().total_timeout(ms(60_000)).build().unwrap();
    printed(&call(&Setup::new(settings), Script::always(Reply::Hang), request).await)
}

async fn server_s_deadline() -> String {
    let late = Reply::status(Status::deadline_exceeded("the database took too long"));
    report(&setup().retrying(Code::Unavailable), Script::of([(ms(40), late)])).await
}

async fn no_time() -> String {
    let request = Request::new(ListAssetsRequest::default());
    let request = request.with_call_options(CallOptions::new().timeout(Duration::ZERO));
    printed(&call(&setup(), Script::always(Reply::Hang), request).await)
}

async fn two_layers() -> String {
    let three = settings().to_builder().max_attempts(3).build().unwrap();
    let setup = Setup::new(three);
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let channel = setup.layer().layer(server.channel());
    let client = AssetServiceClient::with_settings(channel, setup.client());
    let result = client.list_assets(ListAssetsRequest::default()).await;
    format!("{}\n\n{} requests arrived", printed(&result), server.seen().len())
}

async fn lost_connection() -> String {
    let script = Script::at_once([Reply::Break(Break::GoAway { reason: 0, taken: false })]);
    printed(&call(&setup(), script, reported(ListAssetsRequest::default())).await)
}

async fn broken_connection() -> String {
    let once = setup().retrying(CodeSet::EMPTY);
    let request = Request::new(ListAssetsRequest::default());
    call(&once, Script::at_once([Reply::Break(Break::Close)]), request).await.unwrap_err().to_string()
}

async fn certificate() -> String {
    let server = TlsServer::start([Authority::new("theirs").good(&["h2"])]);
    let channel = server.channel(Some(Authority::new("ours").channel_tls()));
    let result = Stack::Layer.caller(channel, &setup()).list(ListAssetsRequest::default()).await;
    printed(&result)
}

async fn written_twice() -> String {
    let settings = settings().to_builder().initial_rpc_timeout(ms(1000)).build().unwrap();
    let exists = Reply::status(Status::already_exists("the feed is there"));
    report(&Setup::new(settings), Script::at_once([Reply::Hang, exists])).await
}

async fn stream() -> String {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let mut client = TalkClient::new(setup().layer().layer(server.channel()));
    let lines = tokio_stream::iter(vec![Line::default(), Line::default()]);
    printed(&client.tell(lines).await)
}

async fn large_request() -> String {
    let request =
        Request::new(ListAssetsRequest { parent: "p".repeat(5000), ..ListAssetsRequest::default() });
    printed(&call(&setup().replaying(4096), Script::always(Reply::unavailable()), request).await)
}

async fn broken_stream() -> String {
    let message = BodyPart::message(&Line::default());
    let script = Script::always(Reply::play([
        message,
        BodyPart::Wait(ms(500)),
        BodyPart::status(&Status::unavailable("bye")),
    ]));
    let server = VirtualServer::start(script);
    let layer = setup().layer().facts(&tonic_gax_tests::generated::facts());
    let mut client = TalkClient::new(layer.layer(server.channel()));
    let mut lines = client.listen(Line::default()).await.unwrap().into_inner();
    lines.message().await.unwrap().unwrap();
    let status = lines.message().await.unwrap_err();
    format!("{status}\n{}", printed(&Err::<Response<()>, _>(status.clone())))
}

async fn withheld_hedge() -> String {
    let hedging = Hedging::new(3).delay(ms(300)).non_fatal_codes([Code::Unavailable]);
    let setup = setup().hedged(hedging).budgeted(RetryBudget::tokens(2, 0.1));
    let server = VirtualServer::start(Script::of([(ms(0), Reply::unavailable()), (ms(900), Reply::Serve)]));
    let mut caller = Stack::LayerWithDescriptors.caller(server.channel(), &setup);
    // Spends the budget.
    caller.list(ListAssetsRequest::default()).await.unwrap_err();
    printed(&caller.list(ListAssetsRequest::default()).await)
}

async fn throttled() -> String {
    let setup = setup().budgeted(RetryBudget::tokens(4, 0.1));
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let mut caller = Stack::LayerWithDescriptors.caller(server.channel(), &setup);
    printed(&caller.list(ListAssetsRequest::default()).await)
}

async fn asked_to_wait() -> String {
    report(&setup(), Script::always(Reply::http(503, &[("retry-after", "120")]))).await
}

async fn five() -> String {
    let settings = delays(100, 1.0).max_attempts(10).build().unwrap();
    report(&Setup::new(settings).compatible(Compatibility::Grpc), Script::always(Reply::unavailable())).await
}

async fn bad_options() -> String {
    let request = Request::new(ListAssetsRequest::default());
    let request = request.with_call_options(CallOptions::new().max_attempts(0));
    call(&setup(), Script::always(Reply::unavailable()), request).await.unwrap_err().to_string()
}

async fn post() -> String {
    let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(503)));
    let client =
        HttpRetryLayer::new(&settings(), [Code::Unavailable]).options(OperationOptions::new().reports(true));
    let client = client.layer(FaultServer::full_client(connector));
    let request = http::Request::post("http://server/v1/things").body(Full::<Bytes>::from("{}")).unwrap();
    let response = client.send(request).await.unwrap();
    response.extensions().get::<OperationReport>().unwrap().to_string()
}

/// The sections that begin with a block of text: heading and block.
fn shown(page: &str) -> Vec<(String, String)> {
    let sections = page.split("\n### ").skip(1);
    let blocks = sections.filter_map(|section| {
        let (heading, rest) = section.split_once('\n')?;
        let rest = rest.strip_prefix("\n```text\n")?;
        let (block, _) = rest.split_once("\n```\n")?;
        Some((heading.to_owned(), block.to_owned()))
    });
    blocks.collect()
}

#[tokio::test(start_paused = true)]
async fn the_guide_shows_what_is_printed() {
    let printed = [
        ("My call ended after 4.7 s of 5", ended_early().await),
        ("The first attempt used up all the time", hung().await),
        ("It made no retry", not_listed().await),
        ("It made no retry, and there is no report", unknown_method().await),
        ("A large request is not retried", large_request().await),
        ("There are never more than five attempts", five().await),
        ("Retries stop although there is time: `THROTTLED`", throttled().await),
        ("The server asks for a delay: `PUSHBACK`, `SERVER_DELAY_EXCEEDS_BUDGET`", asked_to_wait().await),
        ("`INVALID_ARGUMENT`, and the server never saw the call", bad_options().await),
        ("`DEADLINE_EXCEEDED` long before the total timeout", caller_s_deadline().await),
        ("`DEADLINE_EXCEEDED`, and the RPC timeout had not passed", server_s_deadline().await),
        ("`DEADLINE_EXCEEDED` after no attempt at all", no_time().await),
        ("`UNKNOWN` where I expected `UNAVAILABLE`", proxy_error().await),
        ("\"transport error\" on the first call after a while", broken_connection().await),
        ("The server counts more requests than the report has attempts", lost_connection().await),
        ("Every call fails at once with `UNAVAILABLE`", certificate().await),
        ("The server gets more load than the settings explain", two_layers().await),
        ("A write was carried out twice", written_twice().await),
        ("A stream of requests is not retried", stream().await),
        ("A stream of responses breaks and is not retried", broken_stream().await),
        ("Hedges are withheld", withheld_hedge().await),
        ("A `POST` is not retried", post().await),
    ];
    let printed = printed.map(|(heading, text)| (heading.to_owned(), text));
    for (shown, printed) in shown(PAGE).iter().zip(&printed) {
        assert_eq!(shown.0, printed.0);
        assert_eq!(shown.1, printed.1, "{}", printed.0);
    }
    assert_eq!(shown(PAGE).len(), printed.len());
    assert!(PAGE.contains(&format!("```text\nnote: {}\n```", Note::CONNECTION_GIVEN_UP)));
}
