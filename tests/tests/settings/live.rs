//! Settings that are replaced while calls are made.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary};
use gax_http::HttpRetryLayer;
use gax_retry::{Code, Compatibility, Hedging, RetryBudget, RetrySettings, StopReason};
use gax_table::live::{SettingsEvent, SettingsHandle};
use gax_table::{Dialect, RetryTable};
use http_body_util::Full;
use std::sync::{Arc, Mutex};
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_gax::{
    CallOptions, OperationError, OperationOptions, OperationReport, RequestExt as _, RetryLayer, RetryService,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AnalyzeIamPolicyRequest, AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings,
    ListAssetsRequest, SearchAllResourcesRequest,
};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Reply, Script, VirtualServer, delays, error_report, ms,
};

const SERVICE: &str = "google.cloud.asset.v1.AssetService";

/// So many attempts, a second apart, in an hour.
fn settings(attempts: u32) -> RetrySettings {
    delays(1000, None).max_attempts(attempts).total_timeout(ms(3_600_000)).build().unwrap()
}

/// A table that allows each method of the asset service so many attempts.
fn table(attempts: u32) -> RetryTable {
    RetryTable::builder().service(SERVICE, settings(attempts), Code::Unavailable).build().unwrap()
}

/// The ways to call `ListAssets` by a handle's table.
#[derive(Clone)]
enum Client {
    Generated(AssetServiceClient<Channel>),
    Layer(TonicClient<RetryService<Channel>>),
}

impl Client {
    fn all(channel: &Channel, handle: &SettingsHandle) -> [Self; 2] {
        let generated = AssetServiceSettings::default().live(handle);
        let layered = RetryLayer::live(handle).layer(channel.clone());
        [
            Self::Generated(AssetServiceClient::with_settings(channel.clone(), generated)),
            Self::Layer(TonicClient::new(layered)),
        ]
    }

    async fn fail(self, options: CallOptions) -> OperationReport {
        let request = Request::new(ListAssetsRequest::default()).with_call_options(options);
        let result = match self {
            Self::Generated(client) => client.list_assets(request).await,
            Self::Layer(mut client) => client.list_assets(request).await,
        };
        error_report(&result.unwrap_err())
    }
}

/// The attempts of an operation and the version of its settings.
fn made(report: &OperationReport) -> (u32, Option<u64>) {
    (report.attempt_count(), report.settings_version())
}

#[tokio::test(start_paused = true)]
async fn operations_run_by_the_table_that_they_began_with() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(table(3));
    for client in Client::all(&server.channel(), &handle) {
        handle.replace(table(3)).unwrap();
        let first = handle.version();
        let begun = tokio::spawn(client.clone().fail(CallOptions::new()));
        // Its first attempt has failed by then.
        tokio::time::advance(ms(500)).await;
        tokio::task::yield_now().await;
        assert_eq!(handle.replace(table(2)).unwrap(), first + 1);
        assert_eq!(made(&client.clone().fail(CallOptions::new()).await), (2, Some(first + 1)));
        assert_eq!(made(&begun.await.unwrap()), (3, Some(first)));
        // A call's own options go over the new settings.
        assert_eq!(made(&client.fail(CallOptions::new().max_attempts(4)).await), (4, Some(first + 1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_says_by_which_version_it_was_made() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(table(1));
    let [generated, _] = Client::all(&server.channel(), &handle);
    let report = generated.fail(CallOptions::new()).await;
    assert!(report.to_string().ends_with("settings: version 1"), "{report}");

    let Client::Generated(client) = Client::all(&server.channel(), &handle)[0].clone() else {
        unreachable!()
    };
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(OperationError::of(&status).unwrap().report().settings_version(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn what_a_program_sets_goes_before_the_table() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(table(3));
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets().set_retry_settings(settings(5));
    stub.search_all_resources().set_retryable_codes([Code::Internal]);
    let settings = AssetServiceSettings::create(stub.build().unwrap()).live(&handle);
    let client = AssetServiceClient::with_settings(server.channel(), settings)
        .max_decoding_message_size(1000)
        .with_origin(&"http://elsewhere".parse().unwrap());
    for (version, attempts) in [(1, 3), (2, 2)] {
        let listed = error_report(&client.list_assets(ListAssetsRequest::default()).await.unwrap_err());
        assert_eq!(made(&listed), (5, Some(version)));
        let found = client.search_all_resources(SearchAllResourcesRequest::default()).await.unwrap_err();
        assert_eq!(error_report(&found).stop_reason(), Some(StopReason::NonRetryable));
        let other = client.analyze_iam_policy(AnalyzeIamPolicyRequest::default());
        assert_eq!(made(&error_report(&other.await.unwrap_err())), (attempts, Some(version)));
        handle.replace(table(2)).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_that_a_new_table_leaves_out_is_not_retried() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(table(3));
    let [generated, layered] = Client::all(&server.channel(), &handle);
    handle.replace(RetryTable::builder().build().unwrap()).unwrap();
    let report = generated.fail(CallOptions::new()).await;
    assert_eq!((made(&report), report.stop_reason()), ((1, Some(2)), Some(StopReason::NonRetryable)));
    // The layer passes the call through.
    let Client::Layer(mut client) = layered else { unreachable!() };
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert!(OperationError::of(&status).is_none());
}

/// The table of the moment has the word: what it calls not idempotent is not hedged, unless the program allows that.
#[tokio::test(start_paused = true)]
async fn hedging_in_code_ends_where_a_new_table_says_that_the_method_is_not_idempotent() {
    let talk = || RetryTable::builder().service("test.talk.v1.Talk", settings(1), Code::Unavailable);
    for (allowed, expected) in [(false, 1), (true, 3)] {
        let handle = SettingsHandle::new(talk().build().unwrap());
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let hedging = Hedging::new(3).delay(ms(100));
        let hedging = if allowed { hedging.allow_non_idempotent() } else { hedging };
        // By its proto, Guess is idempotent.
        let mut stub = TalkStubSettings::builder();
        stub.guess().set_hedging(hedging);
        let stub = TalkSettings::create(stub.build().unwrap()).live(&handle);
        let client = TalkClient::with_settings(server.channel(), stub);
        let call = || tokio::time::timeout(ms(1000), client.guess(Line::default()));
        call().await.unwrap_err();
        assert_eq!(server.seen().len(), 3);
        handle.replace(talk().idempotent(false).build().unwrap()).unwrap();
        call().await.unwrap_err();
        assert_eq!(server.seen().len(), 3 + expected);
    }
}

fn throttled(tokens: u32, attempts: u32) -> RetryTable {
    let text = format!(
        r#"{{"retryThrottling": {{"maxTokens": {tokens}, "tokenRatio": 0.1}}, "methodConfig": [{{
            "name": [{{"service": "{SERVICE}"}}], "timeout": "3600s", "retryPolicy": {{"maxAttempts": {attempts},
            "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}
        }}]}}"#
    );
    RetryTable::reader().dialect(Dialect::Grpc).read(text.as_bytes()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_kept_while_its_numbers_are_the_same() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(throttled(6, 4));
    let [generated, layered] = Client::all(&server.channel(), &handle);
    // Six tokens, of which more than three have to be left: the third failure stops it.
    assert_eq!(generated.clone().fail(CallOptions::new()).await.attempt_count(), 3);
    // The layer shares it, and a new table with the same numbers keeps it.
    handle.replace(throttled(6, 3)).unwrap();
    let report = layered.clone().fail(CallOptions::new()).await;
    assert_eq!((made(&report), report.stop_reason()), ((1, Some(2)), Some(StopReason::Throttled)));
    // Other numbers are another budget, full at first.
    handle.replace(throttled(20, 3)).unwrap();
    assert_eq!(made(&generated.fail(CallOptions::new()).await), (3, Some(3)));
    assert_eq!(made(&layered.fail(CallOptions::new()).await), (3, Some(3)));

    // A program's own stays.
    let own = RetryBudget::tokens(2, 0.1);
    let settings = AssetServiceSettings::default()
        .with_options(OperationOptions::new().compatibility(Compatibility::Grpc).retry_budget(own.clone()))
        .live(&handle);
    let client = AssetServiceClient::with_settings(server.channel(), settings);
    let layer =
        RetryLayer::live(&handle).options(OperationOptions::new().retry_budget(own)).layer(server.channel());
    for client in [Client::Generated(client), Client::Layer(TonicClient::new(layer))] {
        handle.replace(throttled(10, 3)).unwrap();
        assert_eq!(client.fail(CallOptions::new()).await.stop_reason(), Some(StopReason::Throttled));
    }
}

/// The events of a handle.
fn events(handle: &SettingsHandle) -> Arc<Mutex<Vec<String>>> {
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    handle.on_event(move |event| {
        assert!(matches!(event, SettingsEvent::Replaced { .. } | SettingsEvent::Refused { .. }));
        log.lock().unwrap().push(event.to_string());
    });
    events
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_refused_changes_nothing_and_is_reported() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(table(2));
    let events = events(&handle);
    let strict = RetryLayer::live(&handle).facts(&tonic_gax_tests::generated::facts());
    let strict = strict.layer(server.channel());
    handle.deny_unknown_methods(tonic_gax_tests::generated::facts().paths()).unwrap();
    let [generated, _] = Client::all(&server.channel(), &handle);

    let other = RetryTable::reader().dialect(Dialect::GaxJava).read(br#"{"methodConfig": []}"#).unwrap();
    let error = handle.replace(other).unwrap_err().to_string();
    assert_eq!(
        error,
        "a table in the dialect gax-java can't replace one in as-written; read it in the dialect of the first"
    );
    let unknown = RetryTable::builder().service("google.cloud.asset.v1.AssetServise", settings(9), Code::Ok);
    let error = handle.replace(unknown.build().unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("the table names methods or services that are not known"), "{error}");

    // Nobody has taken any of it.
    assert_eq!(handle.version(), 1);
    for client in [generated, Client::Layer(TonicClient::new(strict))] {
        assert_eq!(made(&client.fail(CallOptions::new()).await), (2, Some(1)));
    }
    assert_eq!(handle.replace(table(3)).unwrap(), 2);
    let events = events.lock().unwrap();
    assert_eq!(
        events[0],
        "retry settings stay at version 1, because the new table is rejected: a table in the dialect gax-java can't \
         replace one in as-written; read it in the dialect of the first"
    );
    assert_eq!((events.len(), &*events[2]), (3, "retry settings are replaced by version 2"));
}

#[tokio::test]
async fn one_can_wait_for_a_new_version() {
    let handle = SettingsHandle::new(table(1));
    assert_eq!(handle.newer_than(0).await, 1);
    let waiting = handle.clone();
    let waiting = tokio::spawn(async move { waiting.newer_than(1).await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    handle.replace(table(2)).unwrap();
    assert_eq!(waiting.await.unwrap(), 2);
}

#[test]
fn who_is_gone_follows_no_more() {
    let handle = SettingsHandle::new(table(1));
    let layer = RetryLayer::live(&handle);
    let service = layer.layer(());
    let short = format!("{handle:?} {service:?}");
    assert!(short.starts_with("SettingsHandle { version: 1, table: RetryTable {"), "{short}");
    drop((layer, service));
    assert_eq!(handle.replace(table(2)).unwrap(), 2);
    assert_eq!(handle.table().entry(0).unwrap().settings().max_attempts(), Some(2));
}

fn get() -> http::Request<Full<Bytes>> {
    http::Request::get("http://server/thing").body(Full::default()).unwrap()
}

fn photos(attempts: u32) -> RetryTable {
    RetryTable::builder().service("photos", settings(attempts), Code::Unavailable).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn http_requests_run_by_the_table_of_their_time() {
    let handle = SettingsHandle::new(photos(2));
    let layer = HttpRetryLayer::live(&handle, "photos");
    for (version, attempts) in [(1, 2), (2, 3), (3, 1)] {
        let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(503)));
        let response = layer.layer(FaultServer::full_client(connector)).send(get()).await.unwrap();
        let report = response.extensions().get::<OperationReport>().unwrap();
        assert_eq!(made(report), (attempts, Some(version)));
        // A table for other services has no entry for this one.
        let next = if version == 1 { photos(3) } else { table(4) };
        handle.replace(next).unwrap();
    }
}

#[derive(Default)]
struct Versions(Mutex<Vec<Option<u64>>>);

impl OperationObserver for Versions {
    fn operation_failed(&self, operation: &OperationInfo, _: &OperationSummary) {
        self.0.lock().unwrap().push(operation.settings_version());
    }
}

#[tokio::test(start_paused = true)]
async fn observers_hear_of_the_version() {
    let server = VirtualServer::start(Script::always(Reply::status(Status::unavailable("down"))));
    let handle = SettingsHandle::new(table(1));
    let versions = Arc::new(Versions::default());
    let layer = RetryLayer::live(&handle).options(OperationOptions::new().observer(versions.clone()));
    let client = Client::Layer(TonicClient::new(layer.layer(server.channel())));
    client.clone().fail(CallOptions::new()).await;
    handle.replace(table(1)).unwrap();
    client.fail(CallOptions::new()).await;
    assert_eq!(*versions.0.lock().unwrap(), [Some(1), Some(2)]);
}

/// The attempts that a closure makes which always fails.
async fn closure(retryer: &Retryer<[Code; 1]>) -> OperationReport {
    let error = retryer.run(|_| async { Err::<(), _>(Status::unavailable("")) }).await.unwrap_err();
    error.report().clone()
}

#[tokio::test(start_paused = true)]
async fn closures_run_by_the_table_that_they_began_with() {
    let handle = SettingsHandle::new(table(3));
    let versions = Arc::new(Versions::default());
    let retryer = Retryer::live(&handle, SERVICE, [Code::Unavailable])
        .options(OperationOptions::new().observer(versions.clone()));
    let begun = tokio::spawn({
        let retryer = retryer.clone();
        async move { closure(&retryer).await }
    });
    // Its first attempt has failed by then.
    tokio::time::advance(ms(500)).await;
    tokio::task::yield_now().await;
    assert_eq!(handle.replace(table(2)).unwrap(), 2);
    assert_eq!(made(&closure(&retryer).await), (2, Some(2)));
    assert_eq!(made(&begun.await.unwrap()), (3, Some(1)));
    // In the order in which they ended.
    assert_eq!(*versions.0.lock().unwrap(), [Some(2), Some(1)]);

    // A blocking one replaces the table under its own feet.
    let at_once = |attempts| {
        let settings = RetrySettings::builder().max_attempts(attempts).initial_retry_delay(ms(0));
        RetryTable::builder().service(SERVICE, settings.build().unwrap(), Code::Unavailable).build().unwrap()
    };
    handle.replace(at_once(4)).unwrap();
    let error = retryer
        .run_blocking(|attempt| {
            if attempt.number() == 1 {
                handle.replace(at_once(2)).unwrap();
            }
            Err::<(), _>(Status::unavailable(""))
        })
        .unwrap_err();
    assert_eq!(made(error.report()), (4, Some(3)));
    let error = retryer.run_blocking(|_| Err::<(), _>(Status::unavailable(""))).unwrap_err();
    assert_eq!(made(error.report()), (2, Some(4)));
    // A success carries its version too.
    let done = retryer.run_blocking(|_| Ok::<_, Status>(())).unwrap();
    assert_eq!(done.report().settings_version(), Some(4));
}

#[tokio::test(start_paused = true)]
async fn a_closure_takes_its_service_s_entry_and_the_table_s_budget() {
    let handle = SettingsHandle::new(table(3));
    // Nobody has an entry for that one, so that it is not retried.
    let other = Retryer::live(&handle, "redis", [Code::Unavailable]);
    assert_eq!(made(&closure(&other).await), (1, Some(1)));
    let throttled = r#"{
        "methodConfig": [{"name": [{}], "timeout": "60s", "retryPolicy": {
            "maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1,
            "retryableStatusCodes": ["INTERNAL"]}}],
        "retryThrottling": {"maxTokens": 4, "tokenRatio": 0.1}
    }"#;
    handle.replace(RetryTable::parse(throttled).unwrap()).unwrap();
    // The retryable codes are the program's. Half of the four tokens are left after two attempts.
    let report = closure(&other).await;
    assert_eq!((made(&report), report.stop_reason()), ((2, Some(2)), Some(StopReason::Throttled)));
    // Its own budget goes before the table's.
    let own = other.clone().options(OperationOptions::new().retry_budget(RetryBudget::tokens(100, 0.1)));
    assert_eq!(made(&closure(&own).await).0, 5);
}

/// A lock is poisoned by the first panic, so that each later call panics as well.
#[test]
fn a_listener_that_panics_does_not_keep_settings_from_being_replaced_nor_others_from_being_notified() {
    let handle = SettingsHandle::new(table(1));
    let lock = Mutex::new(());
    handle.on_event(move |event| {
        let _held = lock.lock().unwrap();
        assert!(event.to_string().is_empty(), "it panics");
    });
    let events = events(&handle);
    assert_eq!(handle.replace(table(2)).unwrap(), 2);
    let other = RetryTable::reader().dialect(Dialect::GaxJava).read(br#"{"methodConfig": []}"#).unwrap();
    handle.replace(other).unwrap_err();
    assert_eq!(handle.replace(table(3)).unwrap(), 3);
    assert_eq!((events.lock().unwrap().len(), handle.version()), (3, 3));
}
