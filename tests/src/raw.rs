//! An HTTP/2 server written frame by frame, which does to a connection what no library would.

use crate::{MemoryConnector, VirtualClock};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio_stream::StreamExt as _;
use tonic::transport::Channel;
use tonic_gax::testing::{Pipe, Pipes};

/// Something that the server sends, or does, once a request is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawFrame {
    /// Response headers: HTTP status 200.
    Headers,
    /// Response headers of another HTTP status, of three digits.
    HttpStatus(u16),
    /// Response headers that announce a body of so many bytes, from 0 to 9.
    Announce(u8),
    /// A good reply in full: headers, an empty message, `grpc-status: 0`.
    Good,
    /// A status alone, with this pushback if there is one.
    Status(u8, Option<&'static str>),
    /// A status with any number of pushbacks.
    Pushed {
        /// The status.
        code: u8,
        /// The values of `grpc-retry-pushback-ms`.
        pushbacks: &'static [&'static str],
        /// Whether it comes in headers, without anything before it, or in trailers.
        alone: bool,
    },
    /// A status in trailers.
    Trailers(u8),
    /// A whole message of nothing.
    Message,
    /// So many of them in one frame.
    Messages(usize),
    /// A part of a message.
    Data,
    /// The stream is reset for that reason.
    Reset(u32),
    /// The connection ends for that reason. The last stream that was looked at is the request's own, or,
    /// if not `taken`, the one before it.
    GoAway {
        /// The reason.
        reason: u32,
        /// Whether the request's stream was looked at.
        taken: bool,
    },
    /// The connection is dropped.
    Drop,
    /// Response headers that no HPACK decoder can read.
    Garbage,
    /// Response headers of more bytes than a client takes by default.
    LongHeaders,
    /// Response headers that go on in more frames than a client takes.
    ContinuationFlood,
    /// Nothing happens for a while.
    Wait(Duration),
    /// Nothing happens before so many bytes of the request's body have come, or its end.
    Read(usize),
    /// Nothing happens before the request's body has ended.
    ReadAll,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawRequest {
    /// The number of its connection, from 1.
    pub connection: u32,
    /// Its stream's.
    pub stream: u32,
    /// When.
    pub at: Duration,
    /// The part of its body that has come.
    pub body: Vec<u8>,
    /// Whether that is all of it.
    pub has_ended: bool,
    /// Why the client has reset its stream.
    pub reset: Option<u32>,
}

/// A server that plays one list of frames for each request, in the order in which they come. Requests
/// beyond the last list get a good reply.
#[derive(Debug)]
pub struct RawServer {
    pipes: Pipes,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    /// The server's first SETTINGS.
    settings: Vec<u8>,
    plays: Mutex<VecDeque<Vec<RawFrame>>>,
    requests: Mutex<Vec<RawRequest>>,
    /// When the client asked whether the server is there.
    pings: Mutex<Vec<Duration>>,
    /// Whether clients may only ping as grpc-go allows by default.
    counts_pings: bool,
    /// When it has ended a connection for too many pings.
    goodbyes: Mutex<Vec<Duration>>,
    clock: VirtualClock,
}

impl RawServer {
    /// A server of these lists.
    pub fn start(plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        Self::with_settings(Vec::new(), false, plays)
    }

    /// A server of these lists that counts pings as
    /// [grpc-go](https://github.com/grpc/grpc-go/blob/master/internal/transport/http2_server.go) does by default: while it sends nothing, one in five
    /// minutes with a call in flight, one in two hours without. The third that comes too early ends the connection.
    pub fn counting_pings(plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        Self::with_settings(Vec::new(), true, plays)
    }

    /// A server of these lists, no connection of which may have more than so many streams at a time.
    pub fn with_stream_limit(streams: u32, plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        let settings = [MAX_CONCURRENT_STREAMS.to_be_bytes().as_slice(), &streams.to_be_bytes()].concat();
        Self::with_settings(settings, false, plays)
    }

    fn with_settings(
        settings: Vec<u8>,
        counts_pings: bool,
        plays: impl IntoIterator<Item = Vec<RawFrame>>,
    ) -> Self {
        let plays = Mutex::new(plays.into_iter().collect());
        let (requests, pings, goodbyes) = (Mutex::default(), Mutex::default(), Mutex::default());
        let clock = VirtualClock::start();
        let state = Arc::new(State { settings, plays, requests, pings, counts_pings, goodbyes, clock });
        let pipes = Pipes::new();
        let mut accepted = pipes.incoming();
        let accepting = Arc::clone(&state);
        tokio::spawn(async move {
            let mut number = 0;
            while let Some(Ok(io)) = accepted.next().await {
                number += 1;
                let state = Arc::clone(&accepting);
                tokio::spawn(async move {
                    // However the connection ends, the test sees it from the other side.
                    let rule = PingRule::default();
                    drop(Connection { io, number, state, waiting: VecDeque::new(), rule }.run().await);
                });
            }
        });
        Self { pipes, state }
    }

    /// A channel to it.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.pipes.channel()
    }

    /// An HTTP client of it that speaks HTTP/2 only, and asks every five seconds whether the server is there.
    #[must_use]
    pub fn http_client<B>(&self) -> Client<MemoryConnector, B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let connector = MemoryConnector::to(self.pipes.clone());
        let mut builder = Client::builder(TokioExecutor::new());
        builder.http2_only(true).timer(TokioTimer::new());
        builder.http2_keep_alive_interval(Duration::from_secs(5));
        builder.http2_keep_alive_timeout(Duration::from_secs(1)).build(connector)
    }

    /// Makes connections to it, for channels of other kinds.
    pub fn connector(&self) -> impl Fn() -> TokioIo<Pipe<DuplexStream>> + Send + 'static {
        let pipes = self.pipes.clone();
        move || pipes.connect().unwrap()
    }

    /// For each request, the number of the connection that it came over, from 1.
    #[must_use]
    pub fn requests(&self) -> Vec<u32> {
        self.seen().into_iter().map(|request| request.connection).collect()
    }

    /// When each request came.
    #[must_use]
    pub fn times(&self) -> Vec<Duration> {
        self.seen().into_iter().map(|request| request.at).collect()
    }

    /// When each `PING` of a client came.
    #[must_use]
    pub fn pings(&self) -> Vec<Duration> {
        self.state.pings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When it has ended a connection for too many pings.
    #[must_use]
    pub fn goodbyes(&self) -> Vec<Duration> {
        self.state.goodbyes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The requests, in the order in which they came.
    #[must_use]
    pub fn seen(&self) -> Vec<RawRequest> {
        self.state.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Connection {
    io: DuplexStream,
    number: u32,
    state: Arc<State>,
    /// Requests that came while the server was busy with another one.
    waiting: VecDeque<u32>,
    rule: PingRule,
}

/// A connection's pings, as grpc-go remembers them.
#[derive(Debug, Default)]
struct PingRule {
    last: Option<Duration>,
    strikes: u32,
    has_sent: bool,
    open: HashSet<u32>,
}

impl PingRule {
    /// A ping has come; returns whether it is one too many.
    fn is_too_many(&mut self, now: Duration) -> bool {
        let last = self.last.replace(now);
        if std::mem::take(&mut self.has_sent) {
            self.strikes = 0;
            return false;
        }
        let pause = Duration::from_secs(if self.open.is_empty() { 2 * 60 * 60 } else { 5 * 60 });
        if last.is_some_and(|last| last + pause > now) {
            self.strikes += 1;
        }
        self.strikes > 2
    }

    /// A frame of a stream has gone out.
    fn sent(&mut self, frame: RawFrame, stream: u32) {
        self.has_sent = true;
        if matches!(frame, RawFrame::Good | RawFrame::Status(..) | RawFrame::Trailers(_) | RawFrame::Reset(_))
        {
            self.open.remove(&stream);
        }
    }
}

const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
const GOAWAY: u8 = 7;
/// `ENHANCE_YOUR_CALM`.
const CALM: u32 = 11;
const CONTINUATION: u8 = 9;
pub(crate) const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const MAX_CONCURRENT_STREAMS: u16 = 3;

/// `:status: 200` from HPACK's static table, and `content-type: application/grpc` written out.
const RESPONSE: &[u8] = b"\x88\x00\x0ccontent-type\x10application/grpc";
/// A header that counts for 34 bytes.
const SHORT_HEADER: &[u8] = b"\x00\x01x\x01y";
/// There is no header of index 0.
const INVALID_INDEX: &[u8] = b"\x80";
/// `content-length`, written out, with a value of one byte.
const CONTENT_LENGTH: &[u8] = b"\x00\x0econtent-length\x01";
/// `grpc-status: 0`, written out.
const TRAILERS: &[u8] = b"\x00\x0bgrpc-status\x010";

/// A header written out, neither indexed nor compressed.
fn header(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    [&[0, length(name)], name.as_bytes(), &[length(value)], value.as_bytes()].concat()
}

impl Connection {
    async fn run(mut self) -> io::Result<()> {
        let mut preface = [0; 24];
        self.io.read_exact(&mut preface).await?;
        let settings = self.state.settings.clone();
        self.io.write_all(&frame(SETTINGS, 0, 0, &settings)).await?;
        loop {
            self.read().await?;
            while let Some(stream) = self.waiting.pop_front() {
                if !self.play(stream).await? {
                    return Ok(());
                }
            }
        }
    }

    /// Reads a frame.
    async fn read(&mut self) -> io::Result<()> {
        let (kind, flags, stream, payload) = read_frame(&mut self.io).await?;
        match kind {
            SETTINGS if flags & ACK == 0 => self.io.write_all(&frame(SETTINGS, ACK, 0, &[])).await?,
            PING if flags & ACK == 0 => {
                let at = self.state.clock.elapsed();
                self.state.pings.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                if self.rule.is_too_many(at) && self.state.counts_pings {
                    self.state.goodbyes.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                    let last = u32::MAX >> 1;
                    let goodbye = [&last.to_be_bytes()[..], &CALM.to_be_bytes(), b"too_many_pings"].concat();
                    self.io.write_all(&frame(GOAWAY, 0, 0, &goodbye)).await?;
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                self.io.write_all(&frame(PING, ACK, 0, &payload)).await?;
            }
            HEADERS => {
                self.rule.open.insert(stream);
                let at = self.state.clock.elapsed();
                let (connection, has_ended) = (self.number, flags & END_STREAM != 0);
                let request = RawRequest { connection, stream, at, body: Vec::new(), has_ended, reset: None };
                self.state.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                self.waiting.push_back(stream);
            }
            DATA => {
                self.change(stream, |request| {
                    request.body.extend(payload);
                    request.has_ended |= flags & END_STREAM != 0;
                });
            }
            RST_STREAM => {
                self.rule.open.remove(&stream);
                let reason = payload.first_chunk().map(|reason| u32::from_be_bytes(*reason));
                self.change(stream, |request| request.reset = reason);
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks at a request of this connection, or changes it.
    fn change<R>(&self, stream: u32, change: impl FnOnce(&mut RawRequest) -> R) -> Option<R> {
        let mut requests = self.state.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = |request: &&mut RawRequest| (request.connection, request.stream) == (self.number, stream);
        requests.iter_mut().rev().find(mine).map(change)
    }

    /// Reads on until the request's body is so long, or has ended, or its stream was reset.
    async fn read_body(&mut self, stream: u32, bytes: usize) -> io::Result<()> {
        let is_there = |request: &mut RawRequest| {
            request.body.len() >= bytes || request.has_ended || request.reset.is_some()
        };
        while self.change(stream, is_there) == Some(false) {
            self.read().await?;
        }
        Ok(())
    }

    /// Plays the next list; returns whether the connection goes on.
    async fn play(&mut self, stream: u32) -> io::Result<bool> {
        let frames = self.state.plays.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        for frame in frames.unwrap_or_else(|| vec![RawFrame::Good]) {
            match frame {
                RawFrame::Wait(time) => tokio::time::sleep(time).await,
                RawFrame::Read(bytes) => self.read_body(stream, bytes).await?,
                RawFrame::ReadAll => self.read_body(stream, usize::MAX).await?,
                RawFrame::Drop => return Ok(false),
                sent => {
                    self.io.write_all(&sent.written(stream)).await?;
                    self.rule.sent(sent, stream);
                }
            }
        }
        Ok(true)
    }
}

impl RawFrame {
    /// The bytes of a frame that is sent for a stream; none for anything else.
    pub(crate) fn written(self, stream: u32) -> Vec<u8> {
        const LAST: u8 = END_HEADERS | END_STREAM;
        let frame = |kind, flags, payload: &[u8]| frame(kind, flags, stream, payload);
        let status = |code: u8| header("grpc-status", &code.to_string());
        let pushback = |value: &&str| header("grpc-retry-pushback-ms", value);
        match self {
            RawFrame::Headers => frame(HEADERS, END_HEADERS, RESPONSE),
            RawFrame::HttpStatus(status) => {
                frame(HEADERS, END_HEADERS, &header(":status", &status.to_string()))
            }
            RawFrame::Announce(length) => {
                frame(HEADERS, END_HEADERS, &[RESPONSE, CONTENT_LENGTH, &[b'0' + length]].concat())
            }
            RawFrame::Good => {
                let (head, message) = (frame(HEADERS, END_HEADERS, RESPONSE), frame(DATA, 0, &[0; 5]));
                [head, message, frame(HEADERS, LAST, TRAILERS)].concat()
            }
            RawFrame::Status(code, value) => {
                let pushback = value.as_ref().map(pushback).unwrap_or_default();
                frame(HEADERS, LAST, &[RESPONSE, &status(code), &pushback].concat())
            }
            RawFrame::Pushed { code, pushbacks, alone } => {
                let mut headers = if alone { RESPONSE.to_vec() } else { Vec::new() };
                headers.extend(status(code));
                headers.extend(pushbacks.iter().flat_map(pushback));
                frame(HEADERS, LAST, &headers)
            }
            RawFrame::Trailers(code) => frame(HEADERS, LAST, &status(code)),
            RawFrame::Message => frame(DATA, 0, &[0; 5]),
            RawFrame::Messages(count) => frame(DATA, 0, &[0; 5].repeat(count)),
            RawFrame::Data => frame(DATA, 0, &[0, 0, 0, 0, 9, 1]),
            RawFrame::Reset(reason) => frame(RST_STREAM, 0, &reason.to_be_bytes()),
            RawFrame::GoAway { reason, taken } => {
                let last = if taken { stream } else { stream.saturating_sub(2) };
                self::frame(GOAWAY, 0, 0, &[last.to_be_bytes(), reason.to_be_bytes()].concat())
            }
            RawFrame::Garbage => frame(HEADERS, END_HEADERS, INVALID_INDEX),
            RawFrame::LongHeaders => {
                frame(HEADERS, END_HEADERS, &[RESPONSE, &SHORT_HEADER.repeat(1000)].concat())
            }
            RawFrame::ContinuationFlood => {
                [frame(HEADERS, 0, RESPONSE), frame(CONTINUATION, 0, &[]).repeat(1000)].concat()
            }
            RawFrame::Drop | RawFrame::Wait(_) | RawFrame::Read(_) | RawFrame::ReadAll => Vec::new(),
        }
    }
}

/// A frame as it is written.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), payload].concat()
}

/// Reads a frame: its kind, its flags, its stream and its payload.
pub(crate) async fn read_frame(io: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    io.read_exact(&mut head).await?;
    let [a, b, c, kind, flags, stream @ ..] = head;
    let mut payload = vec![0; usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap()];
    io.read_exact(&mut payload).await?;
    Ok((kind, flags, u32::from_be_bytes(stream), payload))
}
