//! An HTTP/2 server written frame by frame that serves the streams of a connection side by side, as the attempts of a
//! hedged call need it, and writes down when a client resets one of them.

use crate::VirtualClock;
use crate::raw::{ACK, HEADERS, PING, RST_STREAM, RawFrame, SETTINGS, frame, read_frame};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, WriteHalf, split};
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
    write(&writer, &frame(SETTINGS, 0, 0, &[])).await?;
    let mut places = HashMap::new();
    loop {
        let (kind, flags, stream, payload) = read_frame(&mut reader).await?;
        match kind {
            SETTINGS if flags & ACK == 0 => write(&writer, &frame(SETTINGS, ACK, 0, &[])).await?,
            PING if flags & ACK == 0 => write(&writer, &frame(PING, ACK, 0, &payload)).await?,
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

async fn play(frames: Vec<RawFrame>, stream: u32, writer: Writer) -> io::Result<()> {
    for frame in frames {
        match frame {
            RawFrame::Wait(time) => tokio::time::sleep(time).await,
            RawFrame::Read(_) | RawFrame::ReadAll | RawFrame::Drop | RawFrame::GoAway { .. } => {
                unreachable!("{frame:?} is about a connection, and RawServer plays it")
            }
            sent => write(&writer, &sent.written(stream)).await?,
        }
    }
    Ok(())
}

async fn write(writer: &Writer, bytes: &[u8]) -> io::Result<()> {
    writer.lock().await.write_all(bytes).await
}
