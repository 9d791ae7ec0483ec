//! An HTTP/2 server written frame by frame that serves the streams of a connection side by side, as the attempts of a
//! hedged call need it, and writes down when a client resets one of them.

use crate::VirtualClock;
use crate::raw::{
    ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RESPONSE, RST_STREAM, RawFrame, SETTINGS, TRAILERS,
    header,
};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf, split};
use tokio_stream::StreamExt as _;
use tonic::transport::Channel;
use tonic_gax::testing::Pipes;

/// A request, as the server saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawStream {
    /// When it came.
    pub at: Duration,
    /// Why and when the client reset its stream.
    pub reset: Option<(u32, Duration)>,
}

/// A server that plays one list of frames for each request, in the order in which they come, and each for itself: a
/// [`RawFrame::Wait`] holds up no other. Requests beyond the last list get nothing.
#[derive(Debug)]
pub struct RawStreams {
    pipes: Pipes,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    plays: Mutex<VecDeque<Vec<RawFrame>>>,
    seen: Mutex<Vec<RawStream>>,
    clock: VirtualClock,
}

impl State {
    fn change<R>(&self, change: impl FnOnce(&mut Vec<RawStream>) -> R) -> R {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RawStreams {
    /// A server of these lists.
    pub fn start(plays: impl IntoIterator<Item = Vec<RawFrame>>) -> Self {
        let plays = Mutex::new(plays.into_iter().collect());
        let state = Arc::new(State { plays, seen: Mutex::default(), clock: VirtualClock::start() });
        let pipes = Pipes::new();
        let (mut accepted, accepting) = (pipes.incoming(), Arc::clone(&state));
        tokio::spawn(async move {
            while let Some(Ok(io)) = accepted.next().await {
                // However the connection ends, the test sees it from the other side.
                tokio::spawn(serve(io, Arc::clone(&accepting)));
            }
        });
        Self { pipes, state }
    }

    /// A channel to it.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.pipes.channel()
    }

    /// Makes connections to it, for clients of another kind.
    #[must_use]
    pub fn connector(&self) -> Pipes {
        self.pipes.clone()
    }

    /// The requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<RawStream> {
        self.state.change(|seen| seen.clone())
    }
}

type Writer = Arc<tokio::sync::Mutex<WriteHalf<DuplexStream>>>;

async fn serve(io: DuplexStream, state: Arc<State>) -> io::Result<()> {
    let (mut reader, writer) = split(io);
    let writer = Arc::new(tokio::sync::Mutex::new(writer));
    let mut preface = [0; 24];
    reader.read_exact(&mut preface).await?;
    write(&writer, SETTINGS, 0, 0, &[]).await?;
    let mut places = HashMap::new();
    loop {
        let (kind, flags, stream, payload) = read(&mut reader).await?;
        match kind {
            SETTINGS if flags & ACK == 0 => write(&writer, SETTINGS, ACK, 0, &[]).await?,
            PING if flags & ACK == 0 => write(&writer, PING, ACK, 0, &payload).await?,
            HEADERS => {
                let request = RawStream { at: state.clock.elapsed(), reset: None };
                let place = state.change(|seen| {
                    seen.push(request);
                    seen.len() - 1
                });
                places.insert(stream, place);
                let frames = state.plays.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                tokio::spawn(play(frames.unwrap_or_default(), stream, Arc::clone(&writer)));
            }
            RST_STREAM => {
                let reason = u32::from_be_bytes(*payload.first_chunk().unwrap());
                let reset = Some((reason, state.clock.elapsed()));
                state.change(|seen| seen[places[&stream]].reset = reset);
            }
            _ => {}
        }
    }
}

async fn read(reader: &mut ReadHalf<DuplexStream>) -> io::Result<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    reader.read_exact(&mut head).await?;
    let [a, b, c, kind, flags, stream @ ..] = head;
    let mut payload = vec![0; usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap()];
    reader.read_exact(&mut payload).await?;
    Ok((kind, flags, u32::from_be_bytes(stream), payload))
}

async fn write(writer: &Writer, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let bytes = [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), payload].concat();
    writer.lock().await.write_all(&bytes).await
}

async fn play(frames: Vec<RawFrame>, stream: u32, writer: Writer) -> io::Result<()> {
    const LAST: u8 = END_HEADERS | END_STREAM;
    for frame in frames {
        match frame {
            RawFrame::Wait(time) => tokio::time::sleep(time).await,
            RawFrame::Headers => write(&writer, HEADERS, END_HEADERS, stream, RESPONSE).await?,
            RawFrame::Message => write(&writer, DATA, 0, stream, &[0; 5]).await?,
            RawFrame::Good => {
                write(&writer, HEADERS, END_HEADERS, stream, RESPONSE).await?;
                write(&writer, DATA, 0, stream, &[0; 5]).await?;
                write(&writer, HEADERS, LAST, stream, TRAILERS).await?;
            }
            RawFrame::Trailers(code) => {
                write(&writer, HEADERS, LAST, stream, &header("grpc-status", &code.to_string())).await?;
            }
            RawFrame::Status(code, pushback) => {
                let pushback = pushback.map(|value| header("grpc-retry-pushback-ms", value));
                let status = header("grpc-status", &code.to_string());
                let headers = [RESPONSE, &status, &pushback.unwrap_or_default()].concat();
                write(&writer, HEADERS, LAST, stream, &headers).await?;
            }
            other => unimplemented!("{other:?} is about a connection, and RawServer plays it"),
        }
    }
    Ok(())
}
