//! A strategy's part in a stream: when it is asked, what it sees, and what it may change.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, RetrySettings, StopReason};
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::SubscriptionStrategy;
use gax_testing::VirtualServer as Server;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::Channel;
use tonic::{Code as TonicCode, Request, Status};
use tonic_gax::{OperationError, note};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{Act, Break, Feed, Reply, Script, Setup, Stack, delays, line, ms};

use Act::{Fail, Hang, Wait};

type Lines = Pin<Box<dyn Stream<Item = Result<Line, Status>> + Send>>;

fn down() -> Act {
    Fail(Status::unavailable("down"))
}

fn lines(numbers: impl IntoIterator<Item = u32>, more: impl IntoIterator<Item = Act>) -> Vec<Act> {
    numbers.into_iter().map(Act::Line).chain(more).collect()
}

/// 100 ms x 2, ten seconds in all.
fn settings() -> RetrySettings {
    delays(100, 2.0).total_timeout(ms(10_000)).build().unwrap()
}

fn serve(feed: &Feed) -> Channel {
    Server::serving(TalkServer::new(feed.clone()), Script::new()).channel()
}

/// The stream of a call with that resumption, through that stack.
async fn listen(
    stack: Stack,
    channel: Channel,
    setup: &Setup,
    resumption: Resumption,
    first: Line,
) -> Result<Lines, Status> {
    let layer = match stack {
        Stack::Layer => setup.layer(),
        Stack::LayerWithDescriptors => setup.layer_with_descriptors(),
        _ => {
            let settings = setup.talk_listening(|listen| {
                listen.set_resumption(resumption);
            });
            let response = TalkClient::with_settings(channel, settings).listen(first).await?;
            return Ok(Box::pin(response.into_inner()));
        }
    };
    let mut client = TonicTalkClient::new(layer.layer(channel));
    let response = client.listen(Request::new(first).with_resumption(resumption)).await?;
    Ok(Box::pin(response.into_inner()))
}

/// Numbers its requests from 101 on, adds 1000 to each message, and writes down what it is asked.
#[derive(Clone, Default)]
struct Witness {
    requests: u32,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Witness {
    fn resumption(&self) -> Resumption {
        let witness = self.clone();
        Resumption::new(move |first: &Line| {
            witness.note(format!("begin {}", first.count));
            Self { requests: 100, ..witness.clone() }
        })
    }

    fn note(&self, what: String) {
        self.seen.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl StreamResumption for Witness {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, message: &mut Line) -> Processed {
        self.note(format!("message {}", message.count));
        message.count += 1000;
        Processed::Replaced
    }

    fn resume(&mut self, failure: &Status) -> Resume<Line> {
        self.note(format!("failure {}", failure.message()));
        self.requests += 1;
        Resume::Again(line(self.requests))
    }
}

/// Also where the attempt before has delivered nothing: as gax-java asks, and its requests are what is sent.
#[tokio::test(start_paused = true)]
async fn it_is_asked_for_the_request_of_each_further_attempt() {
    for stack in Stack::ALL {
        let feed = Feed::new([vec![down()], vec![down()], lines([1], [Wait(1), down()]), lines([2, 3], [])]);
        let witness = Witness::default();
        let setup = Setup::new(settings());
        let stream = listen(stack, serve(&feed), &setup, witness.resumption(), line(7)).await.unwrap();
        let numbers: Vec<_> = stream.map(|line| line.unwrap().count).collect().await;
        assert_eq!(numbers, [1001, 1002, 1003], "{stack:?}");
        let asked: Vec<_> = feed.asked().iter().map(|(_, number)| *number).collect();
        assert_eq!(asked, [7, 101, 102, 103], "{stack:?}");
        // It sees, and may replace, each message of each attempt.
        let seen = [
            "begin 7",
            "failure down",
            "failure down",
            "message 1",
            "failure down",
            "message 2",
            "message 3",
        ];
        assert_eq!(witness.take(), seen, "{stack:?}");
    }
}

/// One that the code, a limit or a lost request speaks for is not asked.
#[tokio::test(start_paused = true)]
async fn it_is_not_asked_where_no_attempt_can_follow() {
    for stack in Stack::ALL {
        let fatal = || Fail(Status::permission_denied("no"));
        let feed = Feed::new([lines([1], [Wait(1), fatal()])]);
        let witness = Witness::default();
        let setup = Setup::new(settings());
        let mut stream = listen(stack, serve(&feed), &setup, witness.resumption(), line(7)).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap().count, 1001, "{stack:?}");
        assert_eq!(
            stream.next().await.unwrap().unwrap_err().code(),
            TonicCode::PermissionDenied,
            "{stack:?}"
        );
        assert_eq!(witness.take(), ["begin 7", "message 1"], "{stack:?}");
        // A request that no server has looked at goes out again as it is.
        let refused = Script::at_once([Reply::Break(Break::Reset(7)), Reply::messages(&[line(1)])]);
        let server = Server::start(refused);
        let stream = listen(stack, server.channel(), &setup, witness.resumption(), line(8)).await.unwrap();
        assert_eq!(stream.map(|line| line.unwrap().count).collect::<Vec<_>>().await, [1001], "{stack:?}");
        assert_eq!(witness.take(), ["begin 8", "message 1"], "{stack:?}");
    }
}

/// A server that sends ahead finds nobody who takes its messages.
#[tokio::test(start_paused = true)]
async fn one_poll_takes_one_message() {
    for stack in Stack::ALL {
        let feed = Feed::new([lines(1..=9, [Hang])]);
        let witness = Witness::default();
        let setup = Setup::new(settings());
        let mut stream = listen(stack, serve(&feed), &setup, witness.resumption(), line(0)).await.unwrap();
        // All of them have arrived meanwhile.
        tokio::time::sleep(ms(100)).await;
        witness.take();
        for number in 1..=9 {
            assert_eq!(stream.next().await.unwrap().unwrap().count, 1000 + number, "{stack:?}");
            assert!(witness.take().len() <= 1, "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_at_once_have_a_strategy_each() {
    let feed = Feed::new([
        lines([1], [Wait(10), down()]),
        lines([2], [Wait(20), down()]),
        lines([11], []),
        lines([12], []),
    ]);
    let by_number = Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count));
    let settings = Setup::new(settings()).talk_listening(|listen| {
        listen.set_resumption(by_number);
    });
    let client = TalkClient::with_settings(serve(&feed), settings);
    let one = client.listen(line(0)).await.unwrap().into_inner();
    let other = client.listen(line(0)).await.unwrap().into_inner();
    let numbers = |stream: gax_client::ResponseStream<Line>| async {
        stream.map(|line| line.unwrap().count).collect::<Vec<_>>().await
    };
    assert_eq!(tokio::join!(numbers(one), numbers(other)), (vec![1, 11], vec![2, 12]));
    assert_eq!(feed.asked(), [(0, 0), (0, 0), (110, 1), (120, 2)]);
}

/// A message above the client's own limit does not get shorter; the same code from a server is one like any other.
#[tokio::test(start_paused = true)]
async fn a_limit_of_one_s_own_is_final_and_a_server_s_is_not() {
    let by_number = || Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count));
    let settings = || {
        let codes = [Code::OutOfRange, Code::ResourceExhausted];
        Setup::new(settings()).retrying(codes).talk_listening(|listen| {
            listen.set_resumption(by_number());
        })
    };
    let long = Line { text: "a".repeat(200), count: 2 };
    let server = Server::start(Script::at_once([Reply::messages(&[line(1), long])]));
    let client = TalkClient::with_settings(server.channel(), settings()).max_decoding_message_size(100);
    let mut stream = client.listen(line(0)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(line(1)));
    let status = stream.message().await.unwrap_err();
    assert_eq!(status.code(), TonicCode::OutOfRange);
    let report = OperationError::of(&status).unwrap().report();
    assert_eq!((report.attempt_count(), report.stop_reason()), (1, Some(StopReason::NonRetryable)));
    assert_eq!(report.notes(), [note::MESSAGE_ABOVE_DECODING_LIMIT]);

    let feed = Feed::new([
        lines([1], [Wait(1), Fail(Status::out_of_range("wait"))]),
        lines([2], [Wait(1), Fail(Status::resource_exhausted("wait"))]),
        lines([3], []),
    ]);
    let client = TalkClient::with_settings(serve(&feed), settings());
    let stream = client.listen(line(0)).await.unwrap().into_inner();
    assert_eq!(stream.map(|line| line.unwrap().count).collect::<Vec<_>>().await, [1, 2, 3]);
}

/// As tonic's stream can.
#[test]
fn streams_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<tonic::Streaming<Line>>();
    is_shared::<gax_client::ResponseStream<Line>>();
    is_shared::<gax_streams::subscription::Subscription<Witness>>();
}

impl SubscriptionStrategy for Witness {
    type Message = ();
}
