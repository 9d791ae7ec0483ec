//! Subscriptions over closures, in virtual time.

use crate::resumption::{Processed, Resume, StreamResumption};
use crate::subscription::{
    Ended, Opening, OutgoingMessages, Say, Subscriber, Subscription, SubscriptionState, SubscriptionStrategy,
    Update,
};
use crate::{
    CallSettings, Code, Compatibility, Note, OperationError, OperationOptions, RetrySettings,
    RetrySettingsBuilder, StopReason,
};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Response, Status};

const MS: Duration = Duration::from_millis(1);

/// A step of one connection.
#[derive(Debug, Clone)]
enum Act {
    Message(u64),
    Wait(u64),
    Fail(Status),
    Hang,
    /// Waits for a message of the client's.
    Hear,
}

use Act::{Fail, Hang, Hear, Message, Wait};

fn down() -> Act {
    Fail(Status::unavailable("down"))
}

type BoxStream = Pin<Box<dyn Stream<Item = Result<u64, Status>> + Send>>;
type BoxFuture = Pin<Box<dyn Future<Output = Result<Response<BoxStream>, Status>> + Send>>;

/// When a connection came, in milliseconds, and with what.
type Opened = (u128, Vec<u64>);

/// Replies to each connection with the next script, and notes when it came and with what.
#[derive(Clone)]
struct Server {
    scripts: Arc<Mutex<VecDeque<Vec<Act>>>>,
    opened: Arc<Mutex<Vec<Opened>>>,
    heard: Arc<Mutex<Vec<u64>>>,
    open: Arc<AtomicUsize>,
    start: Instant,
}

struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "a test's own clock")]
    fn new(scripts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        Self {
            scripts: Arc::new(Mutex::new(scripts.into_iter().collect())),
            opened: Arc::default(),
            heard: Arc::default(),
            open: Arc::default(),
            start: Instant::now(),
        }
    }

    fn connect(&self, opening: Opening<Vec<u64>, u64>) -> BoxFuture {
        let opened = (self.start.elapsed().as_millis(), opening.request().clone());
        self.opened.lock().unwrap().push(opened);
        let script = self.scripts.lock().unwrap().pop_front();
        let (first, server) = (opening.request().len(), self.clone());
        let mut requests = opening.into_streaming_request().into_inner();
        Box::pin(async move {
            let mut script = script.ok_or_else(|| Status::internal("no connection beyond the script"))?;
            for _ in 0..first {
                requests.next().await;
            }
            while let Some(Wait(time)) = script.first() {
                sleep(Duration::from_millis(*time)).await;
                script.remove(0);
            }
            if let [Fail(status)] = &script[..] {
                return Err(status.clone());
            }
            server.open.fetch_add(1, Ordering::Relaxed);
            let open = Open(Arc::clone(&server.open));
            let (messages, stream) = tokio::sync::mpsc::channel(1);
            tokio::spawn(server.play(script, requests, messages, open));
            let mut response = Response::new(Box::pin(ReceiverStream::new(stream)) as BoxStream);
            response.metadata_mut().insert("x-first", first.into());
            Ok(response)
        })
    }

    async fn play(
        self,
        script: Vec<Act>,
        mut requests: OutgoingMessages<u64>,
        messages: tokio::sync::mpsc::Sender<Result<u64, Status>>,
        _open: Open,
    ) {
        for act in script {
            let sent = match act {
                Message(number) => messages.send(Ok(number)).await,
                Fail(status) => messages.send(Err(status)).await,
                Wait(time) => {
                    sleep(Duration::from_millis(time)).await;
                    Ok(())
                }
                Hear => {
                    // Zero is the end.
                    let said = requests.next().await.unwrap_or_default();
                    self.heard.lock().unwrap().push(said);
                    Ok(())
                }
                Hang => {
                    messages.closed().await;
                    Ok(())
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }

    fn opened(&self) -> Vec<Opened> {
        self.opened.lock().unwrap().clone()
    }

    fn heard(&self) -> Vec<u64> {
        self.heard.lock().unwrap().clone()
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

/// Goes on behind the last number, and says again what was sent. Numbers above 900 are acknowledged and skipped, those of
/// 800 and more wait for one below.
#[derive(Clone)]
struct Numbers {
    after: u64,
    said: Vec<u64>,
    acknowledge: VecDeque<u64>,
    half_closes: bool,
    ended: Ended,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            after: 0,
            said: Vec::new(),
            acknowledge: VecDeque::new(),
            half_closes: false,
            ended: Ended::End,
        }
    }
}

impl StreamResumption for Numbers {
    type Request = Vec<u64>;
    type Response = u64;

    fn process(&mut self, number: &mut u64) -> Processed {
        assert_ne!(*number, 666, "the strategy's own");
        if *number > 900 {
            self.acknowledge.push_back(*number);
            return Processed::Skip;
        }
        if *number >= 800 {
            return Processed::Withhold;
        }
        self.after = *number;
        Processed::Release
    }

    fn resume(&mut self, failure: &Status) -> Resume<Vec<u64>> {
        let mut opening = vec![self.after];
        opening.extend(&self.said);
        match failure.message() {
            "stop" => Resume::Stop,
            "gone" => Resume::Anew(vec![0]),
            _ => Resume::Again(opening),
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        (failure.code() == tonic::Code::OutOfRange).then_some(true)
    }
}

impl SubscriptionStrategy for Numbers {
    type Message = u64;

    fn sent(&mut self, message: &u64) {
        assert_ne!(*message, 13, "the strategy's own");
        self.said.push(*message);
    }

    fn say(&mut self) -> Say<u64> {
        match self.acknowledge.pop_front() {
            Some(number) => Say::Message(number),
            None if self.half_closes => Say::HalfClose,
            None => Say::Nothing,
        }
    }

    fn ended(&mut self) -> Ended {
        self.ended
    }
}

/// 100 ms x 2, ten seconds in all.
fn delays() -> RetrySettingsBuilder {
    RetrySettings::builder()
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(2.0)
        .jittered(false)
        .total_timeout(10_000 * MS)
}

fn settings() -> CallSettings {
    CallSettings::new(delays().build().unwrap(), [Code::Unavailable])
}

fn open(server: &Server, subscriber: &Subscriber, strategy: Numbers) -> Subscription<Numbers> {
    let server = server.clone();
    subscriber.subscribe(vec![0], strategy, move |opening| server.connect(opening))
}

/// All that a caller got, restarts as zeros, and how it ended.
async fn read(subscription: &mut Subscription<Numbers>) -> (Vec<u64>, Result<(), (Code, String)>) {
    let mut numbers = Vec::new();
    loop {
        match subscription.update().await {
            Ok(Some(Update::Message(number))) => numbers.push(number),
            Ok(Some(Update::Restarted)) => numbers.push(0),
            Ok(None) => return (numbers, Ok(())),
            Err(status) => {
                let code = Code::from_wire(status.code().into());
                return (numbers, Err((code, status.message().to_owned())));
            }
        }
    }
}

fn lines(numbers: impl IntoIterator<Item = u64>, more: impl IntoIterator<Item = Act>) -> Vec<Act> {
    numbers.into_iter().map(Message).chain(more).collect()
}

#[tokio::test(start_paused = true)]
async fn it_goes_on_behind_its_last_message() {
    let server = Server::new([
        lines(1..=3, [Wait(50), down()]),
        vec![down()],
        vec![Wait(10), down()],
        lines(4..=5, []),
    ]);
    let mut subscription = open(&server, &Subscriber::new(&settings()).named("feed"), Numbers::default());
    assert_eq!(read(&mut subscription).await, ((1..=5).collect(), Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (150, vec![3]), (350, vec![3]), (760, vec![3])]);
    let report = subscription.report().unwrap();
    let codes: Vec<Code> = report.attempts().iter().map(crate::Attempt::code).collect();
    assert_eq!(codes, [Code::Unavailable, Code::Unavailable, Code::Unavailable, Code::Ok]);
    assert_eq!(report.method(), "feed");
    assert_eq!(subscription.state(), SubscriptionState::Ended);
    assert_eq!(subscription.update().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_well_is_the_end_or_not() {
    let strategy = Numbers { ended: Ended::Reconnect, ..Numbers::default() };
    let server = Server::new([lines([1], []), vec![], vec![], lines([2], []), vec![down()]]);
    let limited = delays().max_attempts(4).build().unwrap();
    let settings = CallSettings::new(limited, [Code::Aborted]);
    let mut subscription = open(&server, &Subscriber::new(&settings), strategy);
    let (numbers, end) = read(&mut subscription).await;
    // No hot loop: back-off grows with each connection that brings nothing.
    let opened: Vec<_> = server.opened().into_iter().map(|(at, _)| at).collect();
    assert_eq!((numbers, opened), (vec![1, 2], vec![0, 100, 300, 700, 800]));
    assert_eq!(end, Err((Code::Unavailable, "down".to_owned())));
    // Nobody has a limit: at the last, the end of the stream itself is the failure.
    let server = Server::new([vec![], vec![], vec![], vec![]]);
    let mut subscription =
        open(&server, &Subscriber::new(&settings), Numbers { ended: Ended::Reconnect, ..Numbers::default() });
    let status = subscription.update().await.unwrap_err();
    assert_eq!(status.message(), "the server ended the stream");
    let report = OperationError::of(&status).unwrap().report();
    assert_eq!((report.stop_reason(), report.attempt_count()), (Some(StopReason::MaxAttempts), 4));
}

#[tokio::test(start_paused = true)]
async fn a_new_beginning_is_seen_as_soon_as_it_is_open() {
    let gone = || Fail(Status::out_of_range("gone"));
    let server = Server::new([lines([7, 801], [gone()]), vec![gone()], vec![Wait(5), Wait(900), Message(1)]]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    // Withheld messages are dropped.
    assert_eq!(read(&mut subscription).await, (vec![7, 0, 1], Ok(())));
    assert_eq!(subscription.restarts(), 2);
    assert_eq!(server.opened(), [(0, vec![0]), (100, vec![0]), (300, vec![0])]);
    let server_of_silence =
        Server::new([lines([7], [gone()]), vec![Wait(5), Message(950), Wait(900), Message(1)]]);
    let mut subscription = open(&server_of_silence, &Subscriber::new(&settings()), Numbers::default());
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(7)));
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Restarted));
    assert_eq!(server_of_silence.start.elapsed().as_millis(), 105);
    assert_eq!(subscription.metadata().get("x-first").unwrap(), "1");
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
}

#[tokio::test(start_paused = true)]
async fn a_strategy_stops_widens_and_withholds() {
    let stop = || Fail(Status::unavailable("stop"));
    let ended = |scripts: Vec<Vec<Act>>, subscriber: Subscriber| async move {
        let server = Server::new(scripts);
        let mut subscription = open(&server, &subscriber, Numbers::default());
        let (numbers, end) = read(&mut subscription).await;
        let report = subscription.report().unwrap();
        (numbers, end.err().map(|(code, _)| code), report.stop_reason(), report.notes().to_vec())
    };
    let subscriber = || Subscriber::new(&settings());
    let committed = (vec![1], Some(Code::Unavailable), Some(StopReason::Committed), vec![Note::NotResumed]);
    assert_eq!(ended(vec![lines([1], [stop()])], subscriber()).await, committed);
    let refused = (vec![], Some(Code::Unavailable), Some(StopReason::NonRetryable), vec![Note::NotResumed]);
    assert_eq!(ended(vec![vec![stop()]], subscriber()).await, refused);
    let code = (vec![1], Some(Code::Internal), Some(StopReason::NonRetryable), vec![]);
    assert_eq!(ended(vec![lines([1], [Fail(Status::internal(""))])], subscriber()).await, code);
    // Withheld messages come before the failure, and with the end.
    let withheld = vec![lines([1, 801, 802], [Fail(Status::internal(""))])];
    assert_eq!(ended(withheld, subscriber()).await.0, [1, 801, 802]);
    assert_eq!(ended(vec![lines([801, 802], [])], subscriber()).await.0, [801, 802]);
    assert_eq!(ended(vec![lines([801, 802, 3], [])], subscriber()).await.0, [801, 802, 3]);
    let full = (
        vec![801, 802],
        Some(Code::ResourceExhausted),
        Some(StopReason::NonRetryable),
        vec![Note::WithheldTooMuch],
    );
    let many = || vec![lines([801, 802, 803], [])];
    assert_eq!(ended(many(), subscriber().max_withheld_messages(2)).await, full);
    assert_eq!(ended(many(), subscriber().max_withheld_bytes(16)).await, full);
}

#[tokio::test(start_paused = true)]
async fn limits_are_those_of_an_operation() {
    let fail = |number| lines([number], [Wait(3000), down()]);
    let server = Server::new((1..=4).map(fail));
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let (numbers, end) = read(&mut subscription).await;
    assert_eq!((numbers, end.unwrap_err().0), (vec![1, 2, 3, 4], Code::DeadlineExceeded));
    let report = subscription.report().unwrap();
    assert_eq!((report.stop_reason(), report.elapsed()), (Some(StopReason::TotalTimeout), 10_000 * MS));
    // Without a total timeout, the number of attempts is that of barren ones in a row.
    let three = CallSettings::new(delays().max_attempts(3).build().unwrap(), [Code::Unavailable]);
    let scripts = [fail(1), fail(2), vec![down()], fail(3), fail(4), fail(5), vec![down()], vec![down()]];
    let server = Server::new(scripts);
    let subscriber = Subscriber::new(&three).without_total_timeout();
    let mut subscription = open(&server, &subscriber, Numbers::default());
    assert_eq!(read(&mut subscription).await.0, [1, 2, 3, 4, 5]);
    assert_eq!(subscription.report().unwrap().stop_reason(), Some(StopReason::MaxAttempts));

    // By gax-java's rules the RPC timeout is that of each connection.
    let timed = delays().initial_rpc_timeout(1000 * MS).build().unwrap();
    let java = OperationOptions::new().compatibility(Compatibility::GaxJava);
    let settings = CallSettings::new(timed, [Code::DeadlineExceeded]);
    let server = Server::new([lines([1], [Hang]), lines([2], [])]);
    let mut subscription = open(&server, &Subscriber::new(&settings).options(java), Numbers::default());
    assert_eq!(read(&mut subscription).await, (vec![1, 2], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (1100, vec![1])]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_its_caller_waiting_is_left() {
    let mut settings = settings();
    settings.set_wait_timeout(300 * MS);
    let server = Server::new([
        // Exactly in time.
        vec![Wait(300), Message(1), Wait(300), Message(2), Hang],
        vec![Wait(5000)],
        lines([3], []),
    ]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    assert_eq!(read(&mut subscription).await, (vec![1, 2, 3], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (1000, vec![2]), (1500, vec![2])]);
    let report = subscription.report().unwrap();
    assert_eq!(report.attempts()[0].code(), Code::Aborted);
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_polls_is_dropped() {
    let mut settings = settings();
    settings.set_idle_timeout(300 * MS);
    let server = Server::new([lines([1], [Hang])]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    let sender = subscription.sender();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    sleep(200 * MS).await;
    assert_eq!((server.open(), sender.send(5).await.is_ok()), (1, true));
    sleep(101 * MS).await;
    assert_eq!(server.open(), 0);
    assert_eq!(sender.send(6).await.unwrap_err().message, 6);
    assert_eq!(subscription.update().await.unwrap_err().code(), tonic::Code::Aborted);
    assert_eq!(subscription.update().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_goes_out_once_over_each_connection() {
    let server = Server::new([
        vec![Hear, Message(1), Hear, Wait(10), down()],
        vec![Hear, Hear, Message(2), Hear, Message(3)],
    ]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let sender = subscription.sender();
    // Before there is a connection.
    sender.send(50).await.unwrap();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    sender.send(51).await.unwrap();
    let next = tokio::spawn(async move {
        assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(2)));
        subscription
    });
    // While it waits: behind what the strategy says again.
    sleep(50 * MS).await;
    assert_eq!(server.heard(), [50, 51]);
    sender.send(52).await.unwrap();
    sender.clone().send(53).await.unwrap();
    let mut subscription = next.await.unwrap();
    sender.half_close();
    assert_eq!(sender.send(54).await.unwrap_err().message, 54);
    assert_eq!(read(&mut subscription).await, (vec![3], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (110, vec![1, 50, 51])]);
    assert_eq!(server.heard(), [50, 51, 52, 53, 0]);
}

#[tokio::test(start_paused = true)]
async fn more_messages_wait_for_a_place() {
    let server = Server::new([vec![Wait(100), Message(1), Wait(100), Hear, Hear, Message(2), Hang]]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let sender = subscription.sender();
    for number in 20..36 {
        sender.send(number).await.unwrap();
    }
    assert!(timeout(50 * MS, sender.send(36)).await.is_err());
    let waiting = tokio::spawn(async move { sender.send(37).await });
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    assert!(!waiting.is_finished());
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(2)));
    waiting.await.unwrap().unwrap();
    // Another waits for a place that never comes.
    let sender = subscription.sender();
    let more = tokio::spawn(async move {
        for number in 0..100 {
            sender.send(number).await?;
        }
        Ok::<_, crate::subscription::SubscriptionClosed<u64>>(())
    });
    tokio::task::yield_now().await;
    drop(subscription);
    let error = more.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the subscription is over, or was half-closed: the message was not sent");
}

#[tokio::test(start_paused = true)]
async fn a_strategy_acknowledges_and_half_closes() {
    let server = Server::new([
        lines([1, 901, 902, 2], [Hear, Hear, Hear, Wait(1), down()]),
        // Half-closed again.
        lines([903, 3], [Hear, Hear]),
    ]);
    let strategy = Numbers::default();
    let mut subscription = open(&server, &Subscriber::new(&settings()), strategy);
    let sender = subscription.sender();
    let reading = tokio::spawn(async move { (read(&mut subscription).await, subscription) });
    sleep(10 * MS).await;
    sender.send(77).await.unwrap();
    sleep(50 * MS).await;
    sender.half_close();
    let ((numbers, end), _) = reading.await.unwrap();
    assert_eq!((numbers, end), (vec![1, 2, 3], Ok(())));
    assert_eq!(server.heard(), [901, 902, 77, 0, 0]);

    let server = Server::new([lines([1, 901], [Hear, Hear, Wait(1), down()]), vec![Hear]]);
    let strategy = Numbers { half_closes: true, ..Numbers::default() };
    let mut subscription = open(&server, &Subscriber::new(&settings()), strategy);
    assert_eq!(read(&mut subscription).await, (vec![1], Ok(())));
    // It has half-closed as the connection opened, so that nothing could be acknowledged.
    assert_eq!(server.heard(), [0, 0, 0]);
}

/// A server that sends without end and takes no acknowledgement.
#[tokio::test(start_paused = true)]
async fn acknowledgements_that_nobody_takes_stop_the_reading() {
    let mut settings = settings();
    settings.set_wait_timeout(1000 * MS);
    let server = Server::new([lines((901..=990).chain([1]), [Hang]), lines([2], [])]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    // The first connection is left as one that keeps its caller waiting.
    assert_eq!(read(&mut subscription).await, (vec![2], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (1100, vec![0])]);
}

#[tokio::test(start_paused = true)]
async fn its_state_is_seen_from_elsewhere() {
    let server = Server::new([vec![Wait(10), down()], vec![Wait(10), Message(1), Wait(10), Message(2)]]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let mut states = subscription.states();
    assert_eq!((states.current(), subscription.state()), (SubscriptionState::Connecting, states.current()));
    let start = server.start;
    let seen = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(state) = states.changed().await {
            let until = match state {
                SubscriptionState::WaitingUntil(until) => {
                    Some(Instant::from_std(until).duration_since(start).as_millis())
                }
                _ => None,
            };
            seen.push((start.elapsed().as_millis(), state, until));
        }
        seen.into_iter().map(|(at, state, until)| (at, state_name(state), until)).collect::<Vec<_>>()
    });
    assert_eq!(read(&mut subscription).await, (vec![1, 2], Ok(())));
    tokio::task::yield_now().await;
    drop(subscription);
    let expected =
        [(10, "waiting", Some(110)), (110, "connecting", None), (120, "live", None), (130, "ended", None)];
    assert_eq!(seen.await.unwrap(), expected);
}

fn state_name(state: SubscriptionState) -> &'static str {
    match state {
        SubscriptionState::Connecting => "connecting",
        SubscriptionState::Live => "live",
        SubscriptionState::WaitingUntil(_) => "waiting",
        SubscriptionState::Ended => "ended",
    }
}

#[tokio::test(start_paused = true)]
async fn a_drop_ends_it_at_once() {
    let server = Server::new([lines([1], [Hang])]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let sender = subscription.sender();
    // A future that is dropped loses nothing.
    for _ in 0..3 {
        drop(timeout(Duration::ZERO, subscription.update()).await);
    }
    drop(timeout(MS, subscription.update()).await);
    assert_eq!(server.open(), 1);
    assert!(sender.send(1).await.is_ok());
    drop(subscription);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert_eq!(server.open(), 0);
    assert!(sender.send(2).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_that_of_the_task_that_asked() {
    let server = Server::new([lines([1, 666, 2], [Hang])]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let sender = subscription.sender();
    let reading = tokio::spawn(async move {
        assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
        drop(subscription.update().await);
    });
    assert!(reading.await.unwrap_err().is_panic());
    assert!(sender.send(5).await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(server.open(), 0);

    let server = Server::new([lines([1], [Wait(10), Message(2), Hang])]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    let sender = subscription.sender();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    let sending = tokio::spawn(async move { sender.send(13).await.is_ok() });
    assert!(sending.await.unwrap_err().is_panic());
    let status = subscription.update().await.unwrap_err();
    assert_eq!(status.message(), "the strategy of the subscription has panicked");
    assert_eq!(OperationError::of(&status).unwrap().report().stop_reason(), Some(StopReason::NonRetryable));
    assert_eq!(subscription.update().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn servers_say_when_the_next_connection_is_wanted() {
    let mut asks = Status::unavailable("busy");
    asks.metadata_mut().insert("grpc-retry-pushback-ms", "700".parse().unwrap());
    let server = Server::new([vec![Fail(asks)], lines([1], [])]);
    let mut subscription = open(&server, &Subscriber::new(&settings()), Numbers::default());
    assert_eq!(read(&mut subscription).await, (vec![1], Ok(())));
    assert_eq!(server.opened()[1].0, 700);
}
