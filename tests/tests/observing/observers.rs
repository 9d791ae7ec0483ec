//! Notifications of observers: over gRPC by generated clients and layers, over HTTP, and of closures.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::observe::{OperationInfo, OperationObserver, Transport};
use gax_http::HttpRetryLayer;
use gax_retry::{Attempt, Code, Hedging, Policy, RetryBudget, RetrySettings, StopReason};
use gax_table::RetryTable;
use http_body_util::{BodyExt as _, Full};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::Status;
use tonic_gax::{CallOptions, OperationOptions, OperationReport, RequestExt as _, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssetClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{
    BodyPart, FaultServer, HttpAct, HttpScript, Recorder, Reply, Script, Setup, Stack, VirtualServer, delays,
    ms, plain,
};
use tower_service::Service as _;

const LIST: &str = "operation_started google.cloud.asset.v1.AssetService/ListAssets";
const LISTEN: &str = "operation_started test.talk.v1.Talk/Listen";

/// Attempts of a second, 200 ms x 2 apart, ten seconds and three attempts in all.
fn settings() -> RetrySettings {
    delays(200, 2.0).initial_rpc_timeout(ms(1000)).total_timeout(ms(10_000)).max_attempts(3).build().unwrap()
}

/// The notifications of a call of `ListAssets`, which have to be alike in every stack.
async fn events(script: impl Fn() -> Script) -> Vec<String> {
    let mut all = Vec::new();
    for stack in Stack::ALL {
        let recorder = Recorder::default();
        let server = VirtualServer::start(script());
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()).recorded(&recorder));
        drop(tokio::time::timeout(ms(5000), caller.list(ListAssetsRequest::default())).await);
        let mut lines = recorder.take();
        // A layer without descriptors can't distinguish a response from a stream of one.
        lines.retain(|line| !(stack == Stack::Layer && line.starts_with("response_received")));
        all.push(lines);
    }
    assert_eq!(all[0], all[1], "the layer");
    assert_eq!(all[0], all[2], "the layer with descriptors");
    all.swap_remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_reported_in_gax_s_order() {
    let script = || Script::of([(ms(10), Reply::unavailable()), (ms(20), Reply::unavailable())]);
    assert_eq!(
        events(script).await,
        [
            LIST,
            "attempt_started 1 Original",
            "attempt_sent 1 after 0",
            "attempt_failed 1 UNAVAILABLE at 10, then 200ms",
            "attempt_started 2 Retry",
            "attempt_sent 2 after 0",
            "attempt_failed 2 UNAVAILABLE at 230, then 400ms",
            "attempt_started 3 Retry",
            "attempt_sent 3 after 0",
            "attempt_succeeded 3 OK 630-630",
            "operation_succeeded OK 3 attempts 630 ms",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_gives_up_says_why() {
    assert_eq!(
        events(|| Script::always(Reply::unavailable())).await[8..],
        [
            "attempt_sent 3 after 0",
            "attempt_failed_retries_exhausted 3 UNAVAILABLE MAX_ATTEMPTS",
            "operation_failed UNAVAILABLE 3 attempts 600 ms MAX_ATTEMPTS",
        ]
    );
    assert_eq!(
        events(|| Script::always(Reply::code(tonic::Code::NotFound))).await[3..],
        [
            "attempt_permanent_failure 1 NOT_FOUND NON_RETRYABLE",
            "operation_failed NOT_FOUND 1 attempts 0 ms NON_RETRYABLE",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_is_cancelled() {
    // Five seconds, of which the first attempts take two and their delays 600 ms.
    assert_eq!(
        events(|| Script::of([(ms(0), Reply::unavailable())]).then_always(ms(0), Reply::Hang)).await[3..],
        [
            "attempt_failed 1 UNAVAILABLE at 0, then 200ms",
            "attempt_started 2 Retry",
            "attempt_sent 2 after 0",
            "attempt_failed 2 DEADLINE_EXCEEDED at 1200, then 400ms",
            "attempt_started 3 Retry",
            "attempt_sent 3 after 0",
            "attempt_failed_retries_exhausted 3 DEADLINE_EXCEEDED MAX_ATTEMPTS",
            "operation_failed DEADLINE_EXCEEDED 3 attempts 2600 ms MAX_ATTEMPTS",
        ]
    );
    for stack in Stack::ALL {
        let recorder = Recorder::default();
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()).recorded(&recorder));
        let call = caller.list(ListAssetsRequest::default());
        assert!(tokio::time::timeout(ms(300), call).await.is_err());
        assert_eq!(
            recorder.take()[3..],
            [
                "attempt_cancelled 1 CANCELLED 0-300",
                "operation_cancelled CANCELLED 1 attempts 300 ms CANCELLED"
            ],
            "{stack:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn during_a_delay_only_the_operation_is_cancelled() {
    for stack in Stack::ALL {
        let recorder = Recorder::default();
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()).recorded(&recorder));
        let call = caller.list(ListAssetsRequest::default());
        assert!(tokio::time::timeout(ms(100), call).await.is_err());
        assert_eq!(
            recorder.take()[3..],
            [
                "attempt_failed 1 UNAVAILABLE at 0, then 200ms",
                "operation_cancelled CANCELLED 1 attempts 100 ms CANCELLED"
            ],
            "{stack:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_is_reported_before_the_end_of_its_attempt() {
    let pushed = |value: &'static str| {
        let mut status = Status::unavailable("");
        status.metadata_mut().insert("grpc-retry-pushback-ms", value.parse().unwrap());
        Reply::status(status)
    };
    assert_eq!(
        events(|| Script::at_once([pushed("700"), pushed("-1")])).await[3..],
        [
            "pushback_received 1 Exactly(700ms)",
            "attempt_failed 1 UNAVAILABLE at 0, then 700ms",
            "attempt_started 2 Retry",
            "attempt_sent 2 after 0",
            "pushback_received 2 Never",
            "attempt_failed_retries_exhausted 2 UNAVAILABLE PUSHBACK",
            "operation_failed UNAVAILABLE 2 attempts 700 ms PUSHBACK",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn each_attempt_s_request_has_headers_of_its_own() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::at_once([Reply::unavailable(), Reply::unavailable()]));
        let setup = Setup::new(settings()).recorded(&Recorder::default());
        stack.list(server.channel(), &setup).await.unwrap();
        let arrivals = server.log().arrivals();
        let numbers: Vec<_> = arrivals.iter().map(|arrival| arrival.header("x-attempt").unwrap()).collect();
        assert_eq!(numbers, ["1", "2", "3"], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_no_message_is_a_failure() {
    let garbage = BodyPart::Data(Bytes::from_static(&[0, 0, 0, 0, 2, 0xff, 0xff]));
    let recorder = Recorder::default();
    let good = BodyPart::trailers(&[("grpc-status", "0")]);
    let server = VirtualServer::start(Script::always(Reply::play([garbage, good])));
    let mut caller = Stack::Generated.caller(server.channel(), &Setup::new(settings()).recorded(&recorder));
    let code = caller.list(ListAssetsRequest::default()).await.unwrap_err().code();
    assert_eq!(code, tonic::Code::Internal);
    assert_eq!(
        recorder.take()[3..],
        [
            "attempt_permanent_failure 1 INTERNAL NON_RETRYABLE",
            "operation_failed INTERNAL 1 attempts 0 ms NON_RETRYABLE",
        ]
    );
}

/// Listens by a generated client and by a layer until the end, for two seconds at most. Returns the notifications.
async fn listened(script: impl Fn() -> Script) -> Vec<String> {
    let mut all = Vec::new();
    for is_generated in [true, false] {
        let recorder = Recorder::default();
        let server = VirtualServer::start(script());
        let listen = async {
            let mut lines = if is_generated {
                let mut stub = TalkStubSettings::builder();
                stub.listen().set_retry_settings(settings()).set_retryable_codes([Code::Unavailable]);
                let settings = TalkSettings::create(stub.build().unwrap())
                    .with_options(OperationOptions::new().observer(recorder.shared()));
                TalkClient::with_settings(server.channel(), settings)
                    .listen(Line::default())
                    .await?
                    .map(plain)
            } else {
                let layer = Setup::new(settings()).recorded(&recorder).layer_with_descriptors();
                TonicTalkClient::new(layer.layer(server.channel())).listen(Line::default()).await?
            }
            .into_inner();
            while lines.message().await?.is_some() {}
            Ok::<_, Status>(())
        };
        drop(tokio::time::timeout(ms(2000), listen).await);
        all.push(recorder.take());
    }
    assert_eq!(all[0], all[1]);
    all.swap_remove(0)
}

fn line(count: u32) -> BodyPart {
    BodyPart::message(&Line { text: "line".to_owned(), count })
}

fn trailers(status: &Status) -> BodyPart {
    BodyPart::status(status)
}

#[tokio::test(start_paused = true)]
async fn a_stream_s_operation_ends_with_the_stream() {
    let end = trailers(&Status::ok(""));
    let beats = vec![
        line(0),
        BodyPart::Wait(ms(300)),
        line(1),
        BodyPart::Wait(ms(300)),
        line(2),
        BodyPart::Wait(ms(100)),
        end,
    ];
    assert_eq!(
        listened(|| Script::at_once([Reply::unavailable(), Reply::play(beats.clone())])).await,
        [
            LISTEN,
            "attempt_started 1 Original",
            "attempt_sent 1 after 0",
            "attempt_failed 1 UNAVAILABLE at 0, then 200ms",
            "attempt_started 2 Retry",
            "attempt_sent 2 after 0",
            "committed 2",
            "response_received 2",
            "response_received 2",
            "response_received 2",
            "attempt_succeeded 2 OK 200-900",
            "operation_succeeded OK 2 attempts 900 ms",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_has_failed() {
    let beats = vec![line(0), BodyPart::Wait(ms(300)), line(1), trailers(&Status::unavailable("gone"))];
    assert_eq!(
        listened(|| Script::always(Reply::play(beats.clone()))).await[3..],
        [
            "committed 1",
            "response_received 1",
            "response_received 1",
            "attempt_permanent_failure 1 UNAVAILABLE COMMITTED",
            "operation_failed UNAVAILABLE 1 attempts 300 ms COMMITTED",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_is_cancelled() {
    let beats = vec![line(0), BodyPart::Hang];
    assert_eq!(
        listened(|| Script::always(Reply::play(beats.clone()))).await[3..],
        [
            "committed 1",
            "response_received 1",
            "attempt_cancelled 1 CANCELLED 0-2000",
            "operation_cancelled CANCELLED 1 attempts 2000 ms CANCELLED",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_there_at_once_is_reported_too() {
    let beats = vec![line(0), trailers(&Status::ok(""))];
    assert_eq!(
        listened(|| Script::always(Reply::play(beats.clone()))).await[3..],
        [
            "committed 1",
            "response_received 1",
            "attempt_succeeded 1 OK 0-0",
            "operation_succeeded OK 1 attempts 0 ms"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_with_a_code_that_is_not_retryable_is_not_reported_as_committed() {
    let beats = vec![line(0), trailers(&Status::internal("gone"))];
    assert_eq!(
        listened(|| Script::always(Reply::play(beats.clone()))).await[3..],
        [
            "committed 1",
            "response_received 1",
            "attempt_permanent_failure 1 INTERNAL NON_RETRYABLE",
            "operation_failed INTERNAL 1 attempts 0 ms NON_RETRYABLE",
        ]
    );
}

/// Whose time was up: the operation's, or, where nothing says that the method streams, an attempt's.
#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_ends_with_the_time_that_it_had() {
    for (is_described, end) in [
        (true, "operation_failed DEADLINE_EXCEEDED 1 attempts 10000 ms TOTAL_TIMEOUT"),
        (false, "operation_failed DEADLINE_EXCEEDED 1 attempts 1000 ms COMMITTED"),
    ] {
        let recorder = Recorder::default();
        let server = VirtualServer::start(Script::always(Reply::play([line(0), BodyPart::Hang])));
        let setup = Setup::new(settings()).recorded(&recorder);
        let layer = if is_described { setup.layer_with_descriptors() } else { setup.layer() };
        let mut client = TonicTalkClient::new(layer.layer(server.channel()));
        let mut lines = client.listen(Line::default()).await.unwrap().into_inner();
        while let Ok(Some(_)) = lines.message().await {}
        assert_eq!(recorder.take().pop().as_deref(), Some(end), "{is_described}");
    }
}

/// Sends a GET through the HTTP layer. Returns the notifications.
async fn fetched(layer: HttpRetryLayer, script: HttpScript) -> Vec<String> {
    let recorder = Recorder::default();
    let (_server, connector) = FaultServer::in_memory(script);
    let mut client = layer
        .options(OperationOptions::new().observer(recorder.shared()))
        .layer(FaultServer::full_client(connector));
    let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    let call = async {
        if let Ok(response) = client.call(request).await {
            drop(response.into_body().collect().await);
        }
    };
    drop(tokio::time::timeout(ms(2500), call).await);
    recorder.take()
}

fn http_layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [Code::Unavailable])
}

const GET: &str = "operation_started GET /thing (not registered)";

#[tokio::test(start_paused = true)]
async fn http_is_reported_in_the_same_order() {
    let script = HttpScript::new([HttpAct::status(503), HttpAct::status(200)]);
    assert_eq!(
        fetched(http_layer(), script).await,
        [
            GET,
            "attempt_started 1 Original",
            "attempt_sent 1 after 0",
            "attempt_failed 1 UNAVAILABLE at 0, then 200ms",
            "attempt_started 2 Retry",
            "attempt_sent 2 after 0",
            "attempt_succeeded 2 OK 200-200",
            "operation_succeeded OK 2 attempts 200 ms",
        ]
    );
    let refused = fetched(http_layer(), HttpScript::new([HttpAct::status(404)])).await;
    assert_eq!(
        refused[3..],
        [
            "attempt_permanent_failure 1 NOT_FOUND NON_RETRYABLE",
            "operation_failed NOT_FOUND 1 attempts 0 ms NON_RETRYABLE"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn closures_are_reported_in_the_same_order() {
    let recorder = Recorder::default();
    let retryer = Retryer::new(&settings(), [Code::Unavailable])
        .named("redis: SET")
        .options(OperationOptions::new().observer(recorder.shared()));
    let mut calls = 0;
    let run = retryer.run(|_| {
        calls += 1;
        let call = calls;
        async move { if call == 1 { Err(Status::unavailable("")) } else { Ok(call) } }
    });
    assert_eq!(*run.await.unwrap().value(), 2);
    let expected = [
        "operation_started redis: SET",
        "attempt_started 1 Original",
        "attempt_failed 1 UNAVAILABLE at 0, then 200ms",
        "attempt_started 2 Retry",
        "attempt_succeeded 2 OK 200-200",
        "operation_succeeded OK 2 attempts 200 ms",
    ];
    assert_eq!(recorder.take(), expected);
    let refused = retryer.run(|_| async { Err::<(), _>(Status::not_found("")) }).await;
    assert!(refused.is_err());
    assert_eq!(
        recorder.take()[2..],
        [
            "attempt_permanent_failure 1 NOT_FOUND NON_RETRYABLE",
            "operation_failed NOT_FOUND 1 attempts 0 ms NON_RETRYABLE"
        ]
    );
}

#[test]
fn a_blocking_closure_is_reported_and_one_that_panics_is_cancelled() {
    let recorder = Recorder::default();
    let at_once = RetrySettings::builder().initial_retry_delay(ms(0)).max_attempts(2).build().unwrap();
    let retryer = Retryer::new(&at_once, [Code::Unavailable])
        .options(OperationOptions::new().observer(recorder.shared()));
    let result = retryer.run_blocking(|started| match started.number() {
        1 => Err(Status::unavailable("")),
        number => Ok(number),
    });
    assert_eq!(*result.unwrap().value(), 2);
    let events: Vec<_> =
        recorder.take().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(
        events,
        [
            "operation_started",
            "attempt_started",
            "attempt_failed",
            "attempt_started",
            "attempt_succeeded",
            "operation_succeeded"
        ]
    );
    let panicking = std::panic::AssertUnwindSafe(|| {
        retryer.run_blocking(|_| -> Result<(), Status> { std::panic::resume_unwind(Box::new(())) })
    });
    assert!(std::panic::catch_unwind(panicking).is_err());
    let events: Vec<_> =
        recorder.take().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(events, ["operation_started", "attempt_started", "attempt_cancelled", "operation_cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_is_reported_before_the_end_of_its_attempt() {
    let recorder = Recorder::default();
    let policy = Policy::new(&settings(), [Code::Unavailable]).with_budget(RetryBudget::tokens(2, 0.1));
    let retryer = Retryer::with_policy(policy, [Code::Unavailable])
        .options(OperationOptions::new().observer(recorder.shared()));
    retryer.run(|_| async { Err::<(), _>(Status::unavailable("")) }).await.unwrap_err();
    assert_eq!(
        recorder.take()[2..],
        [
            "retry_throttled 1",
            "attempt_failed_retries_exhausted 1 UNAVAILABLE THROTTLED",
            "operation_failed UNAVAILABLE 1 attempts 0 ms THROTTLED"
        ]
    );
}

/// Writes its name, and has another observer for each operation.
struct Named(&'static str, Arc<Mutex<Vec<String>>>);

impl OperationObserver for Named {
    fn for_operation(&self, operation: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        let Self(name, events) = self;
        (*name == "first").then(|| {
            assert_eq!(*operation.transport(), Transport::CLOSURE);
            events.lock().unwrap().push("for_operation".to_owned());
            let of_one: Arc<dyn OperationObserver> = Arc::new(Named("its own", Arc::clone(events)));
            of_one
        })
    }

    fn attempt_failed(&self, operation: &OperationInfo, _: &Attempt, _: Option<Duration>) {
        assert!(operation.id() > 0);
        self.1.lock().unwrap().push(self.0.to_owned());
    }
}

#[tokio::test(start_paused = true)]
async fn several_observers_are_notified_in_their_order_and_one_may_have_another_for_each_operation() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    let retryer = Retryer::new(&settings(), [Code::Unavailable]).named("a name").options(
        OperationOptions::new()
            .observer(Arc::new(Named("first", Arc::clone(&events))))
            .observer(Arc::new(Named("second", Arc::clone(&events))))
            .on_retry(move |retry| log.lock().unwrap().push(retry.to_string())),
    );
    retryer.run(|_| async { Err::<(), _>(Status::unavailable("")) }).await.unwrap_err();
    assert_eq!(
        *events.lock().unwrap(),
        [
            "for_operation",
            "its own",
            "second",
            "a name: attempt 1 failed with UNAVAILABLE after 0 ms; the next one follows in 200 ms",
            "its own",
            "second",
            "a name: attempt 2 failed with UNAVAILABLE after 0 ms; the next one follows in 400 ms",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_method_that_only_its_service_is_listed_for_is_registered_by_its_generated_client() {
    let recorder = Recorder::default();
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let table = RetryTable::builder()
        .service("google.cloud.asset.v1.AssetService", settings(), Code::Unavailable)
        .build()
        .unwrap();
    let layer = RetryLayer::new(table).options(OperationOptions::new().observer(recorder.shared()));
    // By hand, a program may call any number of names.
    let mut by_hand = tonic::client::Grpc::new(layer.clone().layer(server.channel()));
    by_hand.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/google.cloud.asset.v1.AssetService/ListAssets");
    let codec = tonic_prost::ProstCodec::<ListAssetsRequest, ListAssetsResponse>::default();
    by_hand.unary(tonic::Request::new(ListAssetsRequest::default()), path, codec).await.unwrap();
    assert_eq!(recorder.take()[0], format!("{LIST} (not registered)"));
    let mut client =
        TonicAssetClient::new(layer.options(OperationOptions::new().reports(true)).layer(server.channel()));
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    assert_eq!(recorder.take()[0], LIST);
}

#[tokio::test(start_paused = true)]
async fn a_call_s_report_and_reply_are_the_same_whether_anybody_looks_on() {
    for stack in Stack::ALL {
        let mut seen = Vec::new();
        for recorder in [None, Some(Recorder::default())] {
            let setup = Setup::new(settings());
            let setup = recorder.as_ref().map_or(setup.clone(), |recorder| setup.recorded(recorder));
            let server = VirtualServer::start(Script::at_once([Reply::unavailable()]));
            let mut caller = stack.caller(server.channel(), &setup);
            let retried = caller.list(ListAssetsRequest::default()).await.unwrap();
            let plain = caller.list(ListAssetsRequest::default()).await.unwrap();
            let asked = CallOptions::new().report(true);
            let request = tonic::Request::new(ListAssetsRequest::default()).with_call_options(asked);
            let reported = caller.list(request).await.unwrap();
            let report = |reply: &tonic::Response<ListAssetsResponse>| {
                reply.extensions().get::<OperationReport>().cloned()
            };
            seen.push((report(&retried), report(&plain), report(&reported)));
        }
        assert_eq!(seen[0], seen[1], "{stack:?}");
        assert_eq!(seen[0].1, None, "{stack:?}");
    }
}

#[test]
fn what_stops_a_retry_is_distinguished_from_what_is_not_retried() {
    let exhausted = [
        StopReason::TotalTimeout,
        StopReason::MaxAttempts,
        StopReason::NoLimits,
        StopReason::Throttled,
        StopReason::Pushback,
        StopReason::ServerDelayExceedsTotalTimeout,
        StopReason::NestedRetry,
    ];
    assert!(exhausted.iter().all(|reason| reason.is_of_retries()));
    let permanent = [
        StopReason::NonRetryable,
        StopReason::NotReplayable,
        StopReason::Committed,
        StopReason::ChannelClosed,
        StopReason::Cancelled,
    ];
    assert!(!permanent.iter().any(|reason| reason.is_of_retries()));
}

#[tokio::test(start_paused = true)]
async fn of_hedges_the_losers_are_cancelled_before_the_winner_is_reported() {
    for stack in [Stack::Generated, Stack::LayerWithDescriptors] {
        let recorder = Recorder::default();
        let setup = Setup::new(settings()).hedged(Hedging::new(3).delay(ms(100))).recorded(&recorder);
        let server = VirtualServer::start(Script::of([(ms(0), Reply::Hang), (ms(20), Reply::Serve)]));
        stack.list(server.channel(), &setup).await.unwrap();
        let mut events = recorder.take();
        // Whether a response comes in one go is the transport's affair.
        events.retain(|line| !line.starts_with("committed"));
        assert_eq!(
            events,
            [
                LIST,
                "attempt_started 1 Original",
                "attempt_sent 1 after 0",
                "attempt_started 2 Hedge",
                "attempt_sent 2 after 1",
                "attempt_cancelled 1 CANCELLED 0-121",
                "attempt_succeeded 2 OK 100-121",
                "operation_succeeded OK 2 attempts 121 ms",
            ],
            "{stack:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_handed_on_before_its_end_is_reported_as_committed_over_http() {
    let large = || HttpScript::new([HttpAct::status(200).with_body([b'x'; 4096])]);
    let events = fetched(http_layer().max_response_buffer(1024), large()).await;
    assert_eq!(events[3..5], ["committed 1", "attempt_succeeded 1 OK 0-0"]);
    let events = fetched(http_layer(), large()).await;
    assert_eq!(events[3], "attempt_succeeded 1 OK 0-0");
}
