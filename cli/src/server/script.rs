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

/// A request that reached the server.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
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
    arrivals: UnboundedSender<Arrival>,
}

#[derive(Debug)]
struct State {
    began: Stopwatch,
    turns: VecDeque<Turn>,
}

impl Script {
    /// A script that hangs until it is told otherwise, and tells each arrival to the channel.
    pub(crate) fn new(arrivals: UnboundedSender<Arrival>) -> Self {
        let state = State { began: Stopwatch::start(), turns: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)), arrivals }
    }

    /// Starts over with these turns.
    pub(crate) fn restart(&self, turns: &[Turn]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { began: Stopwatch::start(), turns: turns.iter().copied().collect() };
    }

    /// Takes the next turn for a request; comes back when it is to get a good reply.
    pub(super) async fn play<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let timeout = request.metadata().get("grpc-timeout").and_then(|value| value.to_str().ok());
        let arrival = self.next(timeout);
        let turn = arrival.turn;
        // Nobody listens when the demo is over.
        let _unheard = self.arrivals.send(arrival);
        match turn {
            Turn::Hang => std::future::pending().await,
            Turn::Reply(after, code) => {
                tokio::time::sleep(after).await;
                match code {
                    Code::Ok => Ok(()),
                    code => Err(Status::new(code.number().into(), "as the script says")),
                }
            }
        }
    }

    fn next(&self, timeout: Option<&str>) -> Arrival {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = match state.turns.len() {
            0 | 1 => state.turns.front().copied(),
            _ => state.turns.pop_front(),
        };
        Arrival {
            at: state.began.elapsed(),
            timeout: timeout.map(ToOwned::to_owned),
            turn: turn.unwrap_or(Turn::Hang),
        }
    }
}
