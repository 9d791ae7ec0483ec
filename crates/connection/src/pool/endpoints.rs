//! Endpoints, the choice among them, and the calls that wait for one: facts in, decisions out.

use crate::endpoint::{InFlight, Lifecycle, PooledConnection, Subchannel};
use crate::pool::ejection_time::EjectionTime;
use crate::pool::waiting_calls::{CallTerms, Place, Placement, WaitingCalls};
use crate::resolver::Address;
use crate::settings::{Picker, PoolSettings};
use gax_driver::__house::{Clock, RetryContext};
use gax_driver::report::DelayType;
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource as _;
use gax_wire::__house::NotConnected;
use std::sync::Arc;
use tokio::time::Instant;
use tonic::codegen::StdError;

/// The endpoints.
#[derive(Default)]
pub(super) struct Endpoints {
    pub(super) is_started: bool,
    pub(super) list: Vec<Endpoint>,
    pub(super) waiting: WaitingCalls,
    /// Why there are none.
    pub(super) failure: Option<NotConnected>,
    /// How many attempts to connect have failed.
    pub(super) failures: usize,
    /// The endpoint whose turn it is.
    turn: usize,
}

/// An endpoint.
pub(super) struct Endpoint {
    pub(super) subchannel: Arc<Subchannel>,
    pub(super) life: Lifecycle,
    /// The oldest first.
    pub(super) connections: Vec<Arc<PooledConnection>>,
    pub(super) ejection: EjectionTime,
    /// Whether the resolver's last list didn't name it.
    is_absent: bool,
    /// Calls go there until another endpoint has a connection.
    is_draining: bool,
}

/// Whether endpoints are available to calls that find no stream.
enum Availability {
    /// There is a connection, or one may be there soon.
    Open,
    /// There is none, for that reason; when the next attempt begins.
    Failed(NotConnected, Option<Instant>),
}

impl Endpoints {
    pub(super) fn find(&mut self, number: u64) -> Option<&mut Endpoint> {
        self.list.iter_mut().find(|endpoint| endpoint.subchannel.number == number)
    }

    /// Where a call goes immediately; `None`: it has to wait. Calls that wait already go before it.
    #[inline]
    pub(super) fn place_now(&mut self, terms: &CallTerms, settings: &PoolSettings) -> Option<Placement> {
        for endpoint in &mut self.list {
            endpoint.connect_idle();
        }
        if self.waiting.is_empty() { self.place(terms, self.failures, settings) } else { None }
    }

    /// Has a call wait, with a body of so many bytes. There may be a stream for it by now. `None`: too many wait.
    pub(super) fn join(
        &mut self,
        terms: CallTerms,
        bytes: u64,
        settings: &PoolSettings,
    ) -> Option<(DelayType, Place)> {
        let is_connected = self.list.iter().any(Endpoint::is_connected);
        let waits_for = if is_connected { DelayType::Stream } else { DelayType::Connecting };
        let place = self.waiting.join(terms, bytes, self.failures, waits_for);
        self.dispatch(settings);
        Some((waits_for, place?))
    }

    /// Has those that wait use what there is.
    pub(super) fn dispatch(&mut self, settings: &PoolSettings) {
        let mut left = Vec::new();
        while let Some(call) = self.waiting.first() {
            let is_spread = call.waits_for == DelayType::Connecting
                && call.terms.retry.as_ref().is_some_and(RetryContext::is_spread);
            if is_spread && self.list.iter().any(Endpoint::is_connected) {
                call.place(Placement::Later);
            } else if let Some(placement) = self.place(&call.terms, call.failures, settings) {
                call.place(placement);
            } else {
                left.push(call);
                if matches!(self.availability(), Availability::Open) {
                    // Nor is there a stream for the others.
                    break;
                }
            }
        }
        if !left.is_empty() {
            for endpoint in &mut self.list {
                endpoint.extend(settings.max_connections);
            }
        }
        self.waiting.put_back(left);
    }

    fn place(&mut self, terms: &CallTerms, failures: usize, settings: &PoolSettings) -> Option<Placement> {
        if !terms.needs_stream {
            if self.list.iter().any(Endpoint::is_connected) {
                return Some(Placement::Ready);
            }
        } else if let Some(connection) = self.choose(settings.picker, terms.retry.as_ref()) {
            return Some(Placement::To(InFlight::new(connection)));
        }
        match self.availability() {
            Availability::Failed(error, next) if !terms.waits_for_ready => {
                // An attempt of a policy that retries waits for the next attempt of each endpoint to connect.
                let is_new = self.failures.wrapping_sub(failures) < self.list.len();
                let waits = |retry: &RetryContext| next.is_some_and(|next| retry.has_time_until(next));
                let waits = is_new && terms.retry.as_ref().is_some_and(waits);
                (!waits).then_some(Placement::None(error))
            }
            _ => None,
        }
    }

    /// The connection that a call goes to, of those with a free stream.
    fn choose(&mut self, picker: Picker, retry: Option<&RetryContext>) -> Option<Arc<PooledConnection>> {
        let all = self.list.len();
        let start = match picker {
            Picker::First => 0,
            Picker::RoundRobin => self.turn,
            // Half of the bits: steps can be added to it.
            Picker::LeastInFlight => usize::try_from(ThreadJitter.next_u64() >> 33).unwrap_or_default(),
        };
        let mut best: Option<(Rank, usize, &Arc<PooledConnection>)> = None;
        let mut second: Option<(usize, &Arc<PooledConnection>)> = None;
        for step in 0..all {
            let place = (start + step) % all;
            let Some((rank, connection)) = self.list.get(place).and_then(|endpoint| endpoint.rank(retry))
            else {
                continue;
            };
            if best.is_none_or(|(other, ..)| rank < other) {
                best = Some((rank, place, connection));
                second = None;
            } else if best.is_some_and(|(other, ..)| rank == other) {
                second.get_or_insert((place, connection));
            }
            let is_enough = picker != Picker::LeastInFlight || second.is_some();
            if is_enough && best.is_some_and(|(rank, ..)| rank == Rank::Good) {
                break;
            }
        }
        let (_, place, connection) = best?;
        self.turn = place + 1;
        let busy = |(place, _): &(usize, _)| self.list.get(*place).map_or(usize::MAX, Endpoint::in_flight);
        let (_, chosen) = std::iter::once((place, connection)).chain(second).min_by_key(busy)?;
        Some(Arc::clone(chosen))
    }

    fn availability(&self) -> Availability {
        let now = || Clock::start().now().0;
        let mut failed = self.failure.clone().filter(|_| self.list.is_empty()).map(|error| (error, None));
        for endpoint in &self.list {
            let (error, next) = match (endpoint.subchannel.health().error(), endpoint.life.failure()) {
                _ if endpoint.is_connected() => return Availability::Open,
                (Some(error), _) => (error, None),
                (_, Some(error)) => (error.clone(), endpoint.life.next_attempt(now())),
                (_, None) => return Availability::Open,
            };
            let next = gax_driver::__house::earlier(next, failed.and_then(|(_, next)| next));
            failed = Some((error, next));
        }
        failed.map_or(Availability::Open, |(error, next)| Availability::Failed(error, next))
    }

    /// Follows the resolver's list, given as the addresses of each endpoint. One that it doesn't name drains if it was missing before, or
    /// if the resolver has announced the change (`is_announced`). Returns the endpoints that are new.
    pub(super) fn follow(
        &mut self,
        groups: Vec<Vec<Address>>,
        settings: &PoolSettings,
        is_announced: bool,
        mut make: impl FnMut(Vec<Address>) -> Arc<Subchannel>,
    ) -> Vec<Arc<Subchannel>> {
        self.failure = None;
        let mut before = std::mem::take(&mut self.list);
        let mut new = Vec::new();
        for group in groups {
            let is_alike = |endpoint: &mut Endpoint| match settings.picker {
                Picker::First => endpoint.follow(&group, is_announced),
                Picker::RoundRobin | Picker::LeastInFlight => *endpoint.subchannel.addresses() == *group,
            };
            let place = before.iter_mut().position(is_alike);
            self.list.push(if let Some(place) = place {
                before.remove(place)
            } else {
                let subchannel = make(group);
                new.push(Arc::clone(&subchannel));
                Endpoint::new(subchannel, settings)
            });
        }
        if settings.picker != Picker::First {
            for endpoint in &mut self.list {
                (endpoint.is_absent, endpoint.is_draining) = (false, false);
            }
            for endpoint in &mut before {
                endpoint.is_draining |= !endpoint.is_connected() || endpoint.is_gone(is_announced);
            }
        }
        self.list.append(&mut before);
        new
    }

    /// Whether the resolver has left out an endpoint that is used.
    pub(super) fn misses_any(&self) -> bool {
        self.list.iter().any(|endpoint| endpoint.is_absent && !endpoint.is_draining)
    }

    /// The endpoints that are no longer needed.
    pub(super) fn retire(&mut self) -> Vec<Endpoint> {
        if !self.list.iter().any(|endpoint| endpoint.is_draining) {
            return Vec::new();
        }
        let is_followed = self.list.iter().any(|endpoint| !endpoint.is_draining && endpoint.is_connected());
        let (gone, left) = std::mem::take(&mut self.list)
            .into_iter()
            .partition(|endpoint| endpoint.is_draining && (is_followed || !endpoint.is_connected()));
        self.list = left;
        gone
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
    fn new(subchannel: Arc<Subchannel>, settings: &PoolSettings) -> Self {
        Self {
            subchannel,
            life: Lifecycle::new(settings.backoff),
            connections: Vec::new(),
            ejection: EjectionTime::default(),
            is_absent: false,
            is_draining: false,
        }
    }

    /// Follows the resolver's list, of all its addresses. Returns whether it is still the same endpoint.
    fn follow(&mut self, addresses: &[Address], is_announced: bool) -> bool {
        let is_named = |connection: &Arc<PooledConnection>| addresses.contains(connection.address());
        if self.is_draining {
            return false;
        }
        if !self.is_connected() || self.connections.iter().any(is_named) {
            self.is_absent = false;
        } else if self.is_gone(is_announced) {
            self.is_draining = true;
            return false;
        }
        if self.subchannel.follow(addresses.to_vec()) {
            self.life.moved();
            self.subchannel.wanted.notify_one();
        }
        true
    }

    /// The resolver doesn't name it. Returns whether it is gone by that: it was missing before, or the change is announced.
    fn is_gone(&mut self, is_announced: bool) -> bool {
        std::mem::replace(&mut self.is_absent, true) || is_announced
    }

    /// An endpoint without a connection gets one.
    #[inline]
    fn connect_idle(&mut self) {
        if self.connections.is_empty() && !self.is_draining && self.life.want() {
            self.subchannel.wanted.notify_one();
        }
    }

    /// Calls wait: if all its streams are taken, one more connection is made.
    fn extend(&mut self, max_connections: usize) {
        let connections = &self.connections;
        for connection in connections {
            connection.traffic().keep_watching(true);
        }
        // One that waits for its health has streams too. One that has ended is about to be counted as lost, which decides what follows it.
        let is_full =
            connections.iter().all(|connection| !connection.end().has_ended() && connection.is_full());
        if is_full && connections.len() < max_connections && !self.is_draining && self.life.want() {
            self.subchannel.wanted.notify_one();
        }
    }

    pub(super) fn is_ejected(&self, now: Instant) -> bool {
        self.ejection.is_out(now)
    }

    /// The first connection with a free stream. `None`: there is none.
    fn rank(&self, retry: Option<&RetryContext>) -> Option<(Rank, &Arc<PooledConnection>)> {
        let connection = self.connections.iter().find(|one| one.is_usable() && !one.is_full())?;
        let rank = if self.ejection.was_out() && self.is_ejected(Clock::start().now().0) {
            Rank::Ejected
        } else if retry.is_some_and(|retry| retry.has_failed_at(connection.peer())) {
            Rank::FailedBefore
        } else {
            Rank::Good
        };
        Some((rank, connection))
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connections.iter().any(|connection| connection.is_usable())
    }

    fn in_flight(&self) -> usize {
        self.connections.iter().map(|connection| connection.in_flight()).sum()
    }
}

/// Why a call doesn't wait.
pub(super) fn overcrowded() -> NotConnected {
    NotConnected::from(StdError::from(
        "too many calls are waiting for a connection: their requests exceed 64 MiB",
    ))
}
