//! Streams that break off at random: with an honest strategy each message comes once, in order, whatever the connections do.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::CallSettings;
use gax_retry::{Code, RetrySettings};
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy, Update};
use gax_table::RetryTable;
use gax_testing::VirtualServer;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::codegen::BoxStream;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::RetryLayer;
use tonic_gax_tests::chaos::{Draw, SeedOutcome, Seeds};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{Break, Reply, Script, Setup, line, ms, virtual_time};

/// More than there are connections that bring nothing.
const MAX_BARREN: u32 = 40;

/// Who reads the stream.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reader {
    Generated,
    Layered,
    SubscribedGenerated,
    SubscribedPlain,
}

impl Reader {
    fn is_subscription(self) -> bool {
        matches!(self, Self::SubscribedGenerated | Self::SubscribedPlain)
    }
}

/// How the messages of a connection end.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Good,
    Down,
    Fatal,
    Silence,
}

/// A connection whose stream has begun.
#[derive(Debug, Clone)]
struct Plan {
    /// How many messages come that had come before.
    repeats: u32,
    messages: u32,
    /// So many milliseconds before each message.
    pace: u64,
    end: End,
}

/// A connection whose stream ends somehow, or a reply in place of a stream.
#[derive(Debug, Clone)]
enum Fault {
    Plan(Plan),
    Reply(Reply),
}

#[derive(Debug)]
struct Run {
    last: u32,
    /// Tokens are at its multiples; `None`: a stream can be taken up behind each message.
    tokens: Option<u32>,
    initial_delay: Duration,
    patience: Duration,
    plans: Vec<Plan>,
    replies: Vec<Reply>,
}

impl Run {
    fn draw(seed: u64, reader: Reader) -> Self {
        let mut draw = Draw::new(seed);
        let plan = |draw: &mut Draw| {
            let end = match draw.below(100) {
                50..75 if reader.is_subscription() => End::Good,
                75..95 => End::Silence,
                95..97 => End::Fatal,
                _ => End::Down,
            };
            Plan {
                repeats: draw.small(0, 3),
                messages: draw.pick(&[0, 0, 1, 3, 20, 100]),
                pace: draw.pick(&[0, 0, 0, 1, 40]),
                end,
            }
        };
        let reply = |draw: &mut Draw| match draw.below(100) {
            0..5 => Reply::unavailable(),
            5..8 => Reply::http(503, &[]),
            8..12 => Reply::Break(Break::Reset(draw.pick(&[2, 7, 8]))),
            // A stream that was taken comes to nothing.
            12..15 => Reply::Break(Break::GoAway { reason: 0, taken: draw.percent(50) }),
            15..18 => Reply::Break(Break::Close),
            18..20 => Reply::pushback(draw.pick(&[0, 5, 300])),
            20..23 => Reply::Hang,
            23..26 => Reply::stall(),
            _ => Reply::Pass,
        };
        let last = draw.small(1, 120);
        Self {
            last,
            tokens: draw.sometimes(40, |draw| draw.small(2, 9)),
            initial_delay: draw.pick(&[ms(0), ms(1), ms(5)]),
            patience: draw.sometimes(20, |draw| draw.ms(0, 3000)).unwrap_or(Duration::from_secs(3600)),
            plans: (0..draw.below(12)).map(|_| plan(&mut draw)).collect(),
            replies: (0..draw.below(16)).map(|_| reply(&mut draw)).collect(),
        }
    }

    /// The connections that fail and the replies that are no stream, one by one.
    fn schedule(self) -> Vec<Fault> {
        let replies = self.replies.into_iter().map(Fault::Reply);
        self.plans.into_iter().map(Fault::Plan).chain(replies).collect()
    }

    /// This run with those in place of its own.
    fn with(mut self, schedule: &[Fault]) -> Self {
        (self.plans, self.replies) = (Vec::new(), Vec::new());
        for fault in schedule.iter().cloned() {
            match fault {
                Fault::Plan(plan) => self.plans.push(plan),
                Fault::Reply(reply) => self.replies.push(reply),
            }
        }
        self
    }

    fn is_fatal(&self) -> bool {
        self.plans.iter().any(|plan| plan.end == End::Fatal)
    }

    fn settings(&self) -> RetrySettings {
        let settings = RetrySettings::builder().initial_retry_delay(self.initial_delay);
        settings
            .retry_delay_multiplier(1.5)
            .max_retry_delay(ms(500))
            .max_attempts(MAX_BARREN)
            .build()
            .unwrap()
    }
}

/// Numbers up to the last, by connections that go as planned; those that follow are good.
#[derive(Clone)]
struct Server {
    last: u32,
    plans: Arc<Mutex<VecDeque<Plan>>>,
    open: Arc<AtomicUsize>,
}

struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[tonic::async_trait]
impl Talk for Server {
    async fn ask(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("ask"))
    }

    async fn guess(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("guess"))
    }

    async fn listen(&self, request: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        let after = request.into_inner().count;
        let calm = Plan { repeats: 0, messages: u32::MAX, pace: 0, end: End::Good };
        let Plan { repeats, messages, pace, end } = self.plans.lock().unwrap().pop_front().unwrap_or(calm);
        let first = after.saturating_sub(repeats) + 1;
        let until = first.saturating_add(messages).min(self.last + 1);
        self.open.fetch_add(1, Ordering::Relaxed);
        let (open, last) = (Open(Arc::clone(&self.open)), self.last);
        let (sender, lines) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let _open = open;
            for number in first..until {
                if pace > 0 {
                    sleep(ms(pace)).await;
                }
                if sender.send(Ok(line(number))).await.is_err() {
                    return;
                }
            }
            let status = match end {
                // A stream that resumes is over with that.
                End::Good => return,
                End::Down if until > last => return,
                End::Down => Status::unavailable("down"),
                End::Fatal => Status::internal("fatal"),
                End::Silence => return sender.closed().await,
            };
            drop(sender.send(Err(status)).await);
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(lines))))
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("tell"))
    }

    async fn chat(&self, _: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("chat"))
    }
}

/// An honest strategy: it goes on behind the last number, or anew behind the last token.
#[derive(Clone)]
struct Honest {
    last: u32,
    tokens: Option<u32>,
    seen: u32,
}

impl StreamResumption for Honest {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, line: &mut Line) -> Processed {
        if line.count <= self.seen {
            return Processed::Skip;
        }
        match self.tokens {
            Some(every) if !line.count.is_multiple_of(every) && line.count < self.last => Processed::Withhold,
            _ => {
                self.seen = line.count;
                Processed::Release
            }
        }
    }

    fn resume(&mut self, _: &Status) -> Resume<Line> {
        let request = line(self.seen);
        if self.tokens.is_some() { Resume::Anew(request) } else { Resume::Again(request) }
    }

    /// Whatever code a reset has.
    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        Some(failure.message() != "fatal")
    }
}

impl SubscriptionStrategy for Honest {
    type Message = ();

    fn ended(&mut self) -> OnEnd {
        if self.seen < self.last { OnEnd::Reconnect } else { OnEnd::End }
    }
}

/// All that a reader got.
#[derive(Debug, Default)]
struct Read {
    numbers: Vec<u32>,
    /// `None`: it was dropped before.
    end: Option<Result<(), Status>>,
}

type Lines = Pin<Box<dyn Stream<Item = Result<Line, Status>>>>;

async fn read(run: &Run, reader: Reader, channel: Channel, read: &mut Read) {
    let mut setup = Setup::new(run.settings());
    setup.codes = Code::Unavailable.into();
    let strategy = Honest { last: run.last, tokens: run.tokens, seen: 0 };
    let first = strategy.clone();
    let resumption = Resumption::new(move |_: &Line| first.clone()).without_total_timeout();
    let mut settings = CallSettings::new(run.settings(), [Code::Unavailable]);
    settings.set_wait_timeout(ms(1000));
    let subscriber = Subscriber::new(&settings).without_total_timeout();
    let opened: Result<Lines, Status> = match reader {
        Reader::Generated => {
            let settings = setup.talk_listening(|listen| {
                listen.set_resumption(resumption).set_wait_timeout(ms(1000));
            });
            let client = TalkClient::with_settings(channel, settings);
            client.listen(line(0)).await.map(|response| Box::pin(response.into_inner()) as Lines)
        }
        Reader::Layered => {
            // The layer leaves a silent server as its table says.
            let table = RetryTable::builder()
                .method("/test.talk.v1.Talk/Listen", run.settings(), Code::Unavailable)
                .wait_timeout(ms(1000))
                .build()
                .unwrap();
            let layer = RetryLayer::new(table).facts(&tonic_gax_tests::generated::facts());
            let mut client = TonicTalkClient::new(layer.layer(channel));
            let request = Request::new(line(0)).with_resumption(resumption);
            client.listen(request).await.map(|response| Box::pin(response.into_inner()) as Lines)
        }
        Reader::SubscribedGenerated => {
            let client = TalkClient::new(channel);
            let connect = move |opening: Opening<Line, ()>| client.listen(opening.into_request());
            let updates = subscriber.subscribe(line(0), strategy, connect);
            Ok(Box::pin(updates.filter_map(|update| update.map(Update::into_message).transpose())))
        }
        Reader::SubscribedPlain => {
            let client = TonicTalkClient::new(channel);
            let connect = move |opening: Opening<Line, ()>| {
                let mut client = client.clone();
                async move { client.listen(opening.into_request()).await }
            };
            let updates = subscriber.subscribe(line(0), strategy, connect);
            Ok(Box::pin(updates.filter_map(|update| update.map(Update::into_message).transpose())))
        }
    };
    let end = match opened {
        Err(status) => Err(status),
        Ok(mut lines) => loop {
            match lines.next().await {
                Some(Ok(line)) => read.numbers.push(line.count),
                Some(Err(status)) => break Err(status),
                None => break Ok(()),
            }
        },
    };
    read.end = Some(end);
}

/// A sentence for each promise that was broken.
fn broken(run: &Run, read: &Read, open: usize) -> Vec<String> {
    let mut broken = Vec::new();
    let delivered = u32::try_from(read.numbers.len()).unwrap();
    if read.numbers != (1..=delivered).collect::<Vec<_>>() {
        broken.push(format!("messages were lost, repeated or out of order: {:?}", read.numbers));
    }
    match &read.end {
        Some(Ok(())) if delivered != run.last => {
            broken.push(format!("it ended well after {delivered} of {}", run.last));
        }
        Some(Err(status)) if !run.is_fatal() || status.message() != "fatal" => {
            broken.push(format!("it failed: {status}"));
        }
        None if run.patience > ms(3000) => broken.push("it never ended".to_owned()),
        _ => {}
    }
    if open > 0 {
        broken.push(format!("{open} streams are open at the server"));
    }
    broken
}

async fn outcome(run: Run, reader: Reader) -> SeedOutcome {
    let plans = Arc::new(Mutex::new(run.plans.iter().cloned().collect()));
    let handler = Server { last: run.last, plans, open: Arc::default() };
    let script = Script::of(run.replies.clone()).then_always(Duration::ZERO, Reply::Pass);
    let server = VirtualServer::serving(TalkServer::new(handler.clone()), script);
    let mut got = Read::default();
    drop(timeout(run.patience, read(&run, reader, server.channel(), &mut got)).await);
    // The last resets reach the server, and a message that it waits to send.
    sleep(ms(100)).await;
    let mut outcome = SeedOutcome::of(format!("{reader:?} {run:?}\n{got:?}"));
    outcome.broken = broken(&run, &got, handler.open.load(Ordering::Relaxed));
    outcome
}

fn all(test: &'static str, reader: Reader) {
    let draw = |seed| Run::draw(seed, reader);
    Seeds::of(test, 250).run_schedules(
        |seed| draw(seed).schedule(),
        |seed, schedule| virtual_time().block_on(outcome(draw(seed).with(schedule), reader)),
    );
}

#[test]
fn streams_of_the_generated_client() {
    all("streams_of_the_generated_client", Reader::Generated);
}

#[test]
fn streams_over_the_layer() {
    all("streams_over_the_layer", Reader::Layered);
}

#[test]
fn subscriptions_over_the_generated_client() {
    all("subscriptions_over_the_generated_client", Reader::SubscribedGenerated);
}

#[test]
fn subscriptions_over_tonic_s_client() {
    all("subscriptions_over_tonic_s_client", Reader::SubscribedPlain);
}

/// Ends and replies of every kind are drawn at all.
#[test]
fn streams_that_are_drawn() {
    let runs: Vec<Run> = (0..1000).map(|seed| Run::draw(seed, Reader::SubscribedPlain)).collect();
    let count = |of: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| of(run)).count();
    for end in [End::Good, End::Down, End::Fatal, End::Silence] {
        assert!(count(&|run| run.plans.iter().any(|plan| plan.end == end)) > 50, "{end:?}");
    }
    assert!(count(&|run| run.plans.is_empty() && run.replies.is_empty()) > 0);
    assert!(count(&|run| run.replies.iter().any(|reply| matches!(reply, Reply::Break(Break::Close)))) > 50);
    assert!(count(&|run| run.tokens.is_some() && !run.is_fatal()) > 50);
}
