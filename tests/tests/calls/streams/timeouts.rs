//! Wait and idle timeouts of streams: by settings and by tables, over any client, and where they make no sense.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::CallSettings;
use gax_retry::{Code, RetrySettings, StopReason};
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy};
use gax_streams::{ResumptionExt as _, StreamReport, Streams};
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use gax_testing::VirtualServer as Server;
use std::time::Duration;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::{Request, Status};
use tonic_gax::{Attempt, OperationError, OperationReport, RetryLayer, note};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{
    Line, TalkClient, TalkSettings, TalkStubSettings, TalkStubSettingsBuilder,
};
use tonic_gax_tests::{Act, Feed, Recorder, Script, Setup, delays, line, ms};

use Act::Hang;

const WAITED: &str = "the stream was cancelled: no message came within the wait timeout";
const LEFT_ALONE: &str = "the stream was cancelled: its messages were not read within the idle timeout";

/// 100 ms x 2, ten seconds in all.
fn settings() -> RetrySettings {
    delays(100, 2.0).total_timeout(ms(10_000)).build().unwrap()
}

fn by_number() -> Resumption {
    Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count))
}

fn lines(numbers: impl IntoIterator<Item = u32>, more: impl IntoIterator<Item = Act>) -> Vec<Act> {
    numbers.into_iter().map(Act::Line).chain(more).collect()
}

fn serve(feed: &Feed) -> Server {
    Server::serving(TalkServer::new(feed.clone()), Script::new())
}

/// A generated client whose streams may be left alone for a second.
fn idle(
    server: &Server,
    setup: &Setup,
    resumption: Option<Resumption>,
) -> TalkClient<tonic::transport::Channel> {
    let settings = setup.talk_listening(|listen| {
        listen.set_idle_timeout(ms(1000)).set_resumption(resumption);
    });
    TalkClient::with_settings(server.channel(), settings)
}

fn ended(status: &Status) -> (tonic::Code, &str) {
    (status.code(), status.message())
}

fn report(status: &Status) -> OperationReport {
    OperationError::of(status).unwrap().report().clone()
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_left_alone_has_failed() {
    let feed = Feed::new([lines([1, 2], [Hang])]);
    let (server, observed) = (serve(&feed), Recorder::default());
    let client = idle(&server, &Setup::new(settings()).recorded(&observed), Some(by_number()));
    let mut stream = client.listen(line(0)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    tokio::time::sleep(ms(1001)).await;
    assert_eq!(feed.open(), 0, "the server sees it reset");
    let lines = observed.take();
    assert!(lines.contains(&"attempt_permanent_failure 1 ABORTED NON_RETRYABLE".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "operation_failed ABORTED 1 attempts 1000 ms NON_RETRYABLE");
    // All that was known of it still is.
    assert_eq!(stream.metadata().unwrap().get("x-connection").unwrap(), "1");
    let status = stream.message().await.unwrap_err();
    assert_eq!(ended(&status), (tonic::Code::Aborted, LEFT_ALONE));
    assert_eq!(stream.report().unwrap(), report(&status));
    assert_eq!((report(&status).messages_delivered(), report(&status).elapsed()), (1, ms(1000)));
    assert_eq!(stream.message().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_over_is_not_left_alone() {
    let feed = Feed::new([lines([1], [])]);
    let server = serve(&feed);
    let mut stream = idle(&server, &Setup::new(settings()), None).listen(line(0)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    assert_eq!(stream.message().await.unwrap(), None);
    tokio::time::sleep(ms(5000)).await;
    assert_eq!(stream.message().await.unwrap(), None);
    assert_eq!(stream.report().unwrap().stop_reason(), None);
    assert!(stream.trailers().await.unwrap().is_some());
}

struct Panics;

impl StreamResumption for Panics {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, message: &mut Line) -> Processed {
        assert!(message.count < 2, "a strategy's own");
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Line> {
        Resume::Stop
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_strategy_has_panicked_is_not_left_alone() {
    let feed = Feed::new([lines([1, 2], [Hang])]);
    let server = serve(&feed);
    let client = idle(&server, &Setup::new(settings()), Some(Resumption::new(|_: &Line| Panics)));
    let stream = client.listen(line(0)).await.unwrap().into_inner();
    let stream = std::sync::Arc::new(tokio::sync::Mutex::new(stream));
    let task = std::sync::Arc::clone(&stream);
    let panic =
        tokio::spawn(async move { while task.lock().await.message().await.unwrap().is_some() {} }).await;
    assert!(panic.unwrap_err().is_panic());
    tokio::time::sleep(ms(1500)).await;
    assert_eq!(feed.open(), 0);
    assert_eq!(stream.lock().await.message().await.unwrap(), None);
}

/// A table with timeouts of `Listen`.
fn table() -> RetryTable {
    RetryTable::builder()
        .method("/test.talk.v1.Talk/Listen", settings(), Code::Unavailable)
        .wait_timeout(ms(300))
        .idle_timeout(ms(1000))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_table_has_timeouts_for_streams_over_a_layer() {
    let layer = RetryLayer::new(table()).facts(&tonic_gax_tests::generated::facts()).streams(Streams);
    let feed = Feed::new([vec![Hang], lines([1], [Hang])]);
    let mut client = TonicTalkClient::new(layer.layer(serve(&feed).channel()));
    let response = client.listen(line(0)).await.unwrap();
    let at_end = StreamReport::of(&response).unwrap().clone();
    let mut stream = response.into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    let status = stream.message().await.unwrap_err();
    assert_eq!(ended(&status), (tonic::Code::Aborted, WAITED));
    let report = at_end.get().unwrap();
    let codes: Vec<_> = report.attempts().iter().map(Attempt::code).collect();
    assert_eq!((codes, report.stop_reason()), (vec![Code::Aborted; 2], Some(StopReason::Committed)));

    let feed = Feed::new([lines([1, 2], [Hang])]);
    let mut client = TonicTalkClient::new(layer.layer(serve(&feed).channel()));
    let mut stream = client.listen(line(0)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    tokio::time::sleep(ms(1001)).await;
    assert_eq!(feed.open(), 0);
    assert_eq!(ended(&stream.message().await.unwrap_err()), (tonic::Code::Aborted, LEFT_ALONE));
}

/// They are never ignored.
#[tokio::test(start_paused = true)]
async fn a_layer_that_cannot_keep_the_timeouts_of_streams_says_what_to_add() {
    let layer = RetryLayer::new(table()).facts(&tonic_gax_tests::generated::facts());
    let feed = Feed::new([lines([1], [])]);
    let mut client = TonicTalkClient::new(layer.layer(serve(&feed).channel()));
    let status = client.listen(line(0)).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument);
    assert!(status.message().contains("add .streams(gax_streams::Streams) to the layer"), "{status}");
    assert_eq!(feed.asked(), []);
    // The resumption of a call keeps them by itself, and other methods have none.
    let request = Request::new(line(0)).with_resumption(by_number());
    let mut stream = client.listen(request).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_resumes_over_a_layer_has_the_table_s_timeouts() {
    let layer = RetryLayer::new(table()).facts(&tonic_gax_tests::generated::facts()).streams(Streams);
    let feed = Feed::new([lines([1], [Hang]), lines([2], [])]);
    let mut client = TonicTalkClient::new(layer.layer(serve(&feed).channel()));
    let request = Request::new(line(0)).with_resumption(by_number());
    let mut stream = client.listen(request).await.unwrap().into_inner();
    for number in 1..=2 {
        assert_eq!(stream.message().await.unwrap(), Some(line(number)));
    }
    assert_eq!(stream.message().await.unwrap(), None);
    // Delays are jittered.
    assert_eq!(feed.asked().iter().map(|(_, after)| *after).collect::<Vec<_>>(), [0, 1]);
}

/// Whoever calls decides whether a stream is watched: nobody else knows that there is a stream, or can read it.
#[tokio::test(start_paused = true)]
async fn a_layer_watches_what_it_knows_for_a_stream_and_can_read() {
    let feed = Feed::new([lines([1], [Act::Wait(500), Act::Line(2)])]);
    let mut client = TonicTalkClient::new(RetryLayer::new(table()).layer(serve(&feed).channel()));
    let mut stream = client.listen(line(0)).await.unwrap().into_inner();
    for number in 1..=2 {
        assert_eq!(stream.message().await.unwrap(), Some(line(number)));
    }

    let layer = RetryLayer::new(table()).facts(&tonic_gax_tests::generated::facts()).streams(Streams);
    let feed = Feed::new([lines([1], [Act::Wait(500), Act::Line(2)])]);
    let compressing = TalkServer::new(feed.clone()).send_compressed(Gzip);
    let server = Server::serving(compressing, Script::new());
    let mut client = TonicTalkClient::new(layer.layer(server.channel())).accept_compressed(Gzip);
    let response = client.listen(line(0)).await.unwrap();
    let report = response.extensions().get::<OperationReport>().unwrap();
    assert_eq!(report.notes(), [note::RESUMPTION_UNUSED]);
    let mut stream = response.into_inner();
    for number in 1..=2 {
        assert_eq!(stream.message().await.unwrap(), Some(line(number)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_replaced_has_other_timeouts() {
    let handle = SettingsHandle::new(RetryTable::builder().build().unwrap());
    let server = |feed: &Feed| serve(feed).channel();
    let feed = Feed::new([lines([], [Act::Wait(400), Act::Line(1)]), vec![Hang], lines([1], [])]);
    let client = TalkClient::with_settings(server(&feed), TalkSettings::default().live(&handle));
    let message = || async {
        let mut stream = client.listen(line(0)).await.unwrap().into_inner();
        (stream.message().await.unwrap(), feed.asked().len())
    };
    assert_eq!(message().await, (Some(line(1)), 1));
    handle.replace(table()).unwrap();
    assert_eq!(message().await, (Some(line(1)), 3));
    // The program's own goes before it.
    let mut stub = TalkStubSettings::builder();
    stub.listen().set_wait_timeout(ms(450));
    let settings = TalkSettings::create(stub.build().unwrap()).live(&handle);
    let feed = Feed::new([lines([], [Act::Wait(400), Act::Line(1), Hang])]);
    let client = TalkClient::with_settings(server(&feed), settings);
    let mut stream = client.listen(line(0)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    tokio::time::sleep(ms(1001)).await;
    assert_eq!((feed.asked().len(), feed.open()), (1, 0));
}

#[test]
fn timeouts_that_make_no_sense_are_refused() {
    let refused = |set: fn(&mut TalkStubSettingsBuilder)| {
        let mut stub = TalkStubSettings::builder();
        set(&mut stub);
        stub.build().unwrap_err().to_string()
    };
    let zero = "retry settings are not valid: Listen: wait_timeout is 0ms, but must be longer than zero (leave it unset for no limit)";
    let error = refused(|stub| {
        stub.listen().set_wait_timeout(Duration::ZERO);
    });
    assert_eq!(error, zero);
    let error = refused(|stub| {
        stub.listen().set_idle_timeout(Duration::ZERO);
    });
    assert_eq!(error, zero.replace("wait", "idle"));
    let error = refused(|stub| {
        stub.ask().set_wait_timeout(ms(300));
        stub.tell().set_idle_timeout(ms(300));
        stub.chat().set_wait_timeout(ms(300));
    });
    let no_stream = "is 300ms, but the RPC does not respond with a stream to one message";
    for field in ["Ask: wait_timeout", "Tell: idle_timeout", "Chat: wait_timeout"] {
        assert!(error.contains(&format!("{field} {no_stream}")), "{error}");
    }
    let table = RetryTable::builder().service("a.B", settings(), Code::Unavailable);
    let error = table.idle_timeout(Duration::ZERO).build().unwrap_err().to_string();
    assert_eq!(error, "idle_timeout is a timeout of zero; leave it out for no limit");
}

impl SubscriptionStrategy for Panics {
    type Message = ();

    fn ended(&mut self) -> OnEnd {
        OnEnd::Reconnect
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_without_any_time_opens_no_connection() {
    let mut settings = CallSettings::new(settings(), Code::Unavailable);
    settings.set_wait_timeout(Duration::ZERO);
    let feed = Feed::new([]);
    let client = TalkClient::new(serve(&feed).channel());
    let connect = move |opening: Opening<Line, ()>| client.listen(opening.into_request());
    let mut updates = Subscriber::new(&settings).subscribe(line(0), Panics, connect);
    let status = updates.update().await.unwrap_err();
    let text = "retry settings are not valid: wait_timeout is 0ms, but must be longer than zero (leave it unset for no limit)";
    assert_eq!(ended(&status), (tonic::Code::InvalidArgument, text));
    assert_eq!(report(&status).stop_reason(), Some(StopReason::InvalidOptions));
    assert_eq!(feed.asked(), []);
}
