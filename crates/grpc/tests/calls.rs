//! Calls over a transport that can be paused: attempt by attempt, and as the layer reports them.

use crate::support::{Bridge, Came, LIST, Sent, call, now, unary};
use gax_grpc::{RetriedCall, RetryInterceptor};
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use grpc::client::interceptor::InvokeExt as _;
use grpc::client::{CallOptions as GrpcOptions, Invoke as _, RecvStream as _, ResponseStreamItem};
use grpc::client::{SendOptions, SendStream as _};
use grpc::core::{RequestHeaders, SendMessage};
use grpc::metadata::{MetadataMap, MetadataValue};
use grpc::{StatusCodeError, StatusError};
use std::time::Duration;
use tonic_gax::{
    CallOptions, Code, Note, OperationOptions, OperationReport, ReplayOptions, RetryBudget, StopReason, note,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::{BodyPart, Reply, Script, Setup, VirtualServer, delays, ms, report_of, row, rows};

const DOWN: Code = Code::Unavailable;
const CHAT: &str = "/test.talk.v1.Talk/Chat";
const LISTEN: &str = "/test.talk.v1.Talk/Listen";

/// Delays of 100 and 200 ms, RPC timeouts of a second, five seconds in all.
fn setup() -> Setup {
    Setup::new(delays(100, 2.0).initial_rpc_timeout(ms(1000)).total_timeout(ms(5000)).build().unwrap())
}

fn table(setup: &Setup) -> RetryTable {
    RetryTable::builder()
        .every_service(setup.settings.clone(), [DOWN, Code::DeadlineExceeded])
        .build()
        .unwrap()
}

fn interceptor(setup: &Setup) -> RetryInterceptor {
    RetryInterceptor::new(table(setup)).options(OperationOptions::new().without_jitter())
}

/// A call of `ListAssets`, and its report.
async fn list(
    server: &VirtualServer,
    retries: RetryInterceptor,
    options: CallOptions,
) -> (Result<ListAssetsResponse, StatusError>, Option<OperationReport>) {
    let own = RetriedCall::new(options);
    let channel = Bridge(server.channel()).with_interceptor(retries).with_interceptor(own.clone());
    (unary(&channel, LIST, &ListAssetsRequest::default()).await, own.report())
}

fn down() -> Reply {
    Reply::status(tonic::Status::unavailable("down"))
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_retried_attempt_by_attempt() {
    let server = VirtualServer::start(Script::at_once([down(), down()]));
    let (reply, report) = list(&server, interceptor(&setup()), CallOptions::new()).await;
    assert!(reply.is_ok());
    let table = [
        row(1, 1000, 0, 0, 0, DOWN),
        row(2, 1000, 100, 100, 100, DOWN),
        row(3, 1000, 200, 300, 300, Code::Ok),
    ];
    let report = report.unwrap();
    assert_eq!((rows(&report), report.method()), (table.to_vec(), LIST));
    assert_eq!(server.seen(), [(0, Some(1000)), (100, Some(1000)), (300, Some(1000))]);
}

/// The interceptor reports of a server what the layer over tonic reports of it.
#[tokio::test(start_paused = true)]
async fn reports_and_statuses_are_the_layer_s() {
    let hang = || (Duration::ZERO, Reply::Hang);
    let at_once = |reply: Reply| (Duration::ZERO, reply);
    let late = |reply: Reply| (ms(40), reply);
    let headers_then = Reply::play([BodyPart::status(&tonic::Status::unavailable("late"))]);
    for (name, steps) in [
        ("refused twice", vec![at_once(down()), late(down())]),
        ("hangs", vec![hang(), at_once(down())]),
        ("for good", vec![late(down()); 99]),
        ("hangs for good", vec![hang(); 99]),
        ("not retryable", vec![at_once(Reply::code(tonic::Code::InvalidArgument))]),
        ("pushed back", vec![at_once(Reply::pushback(700))]),
        ("pushed back for good", vec![at_once(Reply::pushback(-1))]),
        ("behind headers", vec![late(headers_then.clone()), at_once(headers_then)]),
        (
            "behind a message",
            vec![at_once(Reply::messages_then_status(
                &[ListAssetsResponse::default()],
                &tonic::Status::internal("no"),
            ))],
        ),
        ("at once", vec![]),
    ] {
        for limits in
            [CallOptions::new(), CallOptions::new().max_attempts(3), CallOptions::new().timeout(ms(350))]
        {
            let options = limits.report(true);
            let server = VirtualServer::start(Script::of(steps.clone()));
            let layer = setup().layer().layer(server.channel());
            let mut request = tonic::Request::new(ListAssetsRequest::default());
            request.extensions_mut().insert(options.clone());
            let by_layer = AssetServiceClient::new(layer).list_assets(request).await;
            let seen = server.seen();

            let server = VirtualServer::start(Script::of(steps.clone()));
            let (reply, report) = list(&server, interceptor(&setup()), options).await;
            let report = report.unwrap();
            assert_eq!(report.to_string(), report_of(&by_layer).to_string(), "{name}");
            assert_eq!(report.notes(), report_of(&by_layer).notes(), "{name}");
            assert_eq!(server.seen(), seen, "{name}");
            let status = |code: i32, message: &str| (code, message.to_owned());
            assert_eq!(
                reply.err().map(|error| status(error.code() as i32, error.message())),
                by_layer.err().map(|error| status(error.code().into(), error.message())),
                "{name}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_carry_their_number_and_their_time() {
    let server = VirtualServer::start(Script::at_once([down(), down()]));
    let channel = Bridge(server.channel()).with_interceptor(interceptor(&setup()));
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-previous-rpc-attempts", MetadataValue::from(7));
    metadata.insert("grpc-timeout", MetadataValue::try_from("250m").unwrap());
    metadata.insert("x-own", MetadataValue::try_from("1").unwrap());
    let headers = RequestHeaders::new().with_method_name(LIST).with_metadata(metadata);
    let request = ListAssetsRequest::default();
    let (_, trailers) = call::<ListAssetsResponse>(&channel, headers, GrpcOptions::new(), &request).await;
    assert_eq!(trailers.status().as_ref().unwrap_err().code(), StatusCodeError::Unavailable);
    let arrivals = server.log().arrivals();
    let header = |name: &str| -> Vec<_> { arrivals.iter().map(|arrival| arrival.header(name)).collect() };
    assert_eq!(header("grpc-previous-rpc-attempts"), [None, Some("1")]);
    assert_eq!(header("grpc-timeout"), [Some("250000u"), Some("150000u")]);
    assert_eq!(header("x-own"), [Some("1"); 2]);
}

/// A deadline of the crate's own options has passed: nothing is sent.
#[tokio::test(start_paused = true)]
async fn the_crate_s_deadline_bounds_the_operation() {
    let server = VirtualServer::start(Script::at_once([down()]));
    let own = RetriedCall::new(CallOptions::new());
    let channel =
        Bridge(server.channel()).with_interceptor(interceptor(&setup())).with_interceptor(own.clone());
    let mut options = GrpcOptions::new();
    options.set_deadline(now());
    let headers = RequestHeaders::new().with_method_name(LIST);
    let (_, trailers) =
        call::<ListAssetsResponse>(&channel, headers, options, &ListAssetsRequest::default()).await;
    let status = trailers.into_status().unwrap_err();
    let message = format!("the deadline of {LIST} had passed before its first attempt");
    assert_eq!((status.code(), status.message()), (StatusCodeError::DeadlineExceeded, &*message));
    assert_eq!((server.seen(), own.report().unwrap().attempts().len()), (vec![], 0));
}

#[tokio::test(start_paused = true)]
async fn options_budgets_and_live_tables_count() {
    let server = VirtualServer::start(Script::always(down()));
    let attempts = |report: Option<OperationReport>| {
        let report = report.unwrap();
        (report.attempt_count(), report.stop_reason(), report.settings_version())
    };
    let retries = interceptor(&setup());
    let off = retries.clone().options(OperationOptions::new().retries_enabled(false));
    assert_eq!(attempts(list(&server, off, CallOptions::new()).await.1).0, 1);
    let throttled =
        retries.clone().options(OperationOptions::new().retry_budget(RetryBudget::tokens(4, 0.1)));
    let made = attempts(list(&server, throttled, CallOptions::new()).await.1);
    assert_eq!(made, (2, Some(StopReason::Throttled), None));
    let wrong = list(&server, retries, CallOptions::new().max_attempts(0)).await;
    assert_eq!(wrong.0.unwrap_err().code(), StatusCodeError::InvalidArgument);
    assert_eq!(attempts(wrong.1), (0, Some(StopReason::InvalidOptions), None));

    let handle = SettingsHandle::new(table(&setup()));
    let retries = RetryInterceptor::live(&handle);
    let mut shorter = setup();
    shorter.settings = shorter.settings.to_builder().max_attempts(2).build().unwrap();
    handle.replace(table(&shorter)).unwrap();
    let made = attempts(list(&server, retries, CallOptions::new()).await.1);
    assert_eq!(made, (2, Some(StopReason::MaxAttempts), Some(2)));
}

/// A call that needed one attempt has no report, and leaves none of the call before it.
#[tokio::test(start_paused = true)]
async fn a_report_is_of_the_call_that_ended_last() {
    let server = VirtualServer::start(Script::at_once([down()]));
    let own = RetriedCall::new(CallOptions::new());
    let channel =
        Bridge(server.channel()).with_interceptor(interceptor(&setup())).with_interceptor(own.clone());
    for is_reported in [true, false] {
        let _reply: ListAssetsResponse = unary(&channel, LIST, &ListAssetsRequest::default()).await.unwrap();
        assert_eq!(own.report().is_some(), is_reported);
    }
}

#[tokio::test(start_paused = true)]
async fn methods_without_settings_pass_through() {
    let other = RetryTable::builder().service("other.Service", setup().settings, [DOWN]).build().unwrap();
    let server = VirtualServer::start(Script::at_once([down(), down()]));
    let (reply, report) =
        list(&server, RetryInterceptor::new(other.clone()), CallOptions::new().report(true)).await;
    assert_eq!((reply.unwrap_err().message(), report.is_none()), ("down", true));
    assert_eq!(server.seen(), [(0, None)]);
    let options = CallOptions::new().max_attempts(2).retryable_codes([DOWN]).initial_retry_delay(ms(10));
    let (reply, _) = list(&server, RetryInterceptor::new(other), options).await;
    assert!(reply.is_ok());
}

/// A stream of responses is retried until its first message, and not behind it.
#[tokio::test(start_paused = true)]
async fn streams_of_responses_are_retried_until_their_first_message() {
    let lines = [Line { text: "a".to_owned(), count: 1 }, Line { text: "b".to_owned(), count: 2 }];
    let wait = [BodyPart::Wait(ms(10)), BodyPart::status(&tonic::Status::unavailable("broke off"))];
    let breaks = Reply::messages_then(&lines, wait);
    for (replies, delivered, sent, reason) in
        [(vec![down()], 3, 2, None), (vec![down(), breaks], 2, 2, Some(StopReason::Committed))]
    {
        let server = VirtualServer::start(Script::at_once(replies));
        let own = RetriedCall::new(CallOptions::new());
        let channel =
            Bridge(server.channel()).with_interceptor(interceptor(&setup())).with_interceptor(own.clone());
        let headers = RequestHeaders::new().with_method_name(LISTEN);
        let request = Line { text: "line".to_owned(), count: 3 };
        let (messages, trailers) = call::<Line>(&channel, headers, GrpcOptions::new(), &request).await;
        assert_eq!((messages.len(), server.seen().len()), (delivered, sent));
        assert_eq!(trailers.status().is_ok(), reason.is_none());
        let report = own.report().unwrap();
        assert_eq!((report.stop_reason(), report.messages_delivered()), (reason, delivered as u64));
    }
}

/// A stream of requests is sent once, unless it is buffered.
#[tokio::test(start_paused = true)]
async fn streams_of_requests_are_sent_once_unless_they_are_buffered() {
    for (is_replayed, heard, sent) in [(false, 0, 1), (true, 2, 2)] {
        let server = VirtualServer::start(Script::at_once([down()]));
        let own = RetriedCall::new(CallOptions::new().report(true));
        let retries = interceptor(&setup()).replay(ReplayOptions::new().replay_streams(is_replayed));
        let channel = Bridge(server.channel()).with_interceptor(retries).with_interceptor(own.clone());
        let headers = RequestHeaders::new().with_method_name(CHAT);
        let (mut sender, mut receiver) = channel.invoke(headers, GrpcOptions::new()).await;
        for text in ["one", "two"] {
            let line = Line { text: text.to_owned(), count: 0 };
            sender.send(&Sent(&line), SendOptions::new()).await.unwrap();
        }
        drop(sender);
        let mut replies = 0;
        loop {
            match receiver.recv(&mut Came(&mut Line::default())).await {
                ResponseStreamItem::Message => replies += 1,
                ResponseStreamItem::Trailers(_) => break,
                _ => {}
            }
        }
        let report = own.report().unwrap();
        assert_eq!((replies, server.seen().len()), (heard, sent), "{report}");
        assert_eq!(report.notes().contains(&Note::REQUEST_IS_A_STREAM), !is_replayed, "{report}");
    }
}

/// A stream of requests and its responses may take turns, in one task or in two.
#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on_message_by_message() {
    for is_replayed in [false, true] {
        let server = VirtualServer::start(Script::always(Reply::Pass));
        let retries = interceptor(&setup()).replay(ReplayOptions::new().replay_streams(is_replayed));
        let channel = Bridge(server.channel()).with_interceptor(retries);
        let headers = RequestHeaders::new().with_method_name(CHAT);
        let (mut sender, mut receiver) = channel.invoke(headers, GrpcOptions::new()).await;
        let item = receiver.recv(&mut Came(&mut Line::default())).await;
        assert!(matches!(item, ResponseStreamItem::Headers(_)), "{item:?}");
        for count in 1..=3 {
            let line = Line { text: "line".to_owned(), count };
            sender.send(&Sent(&line), SendOptions::new()).await.unwrap();
            let mut reply = Line::default();
            let item = receiver.recv(&mut Came(&mut reply)).await;
            assert!(matches!(item, ResponseStreamItem::Message), "{item:?}");
            assert_eq!(reply, line);
        }
        let waiting = tokio::spawn(async move { receiver.recv(&mut Came(&mut Line::default())).await });
        tokio::time::sleep(ms(10)).await;
        drop(sender);
        let item = waiting.await.unwrap();
        assert!(matches!(item, ResponseStreamItem::Trailers(_)), "{item:?}");
    }
}

/// A server that asks for a delay in the details of its status gets it, with the back-off on top.
#[tokio::test(start_paused = true)]
async fn retry_info_is_heeded() {
    // `google.rpc.Status` with a `RetryInfo` of 700 ms in its details.
    let url = "type.googleapis.com/google.rpc.RetryInfo";
    let mut detail = vec![0x0a, u8::try_from(url.len()).unwrap()];
    detail.extend(url.as_bytes());
    let delay = [0x10, 0x80, 0xce, 0xe4, 0xcd, 0x02];
    detail.extend([0x12, 8, 0x0a, 6].iter().chain(&delay));
    let details = [&[0x1a, u8::try_from(detail.len()).unwrap()], &*detail].concat();
    let status = tonic::Status::with_details(tonic::Code::Unavailable, "down", details.into());
    let server = VirtualServer::start(Script::at_once([Reply::status(status)]));
    let (_, report) = list(&server, interceptor(&setup()), CallOptions::new()).await;
    assert_eq!(report.unwrap().attempts()[1].start(), ms(800));
}

struct Unwritable;

impl SendMessage for Unwritable {
    fn encode(&self) -> Result<Box<dyn bytes::Buf + Send + Sync>, String> {
        Err("a field is missing".to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_or_written_ends_the_call() {
    let server = VirtualServer::start(Script::at_once([Reply::play([
        BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 1, 0xff])),
        BodyPart::trailers(&[("grpc-status", "0")]),
    ])]));
    let (reply, report) = list(&server, interceptor(&setup()), CallOptions::new()).await;
    let (status, report) = (reply.unwrap_err(), report.unwrap());
    assert_eq!(status.code(), StatusCodeError::Internal);
    assert!(status.message().starts_with("the response can't be decoded: "), "{}", status.message());
    assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Internal)]);

    let channel = Bridge(server.channel()).with_interceptor(interceptor(&setup()));
    let headers = RequestHeaders::new().with_method_name(LIST);
    let (mut sender, mut receiver) = channel.invoke(headers, GrpcOptions::new()).await;
    assert_eq!(sender.send(&Unwritable, SendOptions::new().with_final_msg(true)).await, Err(()));
    let item = receiver.recv(&mut Came(&mut Line::default())).await;
    let ResponseStreamItem::Trailers(trailers) = item else { unreachable!("{item:?}") };
    let status = trailers.into_status().unwrap_err();
    assert_eq!(status.message(), "the request can't be encoded: a field is missing");
}

/// A call that is dropped is over, in an attempt and in a wait.
#[tokio::test(start_paused = true)]
async fn to_drop_a_call_ends_it() {
    for (reply, after) in [(Reply::Hang, 500), (down(), 50)] {
        let server = VirtualServer::start(Script::always(reply));
        let call = list(&server, interceptor(&setup()), CallOptions::new());
        tokio::time::timeout(ms(after), call).await.unwrap_err();
        tokio::time::sleep(ms(5000)).await;
        assert_eq!((server.seen(), server.log().open()), (vec![(0, Some(1000))], 0));
    }
}

/// A request over the limit is sent once, and the report says so.
#[tokio::test(start_paused = true)]
async fn a_request_over_the_limit_is_sent_once() {
    let server = VirtualServer::start(Script::at_once([down()]));
    let (_, report) = list(
        &server,
        interceptor(&setup()).replay(ReplayOptions::new().max_replay_bytes(0)),
        CallOptions::new(),
    )
    .await;
    assert_eq!(report.unwrap().notes(), [Note::REQUEST_TOO_LARGE_TO_REPLAY]);
    assert_eq!(server.seen().len(), 1);
    assert_ne!(note::STREAM_TOO_LARGE_TO_REPLAY, Note::REQUEST_TOO_LARGE_TO_REPLAY);
}
