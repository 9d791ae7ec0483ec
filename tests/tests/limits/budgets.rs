//! Retry budgets: what all operations of a client may retry together.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_http::HttpRetryLayer;
use gax_retry::{Code, Compatibility, Hedging, RetryBudget, RetrySettings, StopReason};
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::Resumption;
use gax_table::{Dialect, RetryTable};
use http_body_util::Full;
use tonic::{Request, Status};
use tonic_gax::settings::RetryBudgets;
use tonic_gax::{OperationOptions, OperationReport, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient as GeneratedClient, ListAssetsRequest,
};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::{
    Caller, FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, error_report, line,
    ms,
};
use tower_service::Service as _;

/// Four attempts, at once.
fn settings() -> RetrySettings {
    RetrySettings::builder().max_attempts(4).initial_retry_delay(ms(0)).build().unwrap()
}

/// The server's reply: U is UNAVAILABLE, O is OK, I is INTERNAL.
fn reply(letter: char) -> Reply {
    match letter {
        'O' => Reply::Serve,
        'U' => Reply::status(Status::unavailable("down")),
        _ => Reply::code(tonic::Code::Internal),
    }
}

/// How many attempts each call makes, and why it ends, where a server plays these calls one after the other.
async fn calls(setup: &Setup, stack: Stack, script: &[&str]) -> Vec<(usize, Option<StopReason>)> {
    let replies: String = script.concat();
    let server = VirtualServer::start(Script::at_once(replies.chars().map(reply)));
    let caller = stack.caller(server.channel(), setup);
    let mut made = Vec::new();
    for _ in script {
        let before = server.seen().len();
        // Clones share the budget.
        let mut caller: Caller<_> = caller.clone();
        let result = caller.list(ListAssetsRequest::default()).await;
        let reason = result.as_ref().err().and_then(|status| error_report(status).stop_reason());
        if reason == Some(StopReason::Throttled) {
            assert_eq!(result.unwrap_err().message(), "down");
        }
        made.push((server.seen().len() - before, reason));
    }
    made
}

const THROTTLED: Option<StopReason> = Some(StopReason::Throttled);

#[tokio::test(start_paused = true)]
async fn a_bucket_of_ten_tokens() {
    let script = ["O", "UUO", "UUO", "UU", "U", "O", "O", "O", "O", "O", "UO", "U"];
    let made = [(1, None), (3, None), (3, None), (2, THROTTLED), (1, THROTTLED)];
    let filled = [(1, None), (1, None), (1, None), (1, None), (1, None), (2, None), (1, THROTTLED)];
    for stack in Stack::ALL {
        for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
            let setup =
                Setup::new(settings()).compatible(compatibility).budgeted(RetryBudget::tokens(10, 0.5));
            let setup = setup.retrying([Code::Unavailable]);
            let expected = [made.as_slice(), &filled].concat();
            assert_eq!(calls(&setup, stack, &script).await, expected, "{stack:?} {compatibility}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn other_codes_drain_nothing_and_no_budget_stops_nothing() {
    let setup = Setup::new(settings()).retrying([Code::Unavailable]);
    let script = ["I", "I", "I", "I", "UO"];
    let made = calls(&setup.clone().budgeted(RetryBudget::tokens(4, 0.1)), Stack::Generated, &script).await;
    assert_eq!(made.last(), Some(&(2, None)));
    let made = calls(&setup, Stack::Generated, &["UUUU", "UUUU", "UUUU"]).await;
    assert_eq!(made, [(4, Some(StopReason::MaxAttempts)); 3]);
}

/// A share of the successes of the last ten seconds.
#[tokio::test(start_paused = true)]
async fn a_ratio_counts_over_ten_seconds() {
    for stack in Stack::ALL {
        let setup = Setup::new(settings()).budgeted(RetryBudget::ratio(0.2).min_per_second(0));
        let server = VirtualServer::start(Script::at_once("OOOOOOOOOOUOUUOUO".chars().map(reply)));
        let mut caller = stack.caller(server.channel(), &setup);
        let mut ends = Vec::new();
        for call in 0..14 {
            // Ten successes allow two retries; ten seconds later nothing is left of them.
            if call == 13 {
                tokio::time::sleep(ms(11_000)).await;
            }
            let result = caller.list(ListAssetsRequest::default()).await;
            ends.push(result.err().and_then(|status| error_report(&status).stop_reason()));
        }
        let mut expected = [None; 14];
        // "UO" is retried, so is the first "U" of "UUO", and then there is none left.
        expected[11] = THROTTLED;
        assert_eq!(ends[..12], expected[..12], "{stack:?}");
        assert_eq!(ends[13], THROTTLED, "{stack:?}");
    }
}

const TABLE: &str = r#"{
    "methodConfig": [{
        "name": [{"service": "google.cloud.asset.v1.AssetService"}, {"service": "test.talk.v1.Talk"}],
        "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1,
            "retryableStatusCodes": ["UNAVAILABLE"]}
    }],
    "retryThrottling": {"maxTokens": 4, "tokenRatio": 0.1}
}"#;

/// A table's throttling is that of all its methods, in the dialects that have it.
#[tokio::test(start_paused = true)]
async fn a_tables_throttling_is_shared_by_its_methods() {
    for (dialect, expected) in
        [(Dialect::AsWritten, [2, 1]), (Dialect::Grpc, [2, 1]), (Dialect::GaxJava, [1, 1])]
    {
        let table = RetryTable::reader().dialect(dialect).read(TABLE.as_bytes()).unwrap();
        let layer = RetryLayer::new(table);
        for (layer, expected) in
            [(layer.clone(), expected), (layer.options(OperationOptions::new().retry_budget(None)), [4, 4])]
        {
            if dialect == Dialect::GaxJava {
                // Google's generator takes no number of attempts from a file.
                continue;
            }
            let server = VirtualServer::start(Script::always(reply('U')));
            let list = AssetServiceClient::new(layer.layer(server.channel()));
            let talk = TalkClient::new(layer.clone().layer(server.channel()));
            let first = list.clone().list_assets(ListAssetsRequest::default()).await.unwrap_err();
            let second = talk.clone().ask(Line::default()).await.unwrap_err();
            let counts = [&first, &second].map(|status| error_report(status).attempts().len());
            assert_eq!(counts, expected, "{dialect}");
            assert_eq!(first.message(), "down");
        }
    }
    let java = RetryTable::reader().dialect(Dialect::GaxJava).read(TABLE.as_bytes()).unwrap();
    assert_eq!(java.throttling(), None);
}

/// A stream that breaks more often than the table has tokens is resumed each time: what it delivers gives the tokens back.
#[tokio::test(start_paused = true)]
async fn a_stream_that_goes_on_and_on_is_not_throttled() {
    let table = RetryTable::reader().dialect(Dialect::AsWritten).read(TABLE.as_bytes()).unwrap();
    let layer = RetryLayer::new(table).facts(&tonic_gax_tests::generated::facts());
    let lines = |number| Reply::messages_then_status(&[line(number)], &Status::unavailable("down"));
    let script = (1..9).map(lines).chain([Reply::messages(&[line(9)])]);
    let server = VirtualServer::start(Script::at_once(script));
    let resumption = Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count));
    let request = Request::new(line(0)).with_resumption(resumption);
    let mut lines =
        TalkClient::new(layer.layer(server.channel())).listen(request).await.unwrap().into_inner();
    for number in 1..=9 {
        assert_eq!(lines.message().await.unwrap(), Some(line(number)));
    }
    assert_eq!(lines.message().await.unwrap(), None);
}

/// gRFC A6: one bucket for each server, whatever client a call comes from.
#[tokio::test(start_paused = true)]
async fn clients_of_one_server_share_its_bucket() {
    let budgets = RetryBudgets::new();
    let layer = |server: &str| {
        let table = RetryTable::reader().read(TABLE.as_bytes()).unwrap();
        RetryLayer::new(table).server_retry_budget(&budgets, server)
    };
    let down = VirtualServer::start(Script::always(reply('U')));
    let list = |layer: RetryLayer| {
        let mut client = AssetServiceClient::new(layer.layer(down.channel()));
        async move { attempts(&client.list_assets(ListAssetsRequest::default()).await.unwrap_err()) }
    };
    assert_eq!(list(layer("assets")).await, 2);
    // Another layer, of a table that was read again; another kind of client; and one that has no budget of its own.
    assert_eq!(list(layer("assets")).await, 1);
    let talk = TalkClient::new(layer("assets").layer(down.channel())).ask(Line::default()).await;
    assert_eq!(attempts(&talk.unwrap_err()), 1);
    let generated = |server: &str| {
        let settings = Setup::new(settings()).client().with_server_retry_budget(&budgets, server);
        GeneratedClient::with_settings(down.channel(), settings)
    };
    let call = |server| {
        let client = generated(server);
        async move { attempts(&client.list_assets(ListAssetsRequest::default()).await.unwrap_err()) }
    };
    assert_eq!(call("assets").await, 1);
    // Servers that nothing is known of.
    assert_eq!((call("archive").await, list(layer("library")).await), (4, 2));
}

/// HTTP clients and closures of that server, too.
#[tokio::test(start_paused = true)]
async fn all_that_calls_a_server_shares_its_bucket() {
    let budgets = RetryBudgets::new();
    let tokens = || RetryBudget::tokens(4, 0.1);
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().retry_budget(budgets.of("assets", tokens)));
    let error = retryer.run_blocking(|_| Err::<(), _>(Status::unavailable("down"))).unwrap_err();
    assert_eq!((error.report().attempts().len(), error.stop_reason()), (2, THROTTLED));
    let (server, connector) = FaultServer::in_memory(HttpScript::new(vec![HttpAct::status(503); 4]));
    let layer = HttpRetryLayer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().retry_budget(budgets.of("assets", tokens)));
    let request = http::Request::get("http://server/").body(Full::<Bytes>::default()).unwrap();
    layer.layer(FaultServer::full_client(connector)).call(request).await.unwrap();
    assert_eq!(server.times().len(), 1);
}

fn attempts(status: &Status) -> u32 {
    error_report(status).attempt_count()
}

#[tokio::test(start_paused = true)]
async fn http_requests_draw_on_a_budget() {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(vec![HttpAct::status(503); 9]));
    let layer = HttpRetryLayer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().retry_budget(RetryBudget::tokens(4, 0.1)));
    let mut service = layer.layer(FaultServer::full_client(connector));
    for expected in [2, 1] {
        let request = http::Request::get("http://server/").body(Full::<Bytes>::default()).unwrap();
        let response = service.call(request).await.unwrap();
        assert_eq!(response.status(), 503);
        let report = response.extensions().get::<OperationReport>().unwrap();
        assert_eq!((report.attempts().len(), report.stop_reason()), (expected, THROTTLED));
    }
    assert_eq!(server.times().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn closures_draw_on_a_budget_and_share_it_with_calls() {
    let budget = RetryBudget::tokens(6, 0.1);
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().retry_budget(budget.clone()));
    let down = |_| async { Err::<(), _>(Status::unavailable("down")) };
    let error = retryer.clone().run(down).await.unwrap_err();
    assert_eq!((error.report().attempts().len(), error.stop_reason()), (3, THROTTLED));
    let error = retryer.run_blocking(|_| Err::<(), _>(Status::unavailable("down"))).unwrap_err();
    assert_eq!((error.report().attempts().len(), error.stop_reason()), (1, THROTTLED));
    let setup = Setup::new(settings()).budgeted(budget);
    assert_eq!(calls(&setup, Stack::Generated, &["U"]).await, [(1, THROTTLED)]);
}

/// How many requests arrive if so many calls are hedged after 30 ms, and each reply takes a second.
async fn hedged_beside_a_slow_server(budget: RetryBudget, calls: usize) -> usize {
    let hedging = Hedging::new(2).delay(ms(30)).allow_non_idempotent();
    let setup = Setup::new(RetrySettings::logical_timeout(ms(5000))).hedged(hedging).budgeted(budget);
    let server = VirtualServer::start(Script::of(vec![(ms(1000), Reply::Serve); 300]));
    let caller = Stack::Generated.caller(server.channel(), &setup);
    for _ in 0..calls {
        caller.clone().list(ListAssetsRequest::default()).await.unwrap();
    }
    server.seen().len()
}

/// Slow replies are successes: they put tokens back, and a ratio counts hedges all the same.
#[tokio::test(start_paused = true)]
async fn a_ratio_bounds_the_hedges_of_a_slow_server_and_tokens_do_not() {
    assert_eq!(hedged_beside_a_slow_server(RetryBudget::tokens(10, 0.1), 100).await, 200);
    let with_ratio = hedged_beside_a_slow_server(RetryBudget::ratio(0.1).min_per_second(0), 100).await;
    assert!((100..=111).contains(&with_ratio), "{with_ratio}");
}
