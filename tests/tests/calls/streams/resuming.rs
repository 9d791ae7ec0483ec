//! Streams that are taken up where they broke off, by the generated client and by tonic's own over the layer.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary};
use gax_retry::{Code, Compatibility, Hedging, RetrySettings, StopReason};
use gax_streams::ResumptionExt as _;
use gax_streams::StreamReport;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_testing::{Reply, VirtualServer as Server};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Status};
use tonic_gax::{Attempt, OperationError, OperationReport, StartedAttempt, note};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{Act, Feed, Script, Setup, Stack, delays, line, ms, row, rows};

use Act::{Fail, Hang, Wait};

fn down() -> Act {
    Fail(Status::unavailable("down"))
}

/// Messages with those numbers.
fn lines(numbers: impl IntoIterator<Item = u32>) -> Vec<Act> {
    numbers.into_iter().map(Act::Line).collect()
}

fn then(mut acts: Vec<Act>, more: impl IntoIterator<Item = Act>) -> Vec<Act> {
    acts.extend(more);
    acts
}

/// The stream goes on behind the number that the request has.
fn by_number() -> Resumption {
    Resumption::by_position(|line: &Line| line.count, |first: &Line, count| Line { count, ..first.clone() })
}

/// 100 ms x 2, ten seconds in all.
fn settings() -> RetrySettings {
    delays(100, 2.0).total_timeout(ms(10_000)).build().unwrap()
}

fn request() -> Line {
    Line { text: "a".to_owned(), count: 0 }
}

/// All that a caller got: the numbers of the messages, and how the stream ended.
#[derive(Debug, PartialEq)]
struct Heard {
    numbers: Vec<u32>,
    end: Result<(), (Code, String)>,
}

async fn read(
    mut stream: impl Stream<Item = Result<Line, Status>> + Unpin,
) -> (Heard, Option<OperationReport>) {
    let mut numbers = Vec::new();
    while let Some(message) = stream.next().await {
        match message {
            Ok(line) => numbers.push(line.count),
            Err(status) => {
                return (Heard { numbers, end: Err(failure(&status)) }, report(&status));
            }
        }
    }
    (Heard { numbers, end: Ok(()) }, None)
}

fn failure(status: &Status) -> (Code, String) {
    (Code::from_wire(status.code() as i32), status.message().to_owned())
}

fn report(status: &Status) -> Option<OperationReport> {
    OperationError::of(status).map(|error| error.report().clone())
}

/// Reads what a generated client of those settings hears.
async fn generated(
    feed: &Feed,
    settings: TalkSettings,
    request: Request<Line>,
) -> (Heard, Option<OperationReport>) {
    let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
    let client = TalkClient::with_settings(server.channel(), settings);
    match client.listen(request).await {
        Ok(response) => {
            let mut stream = response.into_inner();
            let (heard, report) = read(&mut stream).await;
            assert!(stream.next().await.is_none(), "after the end there is nothing");
            (heard, report.or(stream.report()))
        }
        Err(status) => (Heard { numbers: Vec::new(), end: Err(failure(&status)) }, report(&status)),
    }
}

/// Calls `Listen` with that resumption, through that stack.
async fn listen(
    stack: Stack,
    feed: &Feed,
    setup: &Setup,
    resumption: Resumption,
) -> (Heard, Option<OperationReport>) {
    let layer = match stack {
        Stack::Layer => setup.layer(),
        Stack::LayerWithDescriptors => setup.layer_with_descriptors(),
        _ => {
            let settings = setup.talk_listening(|listen| {
                listen.set_resumption(resumption);
            });
            return generated(feed, settings, Request::new(request())).await;
        }
    };
    let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
    let mut client = TonicTalkClient::new(layer.layer(server.channel()));
    match client.listen(Request::new(request()).with_resumption(resumption)).await {
        Ok(response) => {
            let report_at_end = StreamReport::of(&response).unwrap().clone();
            assert!(report_at_end.get().is_none(), "the stream has not ended");
            let (heard, report) = read(response.into_inner()).await;
            let at_end = report_at_end.get().unwrap();
            if let Some(report) = &report {
                assert_eq!(report, &at_end);
            }
            (heard, Some(at_end))
        }
        Err(status) => (Heard { numbers: Vec::new(), end: Err(failure(&status)) }, report(&status)),
    }
}

fn good(numbers: impl IntoIterator<Item = u32>) -> Heard {
    Heard { numbers: numbers.into_iter().collect(), end: Ok(()) }
}

fn bad(numbers: impl IntoIterator<Item = u32>, code: Code, message: &str) -> Heard {
    Heard { numbers: numbers.into_iter().collect(), end: Err((code, message.to_owned())) }
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_on_behind_its_last_message() {
    for stack in Stack::ALL {
        let feed = Feed::new([
            then(lines(1..=3), [Wait(50), down()]),
            vec![down()],
            // The server repeats the last message.
            then(lines(3..=5), [Wait(30), down()]),
            lines(6..=7),
        ]);
        let (heard, _) = listen(stack, &feed, &Setup::new(settings()), by_number()).await;
        assert_eq!(heard, good(1..=7), "{stack:?}");
        // Back-off begins anew after messages.
        assert_eq!(feed.asked(), [(0, 0), (150, 3), (350, 3), (480, 5)], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_report_has_a_row_for_each_connection() {
    for stack in Stack::ALL {
        let feed = Feed::new([then(lines(1..=3), [Wait(50), down()]), vec![down()], lines(3..=5)]);
        let (heard, report) = listen(stack, &feed, &Setup::new(settings()), by_number()).await;
        assert_eq!(heard, good(1..=5), "{stack:?}");
        let report = report.unwrap();
        let table = [
            row(1, 10_000, 0, 0, 50, Code::Unavailable),
            row(2, 9850, 100, 150, 150, Code::Unavailable),
            row(3, 9650, 200, 350, 350, Code::Ok),
        ];
        assert_eq!(rows(&report), table, "{stack:?}");
        // The one that came once more is not counted.
        let delivered: Vec<_> = report.attempts().iter().map(|row| report.messages_of(row)).collect();
        assert_eq!((delivered, report.messages_delivered()), (vec![3, 0, 2], 5), "{stack:?}");
        assert!(report.to_string().ends_with("\ndelivered: 5 messages, over 2 connections"), "{report}");
    }
}

/// Withholds lines until one whose number can be divided by ten, as Spanner does until a token comes.
#[derive(Clone)]
struct ByTens {
    token: u32,
    is_anew: bool,
    failures: Arc<Mutex<Vec<String>>>,
}

impl ByTens {
    fn resumption(is_anew: bool) -> (Resumption, Arc<Mutex<Vec<String>>>) {
        let tens = Self { token: 0, is_anew, failures: Arc::default() };
        let failures = Arc::clone(&tens.failures);
        (Resumption::new(move |_: &Line| tens.clone()), failures)
    }
}

impl StreamResumption for ByTens {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, message: &mut Line) -> Processed {
        match message.count {
            count if count % 10 == 0 => {
                self.token = count;
                Processed::Release
            }
            count if count > 900 => Processed::Skip,
            count if count > 800 => {
                message.count = 8;
                Processed::Replaced
            }
            _ => Processed::Withhold,
        }
    }

    fn resume(&mut self, failure: &Status) -> Resume<Line> {
        self.failures.lock().unwrap().push(failure.message().to_owned());
        let request = line(self.token);
        match failure.message() {
            "stop" => Resume::Stop,
            _ if self.is_anew => Resume::Anew(request),
            _ => Resume::Again(request),
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        match failure.message() {
            "RST_STREAM" => Some(true),
            "no" => Some(false),
            _ => None,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_withheld_is_dropped_by_a_new_beginning_and_handed_on_at_the_end() {
    for stack in Stack::ALL {
        let feed = Feed::new([
            then(lines([1, 10, 11]), [Wait(10), down()]),
            then(lines([11, 12, 20, 21]), [Wait(10), down()]),
            lines([21, 22]),
        ]);
        let (resumption, failures) = ByTens::resumption(true);
        let (heard, _) = listen(stack, &feed, &Setup::new(settings()), resumption).await;
        assert_eq!(heard, good([1, 10, 11, 12, 20, 21, 22]), "{stack:?}");
        assert_eq!(feed.asked(), [(0, 0), (110, 10), (220, 20)], "{stack:?}");
        assert_eq!(*failures.lock().unwrap(), ["down", "down"], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_caller_sees_that_a_stream_began_anew() {
    let feed = Feed::new([then(lines([1, 10]), [down()]), lines([20])]);
    let script = Script::of([(ms(0), Reply::Serve), (ms(50), Reply::Serve)]);
    let server = Server::serving(TalkServer::new(feed.clone()), script);
    let settings = Setup::new(settings()).talk_listening(|listen| {
        listen.set_resumption(ByTens::resumption(true).0);
    });
    let client = TalkClient::with_settings(server.channel(), settings);
    let response = client.listen(request()).await.unwrap();
    assert_eq!(response.metadata().get("x-connection").unwrap(), "1");
    let mut stream = response.into_inner();
    let connection = |metadata: Option<tonic::metadata::MetadataMap>| {
        metadata.unwrap().get("x-connection").cloned().unwrap()
    };
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    assert_eq!(stream.message().await.unwrap(), Some(line(10)));
    // The next connection is being opened.
    assert!(tokio::time::timeout(ms(120), stream.message()).await.is_err());
    assert_eq!((stream.restarts(), connection(stream.metadata())), (0, "1".parse().unwrap()));
    assert_eq!(stream.message().await.unwrap(), Some(line(20)));
    assert_eq!((stream.restarts(), connection(stream.metadata())), (1, "2".parse().unwrap()));
    assert!(stream.trailers().await.unwrap().is_some());
    assert_eq!(stream.message().await.unwrap(), None);
    assert!(stream.into_streaming().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_strategy_stops_widens_and_narrows() {
    let internal = |message: &str| Fail(Status::internal(message));
    for stack in Stack::ALL {
        let cases = [
            // Nothing has been delivered.
            (
                vec![lines([1]), vec![]],
                Fail(Status::unavailable("stop")),
                bad([1], Code::Unavailable, "stop"),
                1,
            ),
            (
                vec![lines([1, 10])],
                Fail(Status::unavailable("stop")),
                bad([1, 10], Code::Unavailable, "stop"),
                1,
            ),
            (vec![lines([10])], internal("other"), bad([10], Code::Internal, "other"), 1),
            (vec![lines([10])], Fail(Status::unavailable("no")), bad([10], Code::Unavailable, "no"), 1),
            (vec![lines([10]), lines([20])], internal("RST_STREAM"), good([10, 20]), 2),
        ];
        for (mut scripts, failure, expected, calls) in cases {
            scripts[0].push(Wait(1));
            scripts[0].push(failure);
            let feed = Feed::new(scripts);
            let (resumption, _) = ByTens::resumption(false);
            let (heard, _) = listen(stack, &feed, &Setup::new(settings()), resumption).await;
            assert_eq!((heard, feed.asked().len()), (expected, calls), "{stack:?}");
        }
    }
    let stopped = |numbers: Vec<u32>| async {
        let feed = Feed::new([then(lines(numbers), [Wait(1), Fail(Status::unavailable("stop"))])]);
        let (_, report) =
            listen(Stack::Generated, &feed, &Setup::new(settings()), ByTens::resumption(false).0).await;
        let report = report.unwrap();
        (report.stop_reason(), report.notes().to_vec())
    };
    assert_eq!(stopped(vec![10]).await, (Some(StopReason::Committed), vec![note::NOT_RESUMED]));
    assert_eq!(stopped(vec![]).await, (Some(StopReason::NonRetryable), vec![note::NOT_RESUMED]));
}

#[tokio::test(start_paused = true)]
async fn messages_are_changed_and_left_out() {
    for stack in Stack::ALL {
        let feed = Feed::new([lines([851, 951, 40])]);
        let (heard, _) = listen(stack, &feed, &Setup::new(settings()), ByTens::resumption(false).0).await;
        assert_eq!(heard, good([8, 40]), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn too_much_that_is_withheld_ends_the_stream() {
    for stack in Stack::ALL {
        let bounds =
            [|it: Resumption| it.max_withheld_messages(3), |it: Resumption| it.max_withheld_bytes(39)];
        for bound in bounds {
            let feed = Feed::new([lines([1, 2, 3, 4, 5, 6])]);
            let resumption = bound(ByTens::resumption(false).0);
            let (heard, report) = listen(stack, &feed, &Setup::new(settings()), resumption).await;
            // The caller gets what had come.
            let text = "more of the stream was withheld than its resumption allows";
            assert_eq!(heard, bad([1, 2, 3], Code::ResourceExhausted, text), "{stack:?}");
            let report = report.unwrap();
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{stack:?}");
            assert_eq!(report.notes(), [note::WITHHELD_TOO_MUCH], "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_total_timeout_counts_from_the_very_first_attempt() {
    for stack in Stack::ALL {
        let one = |number| then(lines([number]), [Wait(3000), down()]);
        let feed = Feed::new([one(1), one(2), one(3), one(4)]);
        let (heard, report) = listen(stack, &feed, &Setup::new(settings()), by_number()).await;
        assert_eq!((heard.numbers, feed.asked().len()), (vec![1, 2, 3, 4], 4), "{stack:?}");
        assert_eq!(heard.end.unwrap_err().0, Code::DeadlineExceeded, "{stack:?}");
        let report = report.unwrap();
        assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout), "{stack:?}");
        assert_eq!(report.elapsed(), ms(10_000), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_total_timeout_attempts_count_that_deliver_nothing() {
    let two = settings().to_builder().max_attempts(3).build().unwrap();
    for stack in Stack::ALL {
        let one = |number| then(lines([number]), [Wait(9000), down()]);
        let feed = Feed::new([one(1), vec![down()], one(2), vec![down()], vec![down()]]);
        let resumption = by_number().without_total_timeout();
        let (heard, report) = listen(stack, &feed, &Setup::new(two.clone()), resumption).await;
        assert_eq!(heard, bad([1, 2], Code::Unavailable, "down"), "{stack:?}");
        assert_eq!(report.unwrap().stop_reason(), Some(StopReason::MaxAttempts), "{stack:?}");
        let asked = [(0, 0), (9100, 1), (9300, 1), (18_400, 2), (18_600, 2)];
        assert_eq!(feed.asked(), asked, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn by_gax_javas_rules_any_message_is_progress() {
    let skipped = || then(lines([951]), [Wait(1), down()]);
    let asked = |compatibility| async move {
        let feed = Feed::new([skipped(), skipped(), lines([10])]);
        let setup = Setup::new(settings()).compatible(compatibility);
        let resumption = ByTens::resumption(false).0;
        let (heard, _) = listen(Stack::Generated, &feed, &setup, resumption).await;
        assert_eq!(heard, good([10]));
        feed.asked().iter().map(|(at, _)| *at).collect::<Vec<_>>()
    };
    assert_eq!(asked(Compatibility::Documented).await, [0, 101, 302]);
    assert_eq!(asked(Compatibility::GaxJava).await, [0, 101, 202]);
    // By gRPC's rules headers commit, which a stream that resumes does not mind.
    assert_eq!(asked(Compatibility::Grpc).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_hedged_stream_commits_with_its_first_message_and_resumes_after_it() {
    let hedging = Hedging::new(3).delay(ms(100)).non_fatal_codes(Code::Unavailable);
    for stack in Stack::ALL {
        let feed = Feed::new([
            vec![Wait(5000), Hang],
            then(vec![Wait(50)], then(lines([1, 2]), [Wait(10), down()])),
            lines([3]),
        ]);
        let setup = Setup::new(settings()).hedged(hedging);
        let (heard, _) = listen(stack, &feed, &setup, by_number()).await;
        assert_eq!(heard, good([1, 2, 3]), "{stack:?}");
        // The hedge goes out at 101 ms on the wire; its messages come 50 ms later, and it breaks off after 10 more.
        assert_eq!(feed.asked(), [(0, 0), (101, 0), (261, 2)], "{stack:?}");
    }
}

fn waiting(wait: u64) -> TalkSettings {
    Setup::new(settings()).talk_listening(|listen| {
        listen.set_wait_timeout(ms(wait)).set_resumption(by_number());
    })
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_keeps_its_caller_waiting_is_resumed() {
    let feed = Feed::new([
        // Exactly in time.
        then(vec![Wait(300)], then(lines([1]), [Wait(301), Act::Line(2)])),
        vec![Hang],
        lines([2]),
    ]);
    let (heard, report) = generated(&feed, waiting(300), Request::new(request())).await;
    assert_eq!(heard, good([1, 2]));
    assert_eq!(feed.asked(), [(0, 0), (700, 1), (1200, 1)]);
    let codes: Vec<_> = report.unwrap().attempts().iter().map(Attempt::code).collect();
    assert_eq!(codes, [Code::Aborted, Code::Aborted, Code::Ok]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_takes_its_time_does_not_wait() {
    let feed = Feed::new([then(lines([1, 2]), [Hang])]);
    let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
    let client = TalkClient::with_settings(server.channel(), waiting(300));
    let mut stream = client.listen(request()).await.unwrap().into_inner();
    for number in 1..=2 {
        tokio::time::sleep(ms(2000)).await;
        assert_eq!(stream.message().await.unwrap(), Some(line(number)));
    }
    assert_eq!(feed.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_resumption_a_wait_is_final_after_the_first_message() {
    let waits = Setup::new(settings()).talk_listening(|listen| {
        listen.set_wait_timeout(ms(300));
    });
    let feed = Feed::new([vec![Hang], then(lines([1]), [Hang])]);
    let (heard, report) = generated(&feed, waits, Request::new(request())).await;
    let text = "the stream was cancelled: no message came within the wait timeout";
    assert_eq!(heard, bad([1], Code::Aborted, text));
    assert_eq!(feed.asked(), [(0, 0), (400, 0)]);
    assert_eq!(report.unwrap().stop_reason(), Some(StopReason::Committed));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_left_alone_is_dropped() {
    let idle = Setup::new(settings()).talk_listening(|listen| {
        listen.set_idle_timeout(ms(1000));
    });
    let feed = Feed::new([then(lines([1, 2, 3]), [Wait(5000), Act::Line(4), Hang])]);
    let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
    let client = TalkClient::with_settings(server.channel(), idle);
    let mut stream = client.listen(request()).await.unwrap().into_inner();
    for number in 1..=3 {
        tokio::time::sleep(ms(900)).await;
        assert_eq!(stream.message().await.unwrap(), Some(line(number)));
    }
    // While it waits for a message, nobody is idle.
    assert_eq!(stream.message().await.unwrap(), Some(line(4)));
    assert_eq!(feed.open(), 1);
    tokio::time::sleep(ms(1001)).await;
    assert_eq!(feed.open(), 0, "the server sees it reset");
    let status = stream.message().await.unwrap_err();
    let text = "the stream was cancelled: its messages were not read within the idle timeout";
    assert_eq!((status.code(), status.message()), (tonic::Code::Aborted, text));
    assert_eq!(stream.message().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_resumption_of_other_types_is_refused() {
    let other = Resumption::by_position(|number: &u64| *number, |_: &u64, number| number);
    let mut stub = TalkStubSettings::builder();
    stub.listen().set_resumption(other.clone());
    stub.ask().set_resumption(by_number());
    let error = stub.build().unwrap_err().to_string();
    assert!(
        error.contains("Listen: resumption is of u64 and u64, but the RPC has messages of other types"),
        "{error}"
    );
    assert!(error.contains("but the RPC does not respond with a stream to one message"), "{error}");
    let feed = Feed::new([]);
    let asked = Request::new(request()).with_resumption(other);
    let (heard, _) = generated(&feed, Setup::new(settings()).talk(), asked).await;
    let line = "tonic_gax_tests::generated::test::talk::v1::Line";
    let text = format!("the resumption is for u64 and u64, but the RPC has {line} and {line}");
    assert_eq!(heard, bad([], Code::InvalidArgument, &text));
    assert_eq!(feed.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_strategy_is_its_callers() {
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
    let feed = Feed::new([then(lines([1, 2, 3]), [Hang]), lines([1])]);
    let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
    let settings = Setup::new(settings()).talk_listening(|listen| {
        listen.set_resumption(Resumption::new(|_: &Line| Panics));
    });
    let client = TalkClient::with_settings(server.channel(), settings);
    let stream = client.listen(request()).await.unwrap().into_inner();
    let stream = Arc::new(tokio::sync::Mutex::new(stream));
    let task = Arc::clone(&stream);
    let panic = tokio::spawn(async move {
        let mut stream = task.lock().await;
        while let Some(_message) = stream.message().await.unwrap() {}
    });
    assert!(panic.await.unwrap_err().is_panic());
    tokio::time::sleep(ms(1)).await;
    assert_eq!(feed.open(), 0);
    // The stream is over, and the client works.
    assert_eq!(stream.lock().await.message().await.unwrap(), None);
    let other = client.listen(request()).await.unwrap().into_inner();
    assert_eq!(read(other).await.0, good([1]));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_is_reset_at_once() {
    for wait in [false, true] {
        let feed = Feed::new([then(lines([1]), [if wait { down() } else { Hang }])]);
        let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
        let client = TalkClient::with_settings(server.channel(), waiting(60_000));
        let mut stream = client.listen(request()).await.unwrap().into_inner();
        assert_eq!(stream.message().await.unwrap(), Some(line(1)));
        assert!(tokio::time::timeout(ms(20), stream.message()).await.is_err());
        drop(stream);
        tokio::time::sleep(ms(1000)).await;
        assert_eq!((feed.open(), feed.asked().len()), (0, 1), "{wait}");
    }
}

/// Notifications of an observer, in words.
#[derive(Default)]
struct Words(Mutex<Vec<String>>);

impl Words {
    fn say(&self, words: String) {
        self.0.lock().unwrap().push(words);
    }
}

impl OperationObserver for Words {
    fn attempt_started(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.say(format!("started {} {:?}", attempt.number(), attempt.kind()));
    }
    fn response_received(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.say(format!("response {}", attempt.number()));
    }
    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {
        self.say(format!("failed {} then {}", attempt.number(), delay.unwrap_or_default().as_millis()));
    }
    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        self.say(format!("succeeded {}", attempt.number()));
    }
    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.say(format!("done after {}", summary.attempts()));
    }
    fn operation_cancelled(&self, _: &OperationInfo, _: &OperationSummary) {
        self.say("cancelled".to_owned());
    }
}

#[tokio::test(start_paused = true)]
async fn observers_are_notified_of_each_message_and_each_attempt() {
    for stack in Stack::ALL {
        let words = Arc::new(Words::default());
        let setup = Setup::new(settings()).observed(words.clone());
        let feed = Feed::new([then(lines([1, 2]), [Wait(10), down()]), lines([2, 3])]);
        let (heard, _) = listen(stack, &feed, &setup, by_number()).await;
        assert_eq!(heard, good([1, 2, 3]));
        let expected = [
            "started 1 Original",
            "response 1",
            "response 1",
            "failed 1 then 100",
            "started 2 Resume",
            "response 2",
            "succeeded 2",
            "done after 2",
        ];
        assert_eq!(*words.0.lock().unwrap(), expected, "{stack:?}");
    }
}
