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
    pub(crate) number: u32,
}

/// A request that reached the server.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) request: RequestNumber,
    /// When, from the script's start.
    pub(crate) at: Duration,
    /// The `grpc-timeout` header.
    pub(crate) timeout: Option<String>,
    /// The attempts before it, by the `grpc-previous-rpc-attempts` header.
    pub(crate) previous_attempts: u32,
    /// What is done about it.
    pub(crate) turn: Turn,
}

/// Turns that are taken one after the other. After the last one, it is repeated, or all of them are. Clones share them.
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
    /// Whether all turns are repeated.
    is_cycle: bool,
}

impl Script {
    /// A script that hangs until it is told otherwise, and tells each event to the channel.
    pub(crate) fn new(events: UnboundedSender<Event>) -> Self {
        let last = RequestNumber { start: 0, number: 0 };
        let state = State { began: Stopwatch::start(), last, turns: VecDeque::new(), is_cycle: false };
        Self { state: Arc::new(Mutex::new(state)), events }
    }

    /// Starts over with these turns, of which the last is repeated; returns the number of this start.
    pub(crate) fn restart(&self, turns: &[Turn]) -> u32 {
        self.start(turns, false)
    }

    /// Starts over with these turns, all of which are repeated.
    pub(crate) fn cycle(&self, turns: &[Turn]) {
        self.start(turns, true);
    }

    fn start(&self, turns: &[Turn], is_cycle: bool) -> u32 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let start = state.last.start + 1;
        let last = RequestNumber { start, number: 0 };
        let turns = turns.iter().copied().collect();
        *state = State { began: Stopwatch::start(), last, turns, is_cycle };
        start
    }

    /// Takes the next turn for a request; comes back when it is to get a good reply.
    pub(super) async fn play<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let header = |name| request.metadata().get(name).and_then(|value| value.to_str().ok());
        let previous = header("grpc-previous-rpc-attempts").and_then(|number| number.parse().ok());
        let (arrival, began) = self.next(header("grpc-timeout"), previous.unwrap_or(0));
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

    fn next(&self, timeout: Option<&str>, previous_attempts: u32) -> (Arrival, Stopwatch) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = state.turns.pop_front();
        if state.is_cycle || state.turns.is_empty() {
            state.turns.extend(turn);
        }
        state.last.number += 1;
        let arrival = Arrival {
            request: state.last,
            at: state.began.elapsed(),
            timeout: timeout.map(ToOwned::to_owned),
            previous_attempts,
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
