//! One connection through a fault proxy.

use super::acceptor::Stream;
use super::connection_fault::{ConnectionFault, Direction, When};
use super::frames::{
    ACK, CANCEL, DATA, END_HEADERS, END_STREAM, Frame, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE, frame, goaway, header, setting,
};
use super::pipes::wait;
use gax_driver::__private::{Clock, Locked};
use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::sync::{Notify, mpsc};

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Close,
    Reset,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Reset
    }
}

/// The proxy's side of a connection.
pub(super) struct Link<W> {
    faults: Vec<ConnectionFault>,
    is_http2: bool,
    clock: Clock,
    state: Locked<LinkState>,
    /// A stream has begun.
    opened: Notify,
    to_client: tokio::sync::Mutex<Writer<W>>,
    to_server: tokio::sync::Mutex<Writer<W>>,
}

struct Writer<W> {
    io: W,
    sent: u64,
}

/// Forwards a connection until it ends.
pub(super) async fn run(
    mut client: Box<dyn Stream>,
    server: impl Future<Output = io::Result<Box<dyn Stream>>>,
    faults: Vec<ConnectionFault>,
    commands: mpsc::UnboundedReceiver<ConnectionFault>,
) {
    let reply = faults.iter().find_map(|fault| match fault {
        ConnectionFault::Reply(bytes) => Some(bytes.clone()),
        _ => None,
    });
    if let Some(bytes) = reply {
        if client.read(&mut [0; 1024]).await.is_ok() {
            client.write_all(&bytes).await.ok();
            client.shutdown().await.ok();
        }
        return;
    }
    let Ok(mut server) = server.await else { return };
    let end = {
        let (from_client, to_client) = split(&mut client);
        let (from_server, to_server) = split(&mut server);
        let link = Link::new(to_client, to_server, faults);
        let requests = async {
            match link.forward(Direction::Request, from_client).await {
                Ok(()) => pending().await,
                Err(end) => end,
            }
        };
        let responses = async { link.forward(Direction::Response, from_server).await.err() };
        tokio::select! {
            biased;
            end = link.watch(commands) => end,
            end = requests => end,
            end = responses => end.unwrap_or(End::Close),
        }
    };
    if end == End::Reset {
        client.resets();
        server.resets();
    }
}

impl<W: AsyncWrite + Unpin> Link<W> {
    fn new(to_client: W, to_server: W, faults: Vec<ConnectionFault>) -> Self {
        let state = LinkState { happened: vec![false; faults.len()], ..LinkState::default() };
        let writer = |io| tokio::sync::Mutex::new(Writer { io, sent: 0 });
        Self {
            is_http2: faults.iter().any(ConnectionFault::is_http2),
            faults,
            clock: Clock::start(),
            state: Locked::new(state),
            opened: Notify::new(),
            to_client: writer(to_client),
            to_server: writer(to_server),
        }
    }

    /// The first fault that has not happened and is due by then.
    fn take_due(&self, is_due: impl Fn(When) -> bool) -> Option<&ConnectionFault> {
        self.state.change(|state| {
            let faults = self.faults.iter().zip(&mut state.happened);
            let mut due = faults.filter(|(fault, happened)| !**happened && fault.when().is_some_and(&is_due));
            let (fault, happened) = due.next()?;
            *happened = true;
            Some(fault)
        })
    }

    async fn act_on(&self, is_due: impl Fn(When) -> bool) -> Result<(), End> {
        while let Some(fault) = self.take_due(&is_due) {
            self.act(fault).await?;
        }
        Ok(())
    }

    async fn act(&self, fault: &ConnectionFault) -> Result<(), End> {
        match fault {
            ConnectionFault::Close(_) => Err(End::Close),
            ConnectionFault::Reset(_) => Err(End::Reset),
            ConnectionFault::HalfOpen(_) => {
                self.state.change(|state| state.is_silent = true);
                Ok(())
            }
            ConnectionFault::Stall { direction, time, .. } => {
                self.state.change(|state| state.stalled.push((*direction, *time)));
                Ok(())
            }
            ConnectionFault::GoAway { reason, data, .. } => {
                let last = self.state.change(|state| {
                    state.is_leaving = true;
                    state.last_stream
                });
                self.inject(&frame(GOAWAY, 0, 0, &goaway(last, *reason, data))).await?;
                if *reason == 0 { self.end_if_idle() } else { Err(End::Close) }
            }
            ConnectionFault::StreamLimit(when, streams) if *when != When::Start => {
                self.state.change(|state| state.acknowledgements += 1);
                self.inject(&frame(SETTINGS, 0, 0, &setting(MAX_CONCURRENT_STREAMS, *streams))).await
            }
            _ => Ok(()),
        }
    }

    fn end_if_idle(&self) -> Result<(), End> {
        let is_over = self.state.change(|state| state.is_leaving && state.open.is_empty());
        if is_over { Err(End::Close) } else { Ok(()) }
    }

    /// Sends the client frames that the server knows nothing about.
    async fn inject(&self, frames: &[u8]) -> Result<(), End> {
        let mut writer = self.to_client.lock().await;
        writer.io.write_all(frames).await?;
        Ok(writer.io.flush().await?)
    }

    /// Acts at their time, and on command.
    async fn watch(&self, mut commands: mpsc::UnboundedReceiver<ConnectionFault>) -> End {
        loop {
            let now = self.clock.elapsed();
            if let Err(end) = self.at(now).await {
                return end;
            }
            let next = self.next_moment();
            let moment = async {
                match next {
                    Some(next) => wait(next.saturating_sub(now)).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                Some(fault) = commands.recv() => {
                    if let Err(end) = self.act(&fault).await {
                        return end;
                    }
                }
                () = self.opened.notified() => {}
                () = moment => {}
            }
        }
    }

    /// Acts on what is due by then.
    async fn at(&self, now: Duration) -> Result<(), End> {
        self.act_on(|when| match when {
            When::Start | When::Requests(0) => true,
            When::Time(time) => time <= now,
            _ => false,
        })
        .await?;
        let Some((after, reset)) = self.stream_limit() else { return Ok(()) };
        while let Some(stream) = self.state.change(|state| {
            let (_, stream) = *state.begun.front().filter(|(begun, _)| *begun + after <= now)?;
            state.begun.pop_front();
            let is_open = state.open.remove(&stream);
            state.ended.extend(is_open.then_some(stream));
            Some(is_open.then_some(stream))
        }) {
            let Some(stream) = stream else { continue };
            let end = match reset {
                Some(reason) => frame(RST_STREAM, 0, stream, &reason.to_be_bytes()),
                None => frame(HEADERS, END_HEADERS | END_STREAM, stream, &header("grpc-status", "0")),
            };
            self.inject(&end).await?;
            let mut server = self.to_server.lock().await;
            server.io.write_all(&frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())).await?;
        }
        Ok(())
    }

    fn stream_limit(&self) -> Option<(Duration, Option<u32>)> {
        self.faults.iter().find_map(|fault| match fault {
            ConnectionFault::EndStreams { after, reset } => Some((*after, *reset)),
            _ => None,
        })
    }

    /// When something is due next.
    fn next_moment(&self) -> Option<Duration> {
        self.state.change(|state| {
            let faults = self.faults.iter().zip(&state.happened).filter(|(_, happened)| !**happened);
            let timed = faults.filter_map(|(fault, _)| match fault.when() {
                Some(When::Time(time)) => Some(time),
                _ => None,
            });
            let oldest = self.stream_limit().zip(state.begun.front());
            timed.chain(oldest.map(|((after, _), (begun, _))| *begun + after)).min()
        })
    }

    /// Forwards one direction until its sender has ended it.
    async fn forward(&self, direction: Direction, mut from: impl AsyncRead + Unpin) -> Result<(), End> {
        let ended = if self.is_http2 {
            self.forward_frames(direction, &mut from).await
        } else {
            self.forward_bytes(direction, &mut from).await
        };
        ended?;
        if self.state.change(|state| state.is_silent) {
            pending::<()>().await;
        }
        if direction == Direction::Request {
            self.to_server.lock().await.io.shutdown().await?;
        }
        Ok(())
    }

    async fn forward_bytes(
        &self,
        direction: Direction,
        from: &mut (impl AsyncRead + Unpin),
    ) -> Result<(), End> {
        let mut buffer = vec![0; 1 << 14];
        loop {
            let read = from.read(&mut buffer).await?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
            self.write(direction, bytes).await?;
        }
    }

    async fn forward_frames(
        &self,
        direction: Direction,
        from: &mut (impl AsyncRead + Unpin),
    ) -> Result<(), End> {
        if direction == Direction::Request {
            let mut preface = [0; PREFACE];
            from.read_exact(&mut preface).await?;
            self.write(direction, &preface).await?;
        }
        loop {
            let frame = match Frame::read(from).await {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                frame => frame?,
            };
            match direction {
                Direction::Request => self.request_frame(&frame).await?,
                Direction::Response => self.response_frame(frame).await?,
            }
        }
    }

    async fn request_frame(&self, frame: &Frame) -> Result<(), End> {
        let now = self.clock.elapsed();
        let Some(is_new) = self.state.change(|state| state.receive(frame, now)) else { return Ok(()) };
        let is_limited = self.faults.iter().any(|fault| matches!(fault, ConnectionFault::Window(_)));
        if is_limited && frame.kind == DATA && !frame.payload.is_empty() {
            let length = u32::try_from(frame.payload.len()).unwrap_or_default();
            self.inject(&super::frames::frame(WINDOW_UPDATE, 0, frame.stream, &length.to_be_bytes())).await?;
        }
        self.write(Direction::Request, &frame.bytes()).await?;
        if is_new {
            self.opened.notify_one();
            let requests = self.state.change(|state| state.requests);
            self.act_on(|when| matches!(when, When::Requests(due) if due <= requests)).await?;
        }
        self.end_if_idle()
    }

    async fn response_frame(&self, mut frame: Frame) -> Result<(), End> {
        if frame.kind == SETTINGS
            && !frame.has(ACK)
            && !self.state.change(|state| std::mem::replace(&mut state.has_settings, true))
        {
            frame.payload.extend(self.faults.iter().flat_map(|fault| match fault {
                ConnectionFault::StreamLimit(When::Start, streams) => {
                    setting(MAX_CONCURRENT_STREAMS, *streams)
                }
                ConnectionFault::Window(bytes) => setting(INITIAL_WINDOW_SIZE, *bytes),
                _ => Vec::new(),
            }));
        }
        let is_update = frame.kind == WINDOW_UPDATE && frame.stream > 0;
        let is_ours =
            is_update && self.faults.iter().any(|fault| matches!(fault, ConnectionFault::Window(_)));
        if is_ours || self.state.change(|state| state.ended.contains(&frame.stream)) {
            return Ok(());
        }
        let tiny = self.faults.iter().find_map(|fault| match fault {
            ConnectionFault::TinyFrames(bytes) => Some((*bytes).max(1)),
            _ => None,
        });
        match tiny.filter(|bytes| frame.kind == DATA && frame.payload.len() > *bytes) {
            Some(bytes) => {
                let pieces = frame.payload.chunks(bytes);
                let last = pieces.len() - 1;
                for (number, piece) in pieces.enumerate() {
                    let flags = if number == last { frame.flags } else { 0 };
                    self.write(Direction::Response, &super::frames::frame(DATA, flags, frame.stream, piece))
                        .await?;
                }
            }
            None => self.write(Direction::Response, &frame.bytes()).await?,
        }
        let is_last = [HEADERS, DATA].contains(&frame.kind) && frame.has(END_STREAM);
        if is_last || frame.kind == RST_STREAM {
            self.state.change(|state| state.open.remove(&frame.stream));
        }
        self.end_if_idle()
    }

    /// Forwards bytes, up to the next fault that is due at a byte, and what the fault leaves of the rest.
    async fn write(&self, direction: Direction, mut bytes: &[u8]) -> Result<(), End> {
        loop {
            let stall = self.state.change(|state| {
                let index = state.stalled.iter().position(|(stalled, _)| *stalled == direction)?;
                Some(state.stalled.remove(index).1)
            });
            match stall {
                Some(Some(time)) => wait(time).await,
                Some(None) => pending().await,
                None => {}
            }
            if self.state.change(|state| state.is_silent) {
                return Ok(());
            }
            let writer = match direction {
                Direction::Request => &self.to_server,
                Direction::Response => &self.to_client,
            };
            let mut writer = writer.lock().await;
            let sent = writer.sent;
            let end = sent + u64::try_from(bytes.len()).unwrap_or_default();
            let due = self.faults.iter().zip(self.state.change(|state| state.happened.clone()));
            let places = due.filter_map(|(fault, happened)| match fault.when() {
                Some(When::Bytes(of, place)) if of == direction && !happened => Some(place.max(sent)),
                _ => None,
            });
            let place = places.min().filter(|place| *place <= end);
            let length = usize::try_from(place.unwrap_or(end) - sent).unwrap_or_default();
            let (now, rest) = bytes.split_at(length);
            self.send(&mut writer, direction, now).await?;
            drop(writer);
            let Some(place) = place else { return Ok(()) };
            self.act_on(|when| matches!(when, When::Bytes(of, due) if of == direction && due <= place))
                .await?;
            bytes = rest;
        }
    }

    /// Sends bytes as slowly as the faults say.
    async fn send(&self, writer: &mut Writer<W>, direction: Direction, bytes: &[u8]) -> Result<(), End> {
        let (mut most, mut every) = (bytes.len().max(1), Duration::ZERO);
        for fault in &self.faults {
            match fault {
                ConnectionFault::Delay(of, time) if *of == direction => wait(*time).await,
                ConnectionFault::Drip { direction: of, bytes, every: pause } if *of == direction => {
                    (most, every) = ((*bytes).max(1), *pause);
                }
                _ => {}
            }
        }
        for piece in bytes.chunks(most) {
            writer.io.write_all(piece).await?;
            writer.io.flush().await?;
            writer.sent += u64::try_from(piece.len()).unwrap_or_default();
            wait(every).await;
        }
        Ok(())
    }
}

/// The state of a connection: what has come over it, and which of its faults have happened.
#[derive(Default)]
struct LinkState {
    /// By fault, whether it has happened.
    happened: Vec<bool>,
    is_silent: bool,
    stalled: Vec<(Direction, Option<Duration>)>,
    requests: u32,
    last_stream: u32,
    open: BTreeSet<u32>,
    /// When each stream began, where streams are ended after a time.
    begun: VecDeque<(Duration, u32)>,
    /// Streams that the proxy has ended.
    ended: BTreeSet<u32>,
    is_leaving: bool,
    has_settings: bool,
    /// Acknowledgements of settings that the server knows nothing about.
    acknowledgements: u32,
}

impl LinkState {
    /// A frame of the client; whether it begins a request. `None`: the server is not to get it.
    fn receive(&mut self, frame: &Frame, now: Duration) -> Option<bool> {
        if frame.kind == SETTINGS && frame.has(ACK) && self.acknowledgements > 0 {
            self.acknowledgements -= 1;
            return None;
        }
        let is_later = frame.stream > self.last_stream;
        if is_later && self.is_leaving || self.ended.contains(&frame.stream) {
            return None;
        }
        let is_new = is_later && frame.kind == HEADERS;
        if is_new {
            self.last_stream = frame.stream;
            self.requests += 1;
            self.open.insert(frame.stream);
            self.begun.push_back((now, frame.stream));
        } else if frame.kind == RST_STREAM {
            self.open.remove(&frame.stream);
        }
        Some(is_new)
    }
}
