//! Subscriptions over the generated client, tonic's own over the layer, and tonic's own alone.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::CallSettings;
use gax_retry::{Code, RetrySettings, StopReason};
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, Subscription, SubscriptionStrategy, Update};
use gax_testing::VirtualServer as Server;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_stream::{Stream, StreamExt as _};
use tonic::codegen::BoxStream;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{Note, OperationError, OperationOptions, RetryService, note};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{
    Act, BodyPart, Feed, RawFrame, RawServer, Recorder, Reply, Script, Setup, delays, line, ms,
};

use Act::{Fail, Hang, Wait};

/// Whatever a subscription goes over.
#[derive(Clone)]
enum Client {
    Generated(TalkClient<Channel>),
    Layered(TonicTalkClient<RetryService<Channel>>),
    Plain(TonicTalkClient<Channel>),
}

type Lines = Pin<Box<dyn Stream<Item = Result<Line, Status>> + Send>>;

impl Client {
    /// One of each kind, whose own settings retry and give up early.
    fn all(channel: impl Fn() -> Channel, observed: &Recorder) -> Vec<Self> {
        let eager = delays(1, 1.0).total_timeout(ms(1000)).build().unwrap();
        let setup = Setup::new(eager).recorded(observed);
        vec![
            Self::Generated(TalkClient::with_settings(channel(), setup.talk_listening(|_| {}))),
            Self::Layered(TonicTalkClient::new(setup.layer_with_descriptors().layer(channel()))),
            Self::Plain(TonicTalkClient::new(channel())),
        ]
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Generated(_) => "generated",
            Self::Layered(_) => "layered",
            Self::Plain(_) => "plain",
        }
    }

    async fn listen(mut self, request: Request<Line>) -> Result<Response<Lines>, Status> {
        fn lines(
            response: Response<impl Stream<Item = Result<Line, Status>> + Send + 'static>,
        ) -> Response<Lines> {
            response.map(|stream| Box::pin(stream) as Lines)
        }
        match &mut self {
            Self::Generated(client) => client.listen(request).await.map(lines),
            Self::Layered(client) => client.listen(request).await.map(lines),
            Self::Plain(client) => client.listen(request).await.map(lines),
        }
    }

    async fn chat(
        mut self,
        request: Request<impl Stream<Item = Line> + Send + 'static>,
    ) -> Result<Response<Lines>, Status> {
        fn lines(
            response: Response<impl Stream<Item = Result<Line, Status>> + Send + 'static>,
        ) -> Response<Lines> {
            response.map(|stream| Box::pin(stream) as Lines)
        }
        match &mut self {
            Self::Generated(client) => client.chat(request).await.map(lines),
            Self::Layered(client) => client.chat(request).await.map(lines),
            Self::Plain(client) => client.chat(request).await.map(lines),
        }
    }
}

/// Goes on behind the last number.
struct ByNumber(u32);

impl StreamResumption for ByNumber {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, line: &mut Line) -> Processed {
        if line.count <= self.0 {
            return Processed::Skip;
        }
        self.0 = line.count;
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Line> {
        Resume::Again(line(self.0))
    }
}

impl SubscriptionStrategy for ByNumber {
    type Message = ();

    fn ended(&mut self) -> OnEnd {
        if self.0 < 9 { OnEnd::Reconnect } else { OnEnd::End }
    }
}

/// 100 ms x 2, so long in all.
fn settings(total: u64) -> RetrySettings {
    delays(100, 2.0).total_timeout(ms(total)).build().unwrap()
}

fn subscriber(settings: RetrySettings) -> Subscriber {
    Subscriber::new(&CallSettings::new(settings, [Code::Unavailable])).named("feed")
}

fn listen(subscriber: &Subscriber, client: &Client) -> Subscription<ByNumber> {
    let client = client.clone();
    let connect = move |opening: Opening<Line, ()>| client.clone().listen(opening.into_request());
    subscriber.subscribe(line(0), ByNumber(0), connect)
}

async fn read<S: SubscriptionStrategy<Response = Line>>(
    subscription: &mut Subscription<S>,
) -> (Vec<u32>, Result<(), Status>) {
    let mut numbers = Vec::new();
    loop {
        match subscription.update().await {
            Ok(Some(Update::Message(line))) => numbers.push(line.count),
            Ok(Some(Update::Restarted)) => numbers.push(0),
            Ok(None) => return (numbers, Ok(())),
            Err(status) => return (numbers, Err(status)),
        }
    }
}

fn lines(numbers: impl IntoIterator<Item = u32>, more: impl IntoIterator<Item = Act>) -> Vec<Act> {
    numbers.into_iter().map(Act::Line).chain(more).collect()
}

fn down() -> Act {
    Fail(Status::unavailable("down"))
}

#[tokio::test(start_paused = true)]
async fn all_its_connections_are_one_operation() {
    for place in 0..3 {
        let feed = Feed::new([
            lines(1..=3, [Wait(50), down()]),
            vec![down()],
            // The server repeats the last message, and ends the stream well. Its client's own limits are over by then.
            lines(3..=5, [Wait(3000)]),
            lines(6..=9, []),
        ]);
        let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
        let (own, observed) = (Recorder::default(), Recorder::default());
        let client = Client::all(|| server.channel(), &own).swap_remove(place);
        let options = OperationOptions::new().observer(observed.shared());
        let subscriber = subscriber(settings(60_000)).options(options).without_total_timeout();
        let mut subscription = listen(&subscriber, &client);
        let (numbers, end) = read(&mut subscription).await;
        assert_eq!((numbers, end.is_ok()), ((1..=9).collect(), true), "{}", client.name());
        assert_eq!(feed.asked(), [(0, 0), (150, 3), (350, 3), (3450, 5)], "{}", client.name());
        let report = subscription.report().unwrap();
        assert_eq!((report.method(), report.attempt_count()), ("feed", 4));
        // The client takes none of it for an operation of its own.
        assert_eq!(own.take(), [""; 0], "{}", client.name());
        let events = observed.take();
        let count = |what: &str| events.iter().filter(|event| event.contains(what)).count();
        assert_eq!(count("response_received"), 9, "{events:?}");
    }
}

/// Neither its timeouts nor its strategy, which gives its caller no message.
#[tokio::test(start_paused = true)]
async fn the_client_s_own_settings_of_streams_do_not_apply() {
    struct Silent;
    impl StreamResumption for Silent {
        type Request = Line;
        type Response = Line;
        fn process(&mut self, _: &mut Line) -> Processed {
            Processed::Skip
        }
        fn resume(&mut self, _: &Status) -> Resume<Line> {
            Resume::Stop
        }
    }
    let feed = Feed::new([lines([1], [Wait(700), Act::Line(2), Wait(700), down()]), lines([3, 9], [])]);
    let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
    let own = Setup::new(settings(60_000)).talk_listening(|listen| {
        listen.set_resumption(Resumption::new(|_: &Line| Silent));
        listen.set_wait_timeout(ms(100)).set_idle_timeout(ms(100));
    });
    let client = Client::Generated(TalkClient::with_settings(server.channel(), own));
    let mut subscription = listen(&subscriber(settings(60_000)), &client);
    let mut numbers = Vec::new();
    while let Some(update) = subscription.update().await.unwrap() {
        numbers.extend(update.into_message().map(|line| line.count));
        tokio::time::sleep(ms(500)).await;
    }
    assert_eq!(numbers, [1, 2, 3, 9]);
    assert_eq!(feed.asked().iter().map(|(_, after)| *after).collect::<Vec<_>>(), [0, 2]);
}

/// Says the same over each connection.
struct Talks;

impl StreamResumption for Talks {
    type Request = Vec<Line>;
    type Response = Line;

    fn process(&mut self, _: &mut Line) -> Processed {
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Vec<Line>> {
        Resume::Again(vec![line(0)])
    }
}

impl SubscriptionStrategy for Talks {
    type Message = Line;
}

#[tokio::test(start_paused = true)]
async fn each_connection_has_the_headers_of_a_request() {
    let down = || Reply::messages_then_status(&[line(1)], &Status::unavailable("down"));
    let server = Server::start(Script::at_once([down(), down(), Reply::messages(&[line(9)])]));
    let numbers = Arc::new(AtomicU32::new(0));
    let client = TalkClient::with_interceptor(server.channel(), move |mut request: Request<()>| {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        request.metadata_mut().insert("x-connection", number.into());
        Ok(request)
    });
    let connect = move |opening: Opening<Vec<Line>, Line>| {
        let attempt = opening.attempt().number();
        let mut request = opening.into_streaming_request();
        request.metadata_mut().insert("x-attempt", attempt.into());
        let client = client.clone();
        async move { client.chat(request).await }
    };
    let mut chat = subscriber(settings(60_000)).subscribe(vec![line(0)], Talks, connect);
    // The server replies once a request is over.
    chat.sender().half_close();
    let mut numbers = Vec::new();
    while let Some(update) = chat.update().await.unwrap() {
        numbers.extend(update.into_message().map(|line| line.count));
    }
    assert_eq!(numbers, [1, 1, 9]);
    let arrivals = server.arrivals();
    let headers = |name| arrivals.iter().map(|arrival| arrival.header(name).unwrap()).collect::<Vec<_>>();
    assert_eq!((headers("x-attempt"), headers("x-connection")), (vec!["1", "2", "3"], vec!["0", "1", "2"]));
}

#[tokio::test(start_paused = true)]
async fn a_limit_goes_to_the_server_and_ends_it_there() {
    for place in 0..3 {
        let reply = || Reply::play([BodyPart::message(&line(1)), BodyPart::Hang]);
        let server = Server::start(Script::at_once([reply()]));
        let client = Client::all(|| server.channel(), &Recorder::default()).swap_remove(place);
        let mut subscription = listen(&subscriber(settings(5000)), &client);
        let (numbers, end) = read(&mut subscription).await;
        assert_eq!((numbers, end.unwrap_err().code()), (vec![1], tonic::Code::DeadlineExceeded));
        assert_eq!(server.seen(), [(0, Some(5000))], "{}", client.name());
        let report = subscription.report().unwrap();
        assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout), "{}", client.name());
        assert_eq!(report.elapsed(), ms(5000), "{}", client.name());
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_connection_would_change_is_final() {
    for place in 0..3 {
        // A message that is none, and a status of the server's.
        let broken = Reply::play([
            BodyPart::message(&line(1)),
            BodyPart::Data(vec![0, 0, 0, 0, 2, 0xff, 0xff].into()),
        ]);
        let server = Server::start(Script::at_once([broken]));
        let client = Client::all(|| server.channel(), &Recorder::default()).swap_remove(place);
        let mut subscription = listen(&subscriber(settings(5000)), &client);
        let (numbers, end) = read(&mut subscription).await;
        let status = end.unwrap_err();
        assert_eq!((numbers, server.seen().len()), (vec![1], 1), "{}: {status:?}", client.name());
        let report = OperationError::of(&status).unwrap().report();
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{}", client.name());
    }
}

/// Whatever its code: it is final for a stream that resumes, too.
#[tokio::test(start_paused = true)]
async fn a_response_that_breaks_the_rules_is_final() {
    for place in 0..3 {
        for play in [vec![RawFrame::LongHeaders], vec![RawFrame::Headers, RawFrame::LongHeaders]] {
            let server = RawServer::start([play]);
            let client = Client::all(|| server.channel(), &Recorder::default()).swap_remove(place);
            let settings = CallSettings::new(settings(5000), [Code::Unavailable, Code::Internal]);
            let mut subscription = listen(&Subscriber::new(&settings), &client);
            let status = read(&mut subscription).await.1.unwrap_err();
            let report = OperationError::of(&status).unwrap().report();
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{}", client.name());
            assert_eq!(report.notes(), [Note::UNREADABLE_RESPONSE], "{}", client.name());
            assert_eq!(server.requests().len(), 1, "{}", client.name());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_drop_resets_the_stream_at_the_server() {
    for place in 0..3 {
        let feed = Feed::new([lines([1], [Hang])]);
        let server = Server::serving(TalkServer::new(feed.clone()), Script::new());
        let client = Client::all(|| server.channel(), &Recorder::default()).swap_remove(place);
        let mut subscription = listen(&subscriber(settings(60_000)), &client);
        assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(line(1))));
        assert_eq!(feed.open(), 1);
        drop(subscription);
        tokio::time::sleep(ms(1)).await;
        assert_eq!(feed.open(), 0, "{}", client.name());
    }
}

/// Repeats three lines, and breaks off.
#[derive(Default)]
struct Parrot {
    connections: AtomicU32,
}

#[tonic::async_trait]
impl Talk for Parrot {
    async fn ask(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("ask"))
    }

    async fn guess(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("guess"))
    }

    async fn listen(&self, _: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("listen"))
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("tell"))
    }

    async fn chat(&self, request: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let lines = request.into_inner().take(3);
        let end = tokio_stream::iter([Err(Status::unavailable("enough"))]);
        Ok(Response::new(Box::pin(lines.chain(end))))
    }
}

/// Says again what was not repeated yet.
#[derive(Default)]
struct Unheard(VecDeque<Line>);

impl StreamResumption for Unheard {
    type Request = Vec<Line>;
    type Response = Line;

    fn process(&mut self, line: &mut Line) -> Processed {
        assert_eq!(self.0.pop_front().as_ref(), Some(&*line));
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Vec<Line>> {
        Resume::Again(self.0.iter().cloned().collect())
    }
}

impl SubscriptionStrategy for Unheard {
    type Message = Line;

    fn sent(&mut self, line: &Line) {
        self.0.push_back(line.clone());
    }
}

#[tokio::test(start_paused = true)]
async fn every_line_is_said_until_it_is_heard() {
    for place in 0..3 {
        let server = Server::serving(TalkServer::new(Parrot::default()), Script::always(Reply::Pass));
        let client = Client::all(|| server.channel(), &Recorder::default()).swap_remove(place);
        let name = client.name();
        let connect =
            move |opening: Opening<Vec<Line>, Line>| client.clone().chat(opening.into_streaming_request());
        let mut chat = subscriber(settings(60_000)).subscribe(Vec::new(), Unheard::default(), connect);
        let sender = chat.sender();
        let talking = tokio::spawn(async move {
            for number in 1..=100 {
                sender.send(line(number)).await.unwrap();
                if number % 7 == 0 {
                    tokio::time::sleep(ms(30)).await;
                }
            }
        });
        let mut heard = Vec::new();
        while heard.len() < 100 {
            let update = chat.update().await.unwrap().unwrap();
            heard.extend(update.into_message().map(|line| line.count));
        }
        assert_eq!(heard, (1..=100).collect::<Vec<_>>(), "{name}");
        talking.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_above_the_client_s_own_limit_is_final() {
    let feed = Feed::new([lines([1], []), lines([1], [])]);
    let server = Server::serving(TalkServer::new(feed), Script::new());
    let clients = [
        Client::Plain(TonicTalkClient::new(server.channel()).max_decoding_message_size(3)),
        Client::Generated(
            TalkClient::with_settings(server.channel(), Setup::new(settings(1000)).talk_listening(|_| {}))
                .max_decoding_message_size(3),
        ),
    ];
    for client in clients {
        let settings = CallSettings::new(settings(5000), [Code::OutOfRange, Code::Internal]);
        let mut subscription = listen(&Subscriber::new(&settings), &client);
        let status = subscription.update().await.unwrap_err();
        let report = OperationError::of(&status).unwrap().report();
        assert_eq!(report.attempt_count(), 1, "{}: {report} {status}", client.name());
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
        assert!(!report.notes().contains(&note::NOT_RESUMED));
    }
}
