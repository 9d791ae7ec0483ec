//! What a server does with one request after the other.

use super::stopwatch::Stopwatch;
use gax_retry::Code;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tonic::{Request, Status};

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It gets that code, after a while.
    Reply(Duration, Code),
    /// It gets no reply.
    Hang,
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Turn::Reply(Duration::ZERO, code) => write!(f, "{code} at once"),
            Turn::Reply(after, code) => write!(f, "{code} after {}", crate::render::Ms(*after)),
            Turn::Hang => f.write_str("no reply"),
        }
    }
}

/// What a server sees of a request.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// It has come.
    Arrived(Arrival),
    /// It is over: it got its reply, or nobody waits for that any more.
    Over { request: RequestNumber, at: Duration, is_cancelled: bool },
}

/// Which of a script's requests: they are counted from 1, and anew from each start of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestNumber {
    pub(crate) start: u32,
    pub(crate) number: usize,
}

/// A request that reached the server.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) request: RequestNumber,
    /// When, from the script's start.
    pub(crate) at: Duration,
    /// The `grpc-timeout` header.
    pub(crate) timeout: Option<String>,
    /// What is done about it.
    pub(crate) turn: Turn,
}

/// Turns that are taken one after the other, the last one again and again. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    state: Arc<Mutex<State>>,
    events: UnboundedSender<Event>,
}

#[derive(Debug)]
struct State {
    began: Stopwatch,
    /// The last request.
    last: RequestNumber,
    turns: VecDeque<Turn>,
}

impl Script {
    /// A script that hangs until it is told otherwise, and tells each event to the channel.
    pub(crate) fn new(events: UnboundedSender<Event>) -> Self {
        let last = RequestNumber { start: 0, number: 0 };
        let state = State { began: Stopwatch::start(), last, turns: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)), events }
    }

    /// Starts over with these turns; returns the number of this start.
    pub(crate) fn restart(&self, turns: &[Turn]) -> u32 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let start = state.last.start + 1;
        let last = RequestNumber { start, number: 0 };
        *state = State { began: Stopwatch::start(), last, turns: turns.iter().copied().collect() };
        start
    }

    /// Takes the next turn for a request; comes back when it is to get a good reply.
    pub(super) async fn play<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let timeout = request.metadata().get("grpc-timeout").and_then(|value| value.to_str().ok());
        let (arrival, began) = self.next(timeout);
        let turn = arrival.turn;
        let mut serving = Serving { events: &self.events, request: arrival.request, began, has_reply: false };
        // Nobody listens when the demo is over.
        let _unheard = self.events.send(Event::Arrived(arrival));
        match turn {
            Turn::Hang => std::future::pending().await,
            Turn::Reply(after, code) => {
                tokio::time::sleep(after).await;
                serving.has_reply = true;
                match code {
                    Code::Ok => Ok(()),
                    code => Err(Status::new(code.number().into(), "as the script says")),
                }
            }
        }
    }

    fn next(&self, timeout: Option<&str>) -> (Arrival, Stopwatch) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = match state.turns.len() {
            0 | 1 => state.turns.front().copied(),
            _ => state.turns.pop_front(),
        };
        state.last.number += 1;
        let arrival = Arrival {
            request: state.last,
            at: state.began.elapsed(),
            timeout: timeout.map(ToOwned::to_owned),
            turn: turn.unwrap_or(Turn::Hang),
        };
        (arrival, state.began)
    }
}

/// A request that is being served; dropped without its reply, it was cancelled.
struct Serving<'a> {
    events: &'a UnboundedSender<Event>,
    request: RequestNumber,
    began: Stopwatch,
    has_reply: bool,
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        let Self { request, began, has_reply, .. } = *self;
        let over = Event::Over { request, at: began.elapsed(), is_cancelled: !has_reply };
        let _unheard = self.events.send(over);
    }
}
