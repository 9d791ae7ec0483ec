//! An HTTP/2 server written frame by frame.

use super::acceptor::{Acceptor, Stream};
use super::frames::{
    ACK, DATA, END_STREAM, ENHANCE_YOUR_CALM, Frame, GOAWAY, HEADERS, MAX_CONCURRENT_STREAMS, PING, PREFACE,
    RST_STREAM, SETTINGS, frame, goaway, setting,
};
use super::pipes::{Pipes, wait};
use super::raw_frame::RawFrame;
use gax_driver::__private::{Clock, Locked};
use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf, split};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tonic::transport::Channel;

/// A request, as a [`RawServer`] saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawRequest {
    /// The number of its connection, from 1.
    pub connection: u32,
    /// Its stream's.
    pub stream: u32,
    /// When it came, from the server's start on.
    pub at: Duration,
    /// The part of its body that has come.
    pub body: Vec<u8>,
    /// `true` if that is all of it.
    pub has_ended: bool,
    /// Why the client has reset its stream, and when.
    pub reset: Option<(u32, Duration)>,
}

/// A server that plays one list of frames for each request, in the order in which they come, and each for itself: a
/// [`RawFrame::Wait`] holds up no other. Requests beyond the last list get a good reply. It does to a connection what no library would.
///
/// # Examples
///
/// ```
/// use gax_testing::{RawFrame, RawServer};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// // The first response can't be read, the second ends in the middle of a message.
/// let server = RawServer::start([vec![RawFrame::Garbage], vec![RawFrame::Headers, RawFrame::Data, RawFrame::Drop]]);
/// let channel = server.channel();
/// # drop(channel);
/// assert!(server.seen().is_empty());
/// # }
/// ```
#[derive(Debug)]
pub struct RawServer {
    pipes: Pipes,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    /// The server's first `SETTINGS`.
    settings: Vec<u8>,
    clock: Clock,
    /// `true` if clients may only ping as grpc-go allows by default.
    counts_pings: bool,
    log: Locked<Log>,
}

#[derive(Debug, Default)]
struct Log {
    plays: VecDeque<Vec<RawFrame>>,
    requests: Vec<RawRequest>,
    pings: Vec<Duration>,
    goodbyes: Vec<Duration>,
}

impl RawServer {
    /// A server of these lists.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        Self::with_settings(Vec::new(), false, plays)
    }

    /// A server of these lists that counts pings as
    /// [grpc-go](https://github.com/grpc/grpc-go/blob/master/internal/transport/http2_server.go) does by default: while it sends nothing, one in five
    /// minutes with a call in flight, one in two hours without. The third that comes too early ends the connection.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn counting_pings(plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        Self::with_settings(Vec::new(), true, plays)
    }

    /// A server of these lists, no connection of which may have more than so many streams at a time.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn with_stream_limit(streams: u32, plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        Self::with_settings(setting(MAX_CONCURRENT_STREAMS, streams), false, plays)
    }

    fn with_settings(
        settings: Vec<u8>,
        counts_pings: bool,
        plays: impl IntoIterator<Item = Vec<RawFrame>>,
    ) -> Self {
        let log = Locked::new(Log { plays: plays.into_iter().collect(), ..Log::default() });
        let state = Arc::new(State { settings, counts_pings, clock: Clock::start(), log });
        let pipes = Pipes::new();
        let (mut number, accepting) = (0, Arc::clone(&state));
        tokio::spawn(Acceptor::of(&pipes).each(move |io| {
            number += 1;
            let (reader, writer) = split(io);
            let connection = Arc::new(Connection {
                writer: tokio::sync::Mutex::new(writer),
                number,
                state: Arc::clone(&accepting),
                rule: Locked::default(),
                arrived: Notify::new(),
                dropped: Notify::new(),
                hung: Notify::new(),
            });
            connection.run(reader)
        }));
        Self { pipes, state }
    }

    gax_text::getters! { self:
        /// A channel to it.
        pub channel: Channel = self.pipes.channel();

        /// Makes connections to it, for clients of another kind. They have to speak HTTP/2 from the start.
        pub connector: Pipes = self.pipes.clone();

        /// For each request, the number of the connection that it came over, from 1.
        pub requests: Vec<u32> = self.seen().into_iter().map(|request| request.connection).collect();

        /// When each request came.
        pub times: Vec<Duration> = self.seen().into_iter().map(|request| request.at).collect();

        /// When each `PING` of a client came.
        pub pings: Vec<Duration> = self.state.log.change(|log| log.pings.clone());

        /// When it has ended a connection for too many pings.
        pub goodbyes: Vec<Duration> = self.state.log.change(|log| log.goodbyes.clone());

        /// The requests, in the order in which they came.
        pub seen: Vec<RawRequest> = self.state.log.change(|log| log.requests.clone());
    }
}

struct Connection {
    writer: tokio::sync::Mutex<WriteHalf<Box<dyn Stream>>>,
    number: u32,
    state: Arc<State>,
    rule: Locked<PingRule>,
    /// Something has come of a request.
    arrived: Notify,
    /// The script drops the connection.
    dropped: Notify,
    /// The script lets it hang.
    hung: Notify,
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

    /// A frame of a stream has been sent.
    fn sent(&mut self, frame: RawFrame, stream: u32) {
        self.has_sent = true;
        if matches!(frame, RawFrame::Good | RawFrame::Status(..) | RawFrame::Trailers(_) | RawFrame::Reset(_))
        {
            self.open.remove(&stream);
        }
    }
}

impl Connection {
    /// Serves it to its end. However it ends, the test sees it from the other side.
    async fn run(self: Arc<Self>, reader: ReadHalf<Box<dyn Stream>>) {
        let mut plays = JoinSet::new();
        tokio::select! {
            biased;
            () = self.dropped.notified() => {}
            () = self.hung.notified() => self.dropped.notified().await,
            _ = self.read(reader, &mut plays) => {}
        }
    }

    async fn read(
        self: &Arc<Self>,
        mut reader: ReadHalf<Box<dyn Stream>>,
        plays: &mut JoinSet<io::Result<()>>,
    ) -> io::Result<()> {
        reader.read_exact(&mut [0; PREFACE]).await?;
        self.write(&frame(SETTINGS, 0, 0, &self.state.settings)).await?;
        loop {
            let Frame { kind, flags, stream, payload } = Frame::read(&mut reader).await?;
            let now = self.state.clock.elapsed();
            match kind {
                SETTINGS if flags & ACK == 0 => self.write(&frame(SETTINGS, ACK, 0, &[])).await?,
                PING if flags & ACK == 0 => {
                    self.state.log.change(|log| log.pings.push(now));
                    if self.rule.change(|rule| rule.is_too_many(now)) && self.state.counts_pings {
                        self.state.log.change(|log| log.goodbyes.push(now));
                        let goodbye = goaway(u32::MAX >> 1, ENHANCE_YOUR_CALM, b"too_many_pings");
                        return self.write(&frame(GOAWAY, 0, 0, &goodbye)).await;
                    }
                    self.write(&frame(PING, ACK, 0, &payload)).await?;
                }
                HEADERS => {
                    self.rule.change(|rule| rule.open.insert(stream));
                    let (connection, has_ended) = (self.number, flags & END_STREAM != 0);
                    let request =
                        RawRequest { connection, stream, at: now, body: Vec::new(), has_ended, reset: None };
                    let play = self.state.log.change(|log| {
                        log.requests.push(request);
                        log.plays.pop_front()
                    });
                    let play = play.unwrap_or_else(|| vec![RawFrame::Good]);
                    plays.spawn(Arc::clone(self).play(play, stream));
                }
                DATA => self.change(stream, |request| {
                    request.body.extend(payload);
                    request.has_ended |= flags & END_STREAM != 0;
                }),
                RST_STREAM => {
                    self.rule.change(|rule| rule.open.remove(&stream));
                    let reason = payload.first_chunk().map(|reason| u32::from_be_bytes(*reason));
                    self.change(stream, |request| request.reset = reason.map(|reason| (reason, now)));
                }
                _ => {}
            }
        }
    }

    async fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.writer.lock().await.write_all(bytes).await
    }

    /// Looks at a request of this connection, or changes it.
    fn find<R>(&self, stream: u32, change: impl FnOnce(&mut RawRequest) -> R) -> Option<R> {
        let mine = |request: &&mut RawRequest| (request.connection, request.stream) == (self.number, stream);
        self.state.log.change(|log| log.requests.iter_mut().rev().find(mine).map(change))
    }

    fn change(&self, stream: u32, change: impl FnOnce(&mut RawRequest)) {
        self.find(stream, change);
        self.arrived.notify_waiters();
    }

    /// Waits until the request's body is so long, or has ended, or its stream was reset.
    async fn has_read(&self, stream: u32, bytes: usize) {
        loop {
            let arrived = self.arrived.notified();
            let is_there = |request: &mut RawRequest| {
                request.body.len() >= bytes || request.has_ended || request.reset.is_some()
            };
            if self.find(stream, is_there) != Some(false) {
                return;
            }
            arrived.await;
        }
    }

    /// Plays a list for a request.
    async fn play(self: Arc<Self>, frames: Vec<RawFrame>, stream: u32) -> io::Result<()> {
        for frame in frames {
            match frame {
                RawFrame::Wait(time) => wait(time).await,
                RawFrame::Read(bytes) => self.has_read(stream, bytes).await,
                RawFrame::ReadAll => self.has_read(stream, usize::MAX).await,
                RawFrame::Drop => self.dropped.notify_one(),
                RawFrame::Hang => self.hung.notify_one(),
                sent => {
                    self.write(&sent.written(stream)).await?;
                    self.rule.change(|rule| rule.sent(sent, stream));
                }
            }
        }
        Ok(())
    }
}
