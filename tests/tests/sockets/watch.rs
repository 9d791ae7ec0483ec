//! A watch over real sockets: its connection is killed every hundred revisions, its server starts anew every few thousand, and now
//! and then the revisions that it asks for are compacted. Each revision comes once, or the watch says that it began anew.
//!
//! `GAX_WATCH_REVISIONS` is how many revisions there are.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use allocation_counter::measure;
use gax_client::CallSettings;
use gax_retry::Code;
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::{Opening, Subscriber, SubscriptionStrategy, Update};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::codegen::BoxStream;
use tonic::transport::server::{Connected, TcpIncoming};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code as TonicCode, Request, Response, Status, Streaming};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{Setup, SocketServer, delays, line};

/// After how many revisions a connection is killed.
const KILLED_AFTER: u64 = 100;
/// After how many revisions the server starts anew.
const RESTARTED_AFTER: u64 = 3_000;
/// Of how many connections one is asked for revisions that are gone, and how many are.
const COMPACTED: (u64, u64) = (17, 50);

fn revisions() -> u64 {
    std::env::var("GAX_WATCH_REVISIONS").map_or(6_000, |count| count.parse().unwrap())
}

/// The history that a server has, over all its lives.
#[derive(Clone)]
struct History {
    last: u64,
    connections: Arc<AtomicU64>,
    /// Of each compaction, the revisions that nobody could have seen.
    compacted: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl History {
    fn new(last: u64) -> Self {
        Self { last, connections: Arc::default(), compacted: Arc::default() }
    }

    fn serve(&self, address: SocketAddr) -> SocketServer {
        let service = TalkServer::new(self.clone());
        SocketServer::start(address, |listener, _| async move {
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let incoming = incoming.map(|io| io.map(|io| Killable { io, life: Arc::default() }));
            Server::builder().add_service(service).serve_with_incoming(incoming).await.unwrap();
        })
    }
}

/// A connection that its own handler can kill: it breaks behind what is written next.
struct Killable {
    io: TcpStream,
    life: Arc<Life>,
}

#[derive(Debug, Default)]
struct Life {
    is_ending: AtomicBool,
    is_over: AtomicBool,
}

/// The switch of a connection.
#[derive(Debug, Clone)]
struct Switch(Arc<Life>);

impl Connected for Killable {
    type ConnectInfo = Switch;

    fn connect_info(&self) -> Switch {
        Switch(Arc::clone(&self.life))
    }
}

impl Killable {
    fn check(&self) -> io::Result<()> {
        let is_over = self.life.is_over.load(Ordering::Relaxed);
        if is_over { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl AsyncRead for Killable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Killable {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        let written = ready!(Pin::new(&mut self.io).poll_write(cx, bytes))?;
        self.life.is_over.store(self.life.is_ending.load(Ordering::Relaxed), Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[tonic::async_trait]
impl Talk for History {
    async fn ask(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("ask"))
    }

    async fn guess(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("guess"))
    }

    async fn listen(&self, request: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        let Switch(life) = request.extensions().get::<Switch>().unwrap().clone();
        let after = u64::from(request.into_inner().count);
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let mut compacted = self.compacted.lock().unwrap();
        let (every, length) = COMPACTED;
        if number % every == every - 1 && after + length < self.last && after > 0 {
            compacted.push((after, after + length));
            return Err(Status::out_of_range("gone"));
        }
        // From the start on: from the oldest revision that there is.
        let after = if after == 0 { compacted.last().map_or(0, |(_, oldest)| *oldest) } else { after };
        let end = (after + KILLED_AFTER).min(self.last);
        let is_last = end == self.last;
        let number = |revision: u64| u32::try_from(revision).unwrap();
        // The connection breaks as it writes the next one.
        let revisions = (after + 1..=end + u64::from(!is_last)).map(move |revision| {
            if revision > end {
                life.is_ending.store(true, Ordering::Relaxed);
            }
            Ok(line(number(revision)))
        });
        let revisions = tokio_stream::iter(revisions);
        Ok(Response::new(if is_last {
            Box::pin(revisions)
        } else {
            Box::pin(revisions.chain(tokio_stream::pending()))
        }))
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("tell"))
    }

    async fn chat(&self, _: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("chat"))
    }
}

/// Goes on behind the last revision, or from the start where that is gone.
struct Watch(u32);

impl StreamResumption for Watch {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, line: &mut Line) -> Processed {
        self.0 = line.count;
        Processed::Deliver
    }

    fn resume(&mut self, failure: &Status) -> Resume<Line> {
        if failure.code() == TonicCode::OutOfRange {
            Resume::Anew(line(0))
        } else {
            Resume::Again(line(self.0))
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        (failure.code() == TonicCode::OutOfRange).then_some(true)
    }
}

impl SubscriptionStrategy for Watch {
    type Message = ();
}

/// Whoever watches.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Watcher {
    Generated,
    Layered,
    SubscribedGenerated,
    SubscribedPlain,
}

type Updates = Pin<Box<dyn Stream<Item = Result<Update<Line>, Status>>>>;

impl Watcher {
    const ALL: [Self; 4] = [Self::Generated, Self::Layered, Self::SubscribedGenerated, Self::SubscribedPlain];

    async fn watch(self, channel: Channel) -> Result<Updates, Status> {
        let setup = Setup::new(delays(1, 1.2).max_attempts(200).build().unwrap());
        let resumption = || Resumption::new(|_: &Line| Watch(0)).without_total_timeout();
        let settings = || {
            setup.talk_listening(|listen| {
                listen.set_resumption(resumption());
            })
        };
        let subscriber = Subscriber::new(&CallSettings::new(setup.settings.clone(), [Code::Unavailable]))
            .without_total_timeout();
        Ok(match self {
            Self::Generated => {
                let client = TalkClient::with_settings(channel, settings());
                let mut restarts = 0;
                let mut lines = client.listen(line(0)).await?.into_inner();
                let (updates, received) = tokio::sync::mpsc::channel(1);
                tokio::spawn(async move {
                    while let Some(next) = lines.next().await {
                        if lines.restarts() > restarts {
                            restarts = lines.restarts();
                            updates.send(Ok(Update::Restarted)).await.unwrap();
                        }
                        updates.send(next.map(Update::Message)).await.unwrap();
                    }
                });
                Box::pin(tokio_stream::wrappers::ReceiverStream::new(received))
            }
            Self::Layered => {
                let layer = setup.layer_with_descriptors();
                let mut client = TonicTalkClient::new(layer.layer(channel));
                let request = Request::new(line(0)).with_resumption(resumption());
                let lines = client.listen(request).await?.into_inner();
                Box::pin(lines.map(|next| next.map(Update::Message)))
            }
            Self::SubscribedGenerated => {
                let client = TalkClient::new(channel);
                let connect = move |opening: Opening<Line, ()>| client.listen(opening.into_request());
                Box::pin(subscriber.subscribe(line(0), Watch(0), connect))
            }
            Self::SubscribedPlain => {
                let client = TonicTalkClient::new(channel);
                let connect = move |opening: Opening<Line, ()>| {
                    let mut client = client.clone();
                    async move { client.listen(opening.into_request()).await }
                };
                Box::pin(subscriber.subscribe(line(0), Watch(0), connect))
            }
        })
    }
}

/// Watches all revisions, of a server that starts anew after so many, and returns how often the watch began anew.
async fn watch(watcher: Watcher, last: u64, each_life: u64) -> usize {
    let history = History::new(last);
    let mut server = history.serve(SocketServer::ANY_PORT);
    let address = server.address();
    let channel = Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy();
    let mut updates = watcher.watch(channel).await.unwrap();
    let (mut seen, mut restarts, mut is_anew, mut lives) = (0, 0, false, 0);
    // A layer does not say so, but its gaps are those of the server.
    let says_so = watcher != Watcher::Layered;
    while let Some(update) = updates.next().await {
        let revision = match update.unwrap() {
            Update::Restarted => {
                (restarts, is_anew) = (restarts + 1, true);
                continue;
            }
            Update::Message(message) => u64::from(message.count),
        };
        if revision != seen + 1 {
            let gap = (seen, revision - 1);
            assert!(history.compacted.lock().unwrap().contains(&gap), "{watcher:?}: nobody knows of {gap:?}");
            assert!(!says_so || is_anew, "{watcher:?}: {gap:?} was not announced");
        }
        (seen, is_anew) = (revision, false);
        if revision / each_life > lives {
            lives += 1;
            server.kill();
            server = history.serve(address);
        }
    }
    assert_eq!(seen, last, "{watcher:?}");
    let compactions = history.compacted.lock().unwrap().len();
    assert_eq!(restarts, if says_so { compactions } else { 0 }, "{watcher:?}");
    assert!(
        history.connections.load(Ordering::Relaxed) >= last / KILLED_AFTER - 50 * compactions as u64 / 100
    );
    compactions
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn each_revision_comes_once_or_the_watch_says_that_it_began_anew() {
    for watcher in Watcher::ALL {
        let compactions = runtime().block_on(watch(watcher, revisions(), RESTARTED_AFTER));
        assert!(compactions > 1, "{watcher:?}");
    }
}

/// The most memory that a watch takes does not grow with its length.
#[test]
fn a_long_watch_takes_no_more_memory_than_a_short_one() {
    for watcher in Watcher::ALL {
        let most = |revisions| {
            let runtime = runtime();
            let watched = measure(|| {
                // The memory of a server's other lives is given back in another thread.
                runtime.block_on(watch(watcher, revisions, u64::MAX));
            });
            watched.bytes_max
        };
        most(KILLED_AFTER);
        let (short, long) = (most(10 * KILLED_AFTER), most(revisions().max(40 * KILLED_AFTER)));
        assert!(long < short + 256 * 1024, "{watcher:?}: {short} bytes at most, and then {long}");
    }
}
