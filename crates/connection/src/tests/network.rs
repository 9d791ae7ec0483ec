//! Servers in memory, whose frames the tests write by hand.

use crate::{Address, Connection, ConnectionBuilder, ConnectionError, ResolveFuture, Resolver};
use gax_driver::__private::Clock;
use gax_driver::observe::{ConnectionChange, ConnectionEvent, OperationObserver};
use gax_retry::jitter::{JitterSource, NoJitter};
use gax_retry::operation::{self, Action, AttemptResult, Operation, Ready};
use gax_retry::{Code, Policy, RetrySettings};
use http::{Request, Response};
use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tonic::body::Body;
use tonic::codegen::StdError;
use tower_service::Service as _;

/// The outcome of a call.
pub(crate) type Reply = Result<Response<Body>, ConnectionError>;

const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;

/// Waits for something that happens, or fails instead of hanging.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(2_000), future).await.expect("it never happens")
}

pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Whatever can happen now happens.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn milliseconds(time: u64) -> Duration {
    Duration::from_millis(time)
}

pub(crate) fn now() -> Instant {
    Clock::start().began()
}

/// Addresses of servers in memory: ports.
pub(crate) fn addresses(ports: &[u16]) -> Vec<Address> {
    ports.iter().map(|port| Address::Tcp(([127, 0, 0, 1], *port).into())).collect()
}

/// The servers that connections are made to, and what is known of them.
pub(crate) struct Network {
    dialed: mpsc::UnboundedReceiver<Server>,
    pub(crate) facts: Arc<Facts>,
}

/// The knowledge of the connections, and what is set for them.
pub(crate) struct Facts {
    dialing: mpsc::UnboundedSender<Server>,
    refused: Mutex<HashSet<u16>>,
    is_slow: AtomicBool,
    events: Mutex<Vec<String>>,
    pub(crate) reasons: Mutex<Vec<String>>,
    pub(crate) ready: Notify,
    ports: Mutex<Result<Vec<u16>, &'static str>>,
    resolved: AtomicUsize,
    has_changed: Notify,
}

impl Network {
    /// The resolver names these ports.
    pub(crate) fn new(ports: &[u16]) -> Self {
        let (dialing, dialed) = mpsc::unbounded_channel();
        let facts = Facts {
            dialing,
            refused: Mutex::default(),
            is_slow: AtomicBool::new(false),
            events: Mutex::default(),
            reasons: Mutex::default(),
            ready: Notify::new(),
            ports: Mutex::new(Ok(ports.to_vec())),
            resolved: AtomicUsize::new(0),
            has_changed: Notify::new(),
        };
        Self { dialed, facts: Arc::new(facts) }
    }

    /// A connection that is resolved again only for a reason.
    pub(crate) fn connection(&self) -> ConnectionBuilder {
        let facts = Arc::clone(&self.facts);
        let connector = move |address: Address| {
            let facts = Arc::clone(&facts);
            async move {
                let Address::Tcp(address) = address else { return Err(io::ErrorKind::Unsupported.into()) };
                let port = address.port();
                if facts.refused.lock().unwrap().contains(&port) {
                    return Err(io::ErrorKind::ConnectionRefused.into());
                }
                if facts.is_slow.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
                let (client, io) = tokio::io::duplex(1 << 16);
                let error = Arc::<Mutex<Option<io::ErrorKind>>>::default();
                let is_stuck = Arc::<AtomicBool>::default();
                let (errors, sticks) = (Arc::clone(&error), Arc::clone(&is_stuck));
                let client = ClientIo { io: client, error: errors, is_stuck: sticks };
                drop(facts.dialing.send(Server { port, io, error, is_stuck }));
                Ok(client)
            }
        };
        Connection::to("http://library")
            .resolver(Arc::clone(&self.facts))
            .resolve_every(None)
            .connector(connector)
            .observer(Arc::clone(&self.facts) as Arc<dyn OperationObserver>)
    }

    /// The next server that is dialed.
    pub(crate) async fn dialed(&mut self) -> Server {
        soon(self.dialed.recv()).await.expect("the network lives as long as its connector")
    }

    /// The next server that is dialed, as soon as its connection is there.
    pub(crate) async fn server(&mut self) -> Server {
        let mut server = self.dialed().await;
        server.open(None).await;
        server
    }

    /// Lets the next server close its connection before a request can be sent over it.
    pub(crate) async fn close_next(&mut self) {
        let server = self.server().await;
        let facts = Arc::clone(&self.facts);
        tokio::spawn(async move {
            facts.ready.notified().await;
            drop(server);
        });
    }

    /// Returns whether nobody dials for so long.
    pub(crate) async fn is_quiet(&mut self, time: Duration) -> bool {
        timeout(time, self.dialed.recv()).await.is_err()
    }

    /// From now on these ports take no connections.
    pub(crate) fn refuse(&self, ports: &[u16]) {
        *self.facts.refused.lock().unwrap() = ports.iter().copied().collect();
    }

    /// From now on no connection is made, and none is refused.
    pub(crate) fn be_slow(&self) {
        self.facts.is_slow.store(true, Ordering::Relaxed);
    }

    /// From now on the resolver names these ports.
    pub(crate) fn resolve_to(&self, ports: &[u16]) {
        *self.facts.ports.lock().unwrap() = Ok(ports.to_vec());
    }

    pub(crate) fn resolve_to_error(&self, error: &'static str) {
        *self.facts.ports.lock().unwrap() = Err(error);
    }

    /// The resolver says that something has changed.
    pub(crate) fn announce(&self) {
        self.facts.has_changed.notify_one();
    }

    /// How often the resolver was asked since the last time that this was.
    pub(crate) fn resolved(&self) -> usize {
        self.facts.resolved.swap(0, Ordering::Relaxed)
    }

    /// The events since the last time: the port and what became of it.
    pub(crate) fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.facts.events.lock().unwrap())
    }
}

impl Resolver for Arc<Facts> {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, StdError>> {
        self.resolved.fetch_add(1, Ordering::Relaxed);
        let ports = self.ports.lock().unwrap().clone();
        Box::pin(std::future::ready(ports.map(|ports| addresses(&ports)).map_err(Into::into)))
    }

    fn changed(&self) -> ResolveFuture<'_, ()> {
        Box::pin(self.has_changed.notified())
    }
}

impl OperationObserver for Facts {
    fn connection_event(&self, event: &ConnectionEvent<'_>) {
        let port = event.peer().trim_start_matches("127.0.0.1:");
        let what = match event.change() {
            ConnectionChange::Ready { .. } => {
                self.ready.notify_one();
                "ready".to_owned()
            }
            ConnectionChange::Failed { error, .. } => format!("failed: {error}"),
            ConnectionChange::Lost { reason } => {
                self.reasons.lock().unwrap().push(reason.to_string());
                format!("lost: {}", reason.name())
            }
            ConnectionChange::Ejected { time } => format!("ejected for {time:?}"),
            _ => return,
        };
        self.events.lock().unwrap().push(format!("{port} {what}"));
    }
}

/// The client's end of a connection, and the error that it ends with.
struct ClientIo {
    io: DuplexStream,
    error: Arc<Mutex<Option<io::ErrorKind>>>,
    /// Nothing can be written.
    is_stuck: Arc<AtomicBool>,
}

impl AsyncRead for ClientIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        let has_ended = matches!(read, Poll::Ready(Ok(()))) && buffer.filled().len() == before;
        match *self.error.lock().unwrap() {
            Some(error) if has_ended => Poll::Ready(Err(error.into())),
            _ => read,
        }
    }
}

impl AsyncWrite for ClientIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_stuck.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// A server's end of a connection. Dropping it closes it.
pub(crate) struct Server {
    pub(crate) port: u16,
    io: DuplexStream,
    error: Arc<Mutex<Option<io::ErrorKind>>>,
    is_stuck: Arc<AtomicBool>,
}

/// A frame of HTTP/2.
pub(crate) struct Frame {
    pub(crate) kind: u8,
    flags: u8,
    pub(crate) stream: u32,
    payload: Vec<u8>,
}

impl Server {
    /// Sends the SETTINGS, with that limit of streams.
    pub(crate) async fn open(&mut self, max_streams: Option<u32>) {
        let mut preface = [0; 24];
        self.io.read_exact(&mut preface).await.unwrap();
        self.limit(max_streams).await;
    }

    pub(crate) async fn limit(&mut self, max_streams: Option<u32>) {
        let limit = max_streams.map(|limit| [&[0, 3], &limit.to_be_bytes()[..]].concat());
        self.write(SETTINGS, 0, 0, &limit.unwrap_or_default()).await;
    }

    pub(crate) async fn say(&mut self, text: &[u8]) {
        self.io.write_all(text).await.unwrap();
    }

    pub(crate) async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let frame = [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat();
        self.io.write_all(&frame).await.unwrap();
    }

    /// The next frame; `None`: the client has closed the connection.
    pub(crate) async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        soon(self.io.read_exact(&mut head)).await.ok()?;
        let [_, high, middle, kind, flags, a, b, c, d] = head;
        let mut payload = vec![0; usize::from(u16::from_be_bytes([high, middle]))];
        self.io.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes([a, b, c, d]), payload })
    }

    /// The next frame of that kind, which is no acknowledgement.
    async fn next(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.read().await?;
            if frame.kind == kind && (kind == HEADERS || frame.flags & ACK == 0) {
                return Some(frame);
            }
        }
    }

    /// The stream of the next request. Over a connection that is closed none comes.
    pub(crate) async fn request(&mut self) -> u32 {
        match self.next(HEADERS).await {
            Some(request) => request.stream,
            None => std::future::pending().await,
        }
    }

    /// Waits until a stream is reset.
    pub(crate) async fn reset(&mut self) -> u32 {
        self.next(RST_STREAM).await.expect("a reset").stream
    }

    /// Waits for a ping, and replies.
    pub(crate) async fn ping(&mut self) {
        let ping = self.next(PING).await.expect("a ping");
        self.write(PING, ACK, 0, &ping.payload).await;
    }

    /// Sends bytes that say nothing.
    pub(crate) async fn murmur(&mut self) {
        self.write(PING, ACK, 0, &[0; 8]).await;
    }

    /// Waits until the client has closed the connection.
    pub(crate) async fn closed(&mut self) {
        while self.read().await.is_some() {}
    }

    /// Responds with HTTP's 200 and these fields.
    pub(crate) async fn respond(&mut self, stream: u32, fields: &[(&str, &str)]) {
        self.headers(stream, true, fields, false).await;
    }

    /// Responds with a status alone.
    pub(crate) async fn refuse(&mut self, stream: u32, status: &str) {
        let fields = [("content-type", "application/grpc"), ("grpc-status", status)];
        self.headers(stream, true, &fields, true).await;
    }

    /// Carries out the next request.
    pub(crate) async fn serve(&mut self) {
        let stream = self.request().await;
        self.refuse(stream, "0").await;
    }

    /// Ends a response.
    pub(crate) async fn end(&mut self, stream: u32, status: &str) {
        self.headers(stream, false, &[("grpc-status", status)], true).await;
    }

    async fn headers(&mut self, stream: u32, is_head: bool, fields: &[(&str, &str)], is_last: bool) {
        let mut block = if is_head { vec![0x88] } else { Vec::new() };
        for (name, value) in fields {
            let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
            block.extend([vec![0], text(name), text(value)].concat());
        }
        self.write(HEADERS, 4 | u8::from(is_last), stream, &block).await;
    }

    /// Sends a message of gRPC.
    pub(crate) async fn message(&mut self, stream: u32, message: &[u8]) {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        self.write(DATA, 0, stream, &[&[0], &length[..], message].concat()).await;
    }

    pub(crate) async fn reset_stream(&mut self, stream: u32, reason: u32) {
        self.write(RST_STREAM, 0, stream, &reason.to_be_bytes()).await;
    }

    /// Takes no streams behind that one any longer.
    pub(crate) async fn goaway(&mut self, last: u32, reason: u32, data: &str) {
        let payload = [&last.to_be_bytes(), &reason.to_be_bytes()[..], data.as_bytes()].concat();
        self.write(GOAWAY, 0, 0, &payload).await;
    }

    /// The client can write nothing any longer.
    pub(crate) fn stick(&self) {
        self.is_stuck.store(true, Ordering::Relaxed);
    }

    /// Resets the connection.
    pub(crate) fn crash(self) {
        self.fail(io::ErrorKind::ConnectionReset);
    }

    /// Has the connection end with that error at the client.
    pub(crate) fn fail(self, error: io::ErrorKind) {
        *self.error.lock().unwrap() = Some(error);
    }
}

/// Calls without a timeout.
pub(crate) fn call(connection: &Connection) -> JoinHandle<Reply> {
    let request = Request::post("/library.Books/Get").body(Body::empty()).unwrap();
    tokio::spawn(connection.clone().call(request))
}

/// Calls with that timeout, and drops the call after that time. `None`: it was dropped.
pub(crate) async fn call_within(connection: &Connection, grpc_timeout: u64, time: u64) -> Option<Reply> {
    let request = Request::post("/library.Books/Get").header("grpc-timeout", format!("{grpc_timeout}m"));
    let call = connection.clone().call(request.body(Body::empty()).unwrap());
    timeout(milliseconds(time), call).await.ok()
}

/// The outcome of a call.
pub(crate) async fn reply(call: JoinHandle<Reply>) -> Reply {
    soon(call).await.unwrap()
}

/// The error of a call, with its causes.
pub(crate) async fn error(call: JoinHandle<Reply>) -> String {
    gax_wire::__private::text_of(&reply(call).await.map(drop).unwrap_err())
}

/// A server, over a connection that carries no call yet.
pub(crate) async fn connected(network: &mut Network, connection: &Connection) -> Server {
    let connecting = ready(connection);
    let server = network.server().await;
    soon(connecting).await.unwrap().unwrap();
    server
}

/// Waits for a connection.
pub(crate) fn ready(connection: &Connection) -> JoinHandle<Result<(), ConnectionError>> {
    let connection = connection.clone();
    tokio::spawn(async move { soon(connection.ready()).await })
}

/// The clock of an operation, and no jitter.
struct World(Duration, NoJitter);

impl operation::World for World {
    fn now(&mut self) -> Duration {
        self.0
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        &mut self.1
    }
}

/// Calls as a retry does that was delayed so long, with that timeout.
pub(crate) fn retry(connection: &Connection, delay: Duration, rpc_timeout: Duration) -> JoinHandle<Reply> {
    let settings = RetrySettings::builder()
        .initial_retry_delay(delay)
        .max_retry_delay(delay)
        .initial_rpc_timeout(rpc_timeout)
        .max_rpc_timeout(rpc_timeout)
        .total_timeout(Duration::from_secs(360_000));
    let policy = Policy::new(&settings.build().unwrap(), Code::Unavailable);
    let mut world = World(Duration::ZERO, NoJitter);
    let (mut operation, _) = Operation::begin(&policy, None, Ready::Now);
    operation.ended(&policy, 1, AttemptResult::failed(Code::Unavailable), &mut world);
    world.0 = delay;
    let Action::Send(attempt) = operation.next(&policy, &mut world) else { panic!("it is due") };
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(attempt);
    tokio::spawn(connection.clone().call(request))
}
