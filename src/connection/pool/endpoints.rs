//! Endpoints, and the choice among them.

use crate::connection::endpoint::{Keeping, Live, State};
use crate::connection::error::SharedError;
use crate::connection::settings::Picker;
use crate::operation::Clock;
use crate::transport::FailedPeers;
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::codegen::StdError;

/// The endpoints.
#[derive(Default)]
pub(super) struct Endpoints {
    pub(super) is_started: bool,
    pub(super) list: Vec<Endpoint>,
    /// Why there are none.
    pub(super) failure: Option<SharedError>,
    pub(super) last_number: u64,
    /// The endpoint whose turn it is.
    turn: usize,
}

/// An endpoint.
pub(super) struct Endpoint {
    pub(super) keeping: Arc<Keeping>,
    pub(super) state: State,
    pub(super) lives: Vec<Arc<Live>>,
    /// Whether one more connection is being made.
    pub(super) is_extending: bool,
    pub(super) ejection: Ejected,
}

/// Until when calls avoid an endpoint.
#[derive(Default)]
pub(super) struct Ejected {
    until: Option<Instant>,
    /// For how long it was the last time.
    time: Duration,
    /// How often in a row.
    times: u32,
}

impl Ejected {
    /// It is ejected, for longer if it was before. One that was good for as long as it had been out begins anew.
    pub(super) fn begin(&mut self, first: Duration, now: Instant) -> Duration {
        if self.until.and_then(|until| until.checked_add(self.time)).is_none_or(|good| good < now) {
            self.times = 0;
        }
        self.times = (self.times + 1).min(10);
        self.time = first.saturating_mul(self.times);
        self.until = now.checked_add(self.time);
        self.time
    }
}

impl Endpoints {
    pub(super) fn find(&mut self, number: u64) -> Option<&mut Endpoint> {
        self.list.iter_mut().find(|endpoint| endpoint.keeping.number == number)
    }

    /// Every endpoint without a connection gets one.
    pub(super) fn connect_idle(&mut self) {
        for endpoint in &mut self.list {
            if matches!(endpoint.state, State::Idle) {
                // Once: a second call's wish would be left over for the time after this connection.
                endpoint.state = State::Connecting;
                endpoint.keeping.wanted.notify_one();
            }
        }
    }

    /// The endpoint that a call goes to, of those that have a connection.
    pub(super) fn choose(&mut self, picker: Picker, failed: Option<&FailedPeers>) -> Option<usize> {
        let all = self.list.len();
        let start = match picker {
            Picker::First => 0,
            Picker::RoundRobin => self.turn,
            Picker::LeastInFlight => random_below(all),
        };
        let mut best: Option<(Rank, usize)> = None;
        let mut second = None;
        for step in 0..all {
            let place = (start + step) % all;
            let Some(rank) = self.list.get(place).and_then(|endpoint| endpoint.rank(failed)) else {
                continue;
            };
            if best.is_none_or(|(other, _)| rank < other) {
                best = Some((rank, place));
                second = None;
            } else if best.is_some_and(|(other, _)| rank == other) {
                second.get_or_insert(place);
            }
            let is_enough = picker != Picker::LeastInFlight || second.is_some();
            if is_enough && best.is_some_and(|(rank, _)| rank == Rank::Good) {
                break;
            }
        }
        let (_, place) = best?;
        self.turn = (place + 1) % all;
        let busy = |place: usize| self.list.get(place).map_or(usize::MAX, Endpoint::in_flight);
        Some(second.filter(|second| busy(*second) < busy(place)).unwrap_or(place))
    }

    /// Why there is no connection; `None`: there may be one soon.
    pub(super) fn failure(&self) -> Option<SharedError> {
        let mut failure = self.failure.clone().filter(|_| self.list.is_empty());
        for endpoint in &self.list {
            match &endpoint.state {
                State::Failed(error) => failure = Some(error.clone()),
                State::Ready if endpoint.lives.iter().any(|live| live.is_unhealthy()) => {
                    failure =
                        Some(SharedError::from(StdError::from("the server says that the service is not up")));
                }
                State::Idle | State::Connecting | State::Ready => return None,
            }
        }
        failure
    }
}

/// How gladly an endpoint is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Good,
    /// The call's operation failed there before.
    FailedBefore,
    Ejected,
}

impl Endpoint {
    pub(super) fn new(keeping: Arc<Keeping>) -> Self {
        Self {
            keeping,
            state: State::Idle,
            lives: Vec::new(),
            is_extending: false,
            ejection: Ejected::default(),
        }
    }

    pub(super) fn is_ejected(&self, now: Instant) -> bool {
        self.ejection.until.is_some_and(|until| now < until)
    }

    /// `None`: it has no connection.
    fn rank(&self, failed: Option<&FailedPeers>) -> Option<Rank> {
        let live = self.lives.iter().find(|live| live.is_usable())?;
        Some(if self.ejection.until.is_some() && self.is_ejected(Clock::start().now().0) {
            Rank::Ejected
        } else if failed.is_some_and(|failed| failed.contain(live.peer())) {
            Rank::FailedBefore
        } else {
            Rank::Good
        })
    }

    pub(super) fn least_busy(&self) -> Option<&Arc<Live>> {
        self.lives.iter().filter(|live| live.is_usable()).min_by_key(|live| live.in_flight())
    }

    fn in_flight(&self) -> usize {
        self.lives.iter().map(|live| live.in_flight()).sum()
    }
}

/// A random place of so many.
fn random_below(all: usize) -> usize {
    let all = u64::try_from(all).unwrap_or(u64::MAX).max(1);
    usize::try_from(ThreadJitter.next_u64() % all).unwrap_or_default()
}
