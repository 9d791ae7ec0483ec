//! The spans and events of operations.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use crate::observing::lines::Lines;
use gax_driver::LivePolicies;
use gax_driver::Retryer;
use gax_driver::observe::TracingObserver;
use gax_http::{HttpRetryLayer, IdempotencyTable};
use gax_retry::{
    Code, HttpPolicies, HttpSettings, MethodPolicies, MethodSettings, RetrySettings, StartedAttempt,
};
use std::sync::Arc;
use tonic::Status;
use tonic::service::interceptor::InterceptedService;
use tonic_gax::{CodeExt as _, OperationOptions, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient as GeneratedClient, AssetServiceSettings, ListAssetsRequest,
};
use tonic_gax_tests::{Recorder, Reply, Script, Setup, Stack, VirtualServer, delays, ms};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{Layer as _, Registry};

fn settings() -> RetrySettings {
    delays(200, 2.0).total_timeout(ms(500)).build().unwrap()
}

fn observer() -> TracingObserver {
    TracingObserver::new()
        .server_address("assets.test")
        .propagator(|span, headers| headers.set("x-span", span.metadata().unwrap().name()))
}

#[tokio::test(start_paused = true)]
async fn an_operation_has_a_span_and_each_attempt_one_below_it() {
    for stack in Stack::ALL {
        let lines = Lines::default();
        let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
        let server = VirtualServer::start(Script::of([(ms(10), Reply::unavailable())]));
        let setup = Setup::new(settings()).observed(Arc::new(observer()));
        stack.list(server.channel(), &setup).await.unwrap();
        let mut recorded = lines.take();
        let messages: Vec<_> = recorded.extract_if(.., |line| line.starts_with("TRACE in attempt")).collect();
        assert_eq!(
            messages,
            [
                "TRACE in attempt: message=Outbound message sequence-number=0i64 message-size=0i64",
                "TRACE in attempt: message=Outbound message sequence-number=0i64 message-size=0i64",
                "TRACE in attempt: message=Inbound message sequence-number=0i64 message-size=0i64",
            ],
            "{stack:?}"
        );
        let method = "google.cloud.asset.v1.AssetService/ListAssets";
        let dotted = "google.cloud.asset.v1.AssetService.ListAssets";
        let rpc = format!("otel.kind=\"client\" rpc.system.name=\"grpc\" rpc.method=\"{method}\"");
        let attempt = |previous: u32| {
            format!(
                "attempt in operation: otel.name=\"Attempt.{dotted}\" {rpc} previous-rpc-attempts={previous}i64 \
                 transparent-retry=false hedge=false"
            )
        };
        assert_eq!(
            recorded,
            [
                format!("operation in nothing: otel.name=\"{method}\" {rpc} server.address=\"assets.test\""),
                attempt(0),
                "DEBUG in operation: message=failed; another attempt follows attempt=1i64 code=\"UNAVAILABLE\" \
                 delay=200 ms"
                    .to_owned(),
                "attempt: rpc.response.status_code=\"UNAVAILABLE\"".to_owned(),
                "attempt: error.type=\"UNAVAILABLE\"".to_owned(),
                "attempt: otel.status_code=\"ERROR\"".to_owned(),
                "attempt: otel.status_message=\"UNAVAILABLE: another attempt follows\"".to_owned(),
                "attempt closes".to_owned(),
                attempt(1),
                "attempt: rpc.response.status_code=\"OK\"".to_owned(),
                "attempt closes".to_owned(),
                "operation: rpc.response.status_code=\"OK\"".to_owned(),
                "operation: attempts=2i64".to_owned(),
                "operation closes".to_owned(),
            ],
            "{stack:?}"
        );
        let arrivals = server.log().arrivals();
        assert!(arrivals.iter().all(|arrival| arrival.header("x-span") == Some("attempt")), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_retries_could_not_cure_is_one_warning_and_a_span_with_an_error() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let retryer = Retryer::new(&settings(), [Code::Unavailable]).named("redis: SET").options(
        OperationOptions::new()
            .observer(Arc::new(TracingObserver::new()))
            .observer(Recorder::default().shared()),
    );
    retryer.run(|_| async { Err::<(), _>(Status::unavailable("")) }).await.unwrap_err();
    let lines = lines.take();
    let sentence = "redis: SET failed with UNAVAILABLE after 2 attempts in 200 ms: the total timeout leaves no time for another \
                    attempt; attempt 3 would have followed after 400 ms";
    let starting =
        |start: &str| -> Vec<&String> { lines.iter().filter(|line| line.starts_with(start)).collect() };
    assert_eq!(
        starting("WARN"),
        [&format!(
            "WARN in operation: message={sentence} method=\"redis: SET\" code=\"UNAVAILABLE\" attempts=2i64 \
             stop_reason=\"TOTAL_TIMEOUT\""
        )]
    );
    assert_eq!(
        starting("attempt: otel.status"),
        [
            "attempt: otel.status_code=\"ERROR\"",
            "attempt: otel.status_message=\"UNAVAILABLE: another attempt follows\"",
            "attempt: otel.status_code=\"ERROR\"",
            "attempt: otel.status_message=\"UNAVAILABLE: the total timeout leaves no time for another attempt\"",
        ]
    );
    assert_eq!(
        starting("operation: otel.status"),
        ["operation: otel.status_code=\"ERROR\"", &format!("operation: otel.status_message={sentence:?}")]
    );
    // Whoever prints the warning with the fields of its span has the sentence once.
    let place = |start: &str| lines.iter().position(|line| line.starts_with(start));
    assert!(place("WARN") < place("operation: "), "{lines:?}");
}

/// The level of each event about an operation that fails with that code, retried or not.
async fn levels(observer: TracingObserver, code: tonic::Code, retried: bool) -> Vec<String> {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let server = VirtualServer::start(Script::always(Reply::code(code)));
    let setup = Setup::new(settings()).observed(Arc::new(observer));
    let setup = if retried { setup.retrying([code.to_gax()]) } else { setup };
    Stack::Generated.list(server.channel(), &setup).await.unwrap_err();
    let lines = lines.take();
    assert!(lines.contains(&"operation: otel.status_code=\"ERROR\"".to_owned()), "{lines:#?}");
    let failed = lines.iter().filter(|line| line.contains("ListAssets failed with"));
    failed.filter_map(|line| line.split_once(" in operation: ")).map(|(level, _)| level.to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_the_caller_may_expect_is_no_warning() {
    for code in (1..=16).map(tonic::Code::from) {
        let expected = match code.to_gax().name() {
            "INVALID_ARGUMENT"
            | "NOT_FOUND"
            | "ALREADY_EXISTS"
            | "PERMISSION_DENIED"
            | "FAILED_PRECONDITION"
            | "ABORTED"
            | "OUT_OF_RANGE"
            | "UNAUTHENTICATED" => "DEBUG",
            _ => "WARN",
        };
        if ![tonic::Code::Unavailable, tonic::Code::DeadlineExceeded].contains(&code) {
            assert_eq!(levels(TracingObserver::new(), code, false).await, [expected], "{code:?}");
        }
        // Retries did not help.
        assert_eq!(levels(TracingObserver::new(), code, true).await, ["WARN"], "{code:?}");
    }
    let own = || TracingObserver::new().expected_codes(tonic::Code::Internal).unwrap();
    assert_eq!(levels(own(), tonic::Code::Internal, false).await, ["DEBUG"]);
    assert_eq!(levels(own(), tonic::Code::NotFound, false).await, ["WARN"]);
    assert!(TracingObserver::new().expected_codes([99]).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_operation_is_no_warning() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().observer(Arc::new(TracingObserver::new())));
    let run = retryer.run(|_| std::future::pending::<Result<(), Status>>());
    assert!(tokio::time::timeout(ms(100), run).await.is_err());
    let recorded = lines.take();
    assert!(recorded.contains(
        &"DEBUG in operation: message=cancelled after 100 ms method=\"closure\" attempts=1i64".to_owned()
    ));
    assert!(!recorded.iter().any(|line| line.starts_with("WARN") || line.contains("ERROR")), "{recorded:?}");
    assert_eq!(recorded.last().unwrap(), "operation closes");
}

#[tokio::test(start_paused = true)]
async fn what_an_attempt_waits_for_its_transport_is_a_span_on_request() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let setup = Setup::new(settings()).observed(Arc::new(TracingObserver::new().attempt_delays(true)));
    Stack::Generated.list(server.channel(), &setup).await.unwrap();
    let lines = lines.take();
    let place = |wanted: &str| lines.iter().position(|line| line.starts_with(wanted)).unwrap();
    let delay = "delay in attempt: otel.name=\"Delay\" grpc.delay_type=\"connecting\"";
    assert!(place("attempt in operation") < place(delay), "{lines:#?}");
    let reason = "DEBUG in delay: message=Delay triggered \
                  grpc.delay_reason=\"waiting for a connection, or for a free stream on one\"";
    assert_eq!(place(reason), place(delay) + 1, "{lines:#?}");
    // It ends long before the attempt does.
    assert!(place("delay closes") < place("attempt closes"), "{lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn an_operation_is_named_as_a72_has_it_on_request() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let observer = Arc::new(TracingObserver::new().sent_prefix(true));
    let setup = Setup::new(settings()).observed(observer.clone());
    Stack::Generated.list(server.channel(), &setup).await.unwrap();
    let lines_of = lines.take();
    let name =
        "operation in nothing: otel.name=\"Sent.google.cloud.asset.v1.AssetService.ListAssets\" otel.kind";
    assert!(lines_of[0].starts_with(name), "{lines_of:#?}");
    // An operation that is not gRPC keeps its name.
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .named("redis: SET")
        .options(OperationOptions::new().observer(observer));
    retryer.run(|_| async { Ok::<_, Status>(()) }).await.unwrap();
    assert!(lines.take()[0].starts_with("operation in nothing: otel.name=\"redis: SET\" otel.kind"));
}

fn log() {
    tracing::info!(target: "tonic_gax::program", "works");
}

fn logged(lines: &Lines) -> Vec<String> {
    lines.take().into_iter().filter(|line| line.ends_with("works")).collect()
}

/// The first attempt fails.
fn result(attempt: StartedAttempt) -> Result<(), Status> {
    log();
    if attempt.number() == 1 { Err(Status::unavailable("")) } else { Ok(()) }
}

#[test]
fn closures_that_block_are_called_within_their_spans() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let settings = delays(1, 1.0).max_attempts(2).build().unwrap();
    let retryer = Retryer::new(&settings, [Code::Unavailable])
        .options(OperationOptions::new().observer(Arc::new(observer())));
    retryer.run_blocking(result).unwrap();
    assert_eq!(logged(&lines), ["INFO in attempt: message=works", "INFO in attempt: message=works"]);
}

/// Interceptors and closures log within the span of their attempt.
#[tokio::test(start_paused = true)]
async fn attempts_are_worked_on_within_their_spans() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let expected = ["INFO in attempt: message=works", "INFO in attempt: message=works"];
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::of([Reply::unavailable()]));
        let channel = InterceptedService::new(server.channel(), |request| {
            log();
            Ok(request)
        });
        let setup = Setup::new(settings()).observed(Arc::new(observer()));
        stack.list(channel, &setup).await.unwrap();
        assert_eq!(logged(&lines), expected, "{stack:?}");
    }
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().observer(Arc::new(observer())));
    retryer.run(|attempt| async move { result(attempt) }).await.unwrap();
    assert_eq!(logged(&lines), expected);
    // Where attempts are not recorded, it is within the operation's.
    let _guard = tracing::subscriber::set_default(
        Registry::default().with(lines.clone().with_filter(LevelFilter::INFO)),
    );
    retryer.run(|attempt| async move { result(attempt) }).await.unwrap();
    assert_eq!(logged(&lines), ["INFO in operation: message=works", "INFO in operation: message=works"]);
    log();
    assert_eq!(logged(&lines), ["INFO in nothing: message=works"]);
}

/// The names in a table, what the layer is told of methods, and what is said of twenty calls of `ListAssets`.
#[tokio::test(start_paused = true)]
async fn a_name_that_matches_nothing_is_one_warning() {
    const SERVICE: &str = "google.cloud.asset.v1.AssetService";
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let list = format!("{SERVICE}/ListAssets");
    let warning = "WARN in nothing: message=the retry settings name";
    let not_called = |name: &str| format!("{warning} {name}, which is not called; did you mean {list}?");
    let undescribed =
        |name: &str| format!("{warning} {name}, which no described method has; did you mean {list}?");
    let list_asset = format!("{SERVICE}/ListAsset");
    for (names, is_described, expected) in [
        (vec![format!("{SERVICE}s")], false, Some(not_called(&format!("{SERVICE}s")))),
        (vec![SERVICE.to_owned()], false, None),
        // The others have settings, and are called.
        (vec![SERVICE.to_owned(), list_asset.clone()], false, Some(not_called(&list_asset))),
        (vec![SERVICE.to_owned(), list_asset.clone()], true, Some(undescribed(&list_asset))),
        (vec![list.clone(), list_asset.clone()], false, None),
    ] {
        let settings = MethodSettings::new(settings(), Code::Unavailable);
        let policies =
            names.iter().fold(MethodPolicies::new(), |all, name| all.method(name, settings.clone()));
        let layer = RetryLayer::new(policies);
        let layer = if is_described { layer.facts(&tonic_gax_tests::generated::facts()) } else { layer };
        let mut client = AssetServiceClient::new(layer.layer(server.channel()));
        for _ in 0..20 {
            client.list_assets(ListAssetsRequest::default()).await.unwrap();
        }
        assert_eq!(lines.take(), Vec::from_iter(expected), "{names:?}");
    }
}

/// A generated client knows its methods.
#[tokio::test(start_paused = true)]
async fn a_name_that_a_generated_client_does_not_have_is_one_warning() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let policies = |method: &str| {
        let name = format!("google.cloud.asset.v1.AssetService/{method}");
        MethodPolicies::new().method(&name, MethodSettings::new(settings(), Code::Unavailable))
    };
    let live = LivePolicies::new(policies("ListAssets"));
    let client =
        GeneratedClient::with_settings(server.channel(), AssetServiceSettings::default().live(&live));
    assert_eq!(lines.take(), [""; 0]);
    live.replace(policies("ListAsset"));
    let service = "google.cloud.asset.v1.AssetService";
    let expected = format!(
        "WARN in nothing: message=the retry settings name {service}/ListAsset, which no described method has; did you mean \
         {service}/ListAssets?"
    );
    assert_eq!(lines.take(), [expected]);
    drop(client);
}

/// What asks policies for a service that they don't have, or has settings for a rule that there isn't.
#[test]
fn a_service_or_a_rule_without_its_counterpart_is_one_warning() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let settings = || MethodSettings::new(settings(), Code::Unavailable);
    let live = LivePolicies::new(MethodPolicies::new().service("redis", settings()));
    let layer = |layer: HttpRetryLayer| drop(layer.layer(()));
    let missing = "WARN in nothing: message=the retry settings have no entry for the service reddis, so nothing is retried; \
                   did you mean redis?";
    drop(Retryer::live(&live, "redis", [Code::Unavailable]));
    layer(HttpRetryLayer::live(&live, "redis"));
    assert_eq!(lines.take(), [""; 0]);
    drop(Retryer::live(&live, "reddis", [Code::Unavailable]));
    assert_eq!(lines.take(), [missing]);
    layer(HttpRetryLayer::live(&live, "reddis"));
    assert_eq!(lines.take(), [missing]);
    // Those that replace them are looked at as well.
    let retryer = Retryer::live(&live, "redis", [Code::Unavailable]);
    live.replace(MethodPolicies::new().service("reddis", settings()));
    assert_eq!(lines.take().len(), 1);
    drop(retryer);
    let table = IdempotencyTable::http_methods();
    let rule = table.rules()[0].name().to_owned();
    for (name, expected) in [
        (rule.clone(), None),
        (format!("{rule}s"), Some(format!("; did you mean {rule}?"))),
        ("something else".to_owned(), Some(String::new())),
    ] {
        let http =
            HttpPolicies::new().all(HttpSettings::new(settings())).rule(&name, HttpSettings::new(settings()));
        layer(HttpRetryLayer::from_policies(MethodPolicies::new().http(http)));
        let sentence = |advice| {
            let name = &name;
            format!(
                "WARN in nothing: message=the retry settings name {name}, which is no rule of the idempotency table{advice}"
            )
        };
        assert_eq!(lines.take(), Vec::from_iter(expected.map(sentence)), "{name}");
    }
}
