//! Endpoints, the choice among them, and the calls that wait for one: facts in, decisions out.

use crate::endpoint::{ConnectFailure, InFlight, Lifecycle, PooledConnection, Subchannel};
use crate::pool::ejection_time::EjectionTime;
use crate::pool::waiting_calls::{CallTerms, Place, Placement, WaitingCalls};
use crate::resolver::Address;
use crate::settings::{Picker, PoolSettings};
use gax_driver::__private::{Clock, RetryContext};
use gax_driver::report::DelayType;
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource as _;
use gax_wire::__private::NotConnected;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;
use tonic::codegen::StdError;

/// The endpoints.
#[derive(Default)]
pub(super) struct Endpoints {
    pub(super) is_started: bool,
    pub(super) list: Vec<Endpoint>,
    pub(super) waiting: WaitingCalls,
    /// Why there are none, and when the resolver is asked again.
    pub(super) failure: Option<ConnectFailure>,
    pub(super) resolved_at: Option<Instant>,
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
    /// `true` if the resolver's last list didn't name it.
    is_absent: bool,
    /// Calls go there until another endpoint has a connection.
    is_draining: bool,
}

/// The availability of endpoints to calls that find no stream. It is the same for all of them, and looked up once for all.
enum Availability {
    /// There is a connection.
    Connected,
    /// The first one is being made.
    Connecting,
    /// There is none, until the next one is made after that moment (`None`: never). The reason, if calls fail by it.
    Failed(Option<ConnectFailure>, Option<Instant>),
}

impl Endpoints {
    pub(super) fn find(&mut self, number: u64) -> Option<&mut Endpoint> {
        self.list.iter_mut().find(|endpoint| endpoint.subchannel.number == number)
    }

    /// Where a call goes immediately, or what it has to wait for. Calls that wait already go before it.
    #[inline]
    pub(super) fn pick(
        &mut self,
        terms: &CallTerms,
        settings: &PoolSettings,
    ) -> Result<Placement, DelayType> {
        for endpoint in &mut self.list {
            endpoint.connect_idle();
        }
        if !self.waiting.has(terms.is_suspect())
            && let Some(placement) = place(&self.list, &mut self.turn, terms, settings)
        {
            return Ok(placement);
        }
        match self.availability().waits(terms, true) {
            Ok(waits_for) => Err(waits_for),
            Err(error) => Ok(Placement::None(error)),
        }
    }

    /// Has a call wait for that, with a body of so many bytes. There may be a stream for it by now. `None`: too many wait.
    pub(super) fn join(
        &mut self,
        terms: CallTerms,
        bytes: u64,
        waits_for: DelayType,
        settings: &PoolSettings,
    ) -> Option<Place> {
        let place = self.waiting.join(terms, bytes, self.failures, waits_for);
        // Without a connection, everybody's place is as it was.
        if self.list.iter().any(Endpoint::is_connected) {
            self.dispatch(settings);
        }
        place
    }

    /// Has those that wait use what there is.
    pub(super) fn dispatch(&mut self, settings: &PoolSettings) {
        if self.waiting.is_empty() {
            return;
        }
        let availability = self.availability();
        let Self { waiting, list, turn, failures, .. } = self;
        if matches!(availability, Availability::Connected) {
            for suspects in [true, false] {
                waiting.each(suspects, |call| {
                    let is_spread = matches!(call.waits_for, DelayType::Connecting | DelayType::Backoff)
                        && call.terms.retry.as_ref().is_some_and(RetryContext::is_spread);
                    let placement = if is_spread {
                        Some(Placement::Later)
                    } else {
                        place(list, turn, &call.terms, settings)
                    };
                    placement.map(|placement| call.place(placement)).is_some()
                });
            }
        } else {
            let all = list.len().max(1);
            waiting.retain(|call| {
                // An attempt waits for the next attempt of each endpoint to connect.
                let is_new = failures.wrapping_sub(call.failures) < all;
                match availability.waits(&call.terms, is_new) {
                    Ok(kind) => call.waits(kind),
                    Err(error) => call.place(Placement::None(error)),
                }
                call.is_awaited()
            });
        }
        if !waiting.is_empty() {
            for endpoint in list {
                endpoint.extend(settings.chosen.max_connections, waiting.has(true));
            }
        }
    }

    fn availability(&self) -> Availability {
        let now = Clock::start().now().0;
        let earlier = gax_driver::__private::earlier::<Instant>;
        let mut next = self.resolved_at.filter(|_| self.list.is_empty());
        let mut failed = self.failure.as_ref().filter(|_| self.list.is_empty()).cloned();
        let (mut is_connecting, mut is_paused) = (self.list.is_empty() && failed.is_none(), false);
        for endpoint in &self.list {
            if endpoint.is_connected() {
                return Availability::Connected;
            }
            let (health, life) = (endpoint.subchannel.health.error(), &endpoint.life);
            if health.is_none() {
                next = earlier(next, life.next_attempt(now));
            }
            // One that may recover counts more than those that can't.
            match health.map(ConnectFailure::of).or_else(|| life.failure().cloned()) {
                Some(failure) if failed.as_ref().is_none_or(|other| other.is_final || !failure.is_final) => {
                    failed = Some(failure);
                }
                Some(_) => {}
                None if life.is_in_backoff() => is_paused = true,
                None => is_connecting = true,
            }
        }
        match failed {
            _ if is_connecting => Availability::Connecting,
            failed => Availability::Failed(failed.filter(|_| !is_paused), next),
        }
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
        let mut before: Vec<_> = std::mem::take(&mut self.list).into_iter().map(Some).collect();
        let address =
            |endpoint: &Option<Endpoint>| endpoint.as_ref()?.subchannel.addresses().first().cloned();
        let places: HashMap<_, _> = before
            .iter()
            .enumerate()
            .filter_map(|(place, endpoint)| Some((address(endpoint)?, place)))
            .collect();
        let mut new = Vec::new();
        for group in groups {
            let place = match settings.chosen.picker {
                Picker::First => before.iter_mut().position(|endpoint| {
                    endpoint.as_mut().is_some_and(|endpoint| endpoint.follow(&group, is_announced))
                }),
                // Of one address each.
                Picker::RoundRobin | Picker::LeastInFlight => {
                    group.first().and_then(|address| places.get(address).copied())
                }
            };
            let known = place.and_then(|place| before.get_mut(place)?.take());
            self.list.push(known.unwrap_or_else(|| {
                let subchannel = make(group);
                new.push(Arc::clone(&subchannel));
                Endpoint::new(subchannel, settings)
            }));
        }
        let mut before: Vec<_> = before.into_iter().flatten().collect();
        if settings.chosen.picker != Picker::First {
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

    /// Returns whether the resolver has left out an endpoint that is used.
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

/// Where a call goes that has a connection. `None`: there is none with a free stream.
fn place(
    list: &[Endpoint],
    turn: &mut usize,
    terms: &CallTerms,
    settings: &PoolSettings,
) -> Option<Placement> {
    if !terms.needs_stream {
        return list.iter().any(Endpoint::is_connected).then_some(Placement::Ready);
    }
    let connection = choose(list, turn, terms, settings.chosen.picker)?;
    Some(Placement::To(InFlight::new(connection, terms.is_suspect())))
}

/// The connection that a call goes to, of those with a free stream.
fn choose(
    list: &[Endpoint],
    turn: &mut usize,
    terms: &CallTerms,
    picker: Picker,
) -> Option<Arc<PooledConnection>> {
    let all = list.len();
    let start = match picker {
        Picker::First => 0,
        Picker::RoundRobin => *turn,
        // Half of the bits: steps can be added to it.
        Picker::LeastInFlight => usize::try_from(ThreadJitter.next_u64() >> 33).unwrap_or_default(),
    };
    let mut best: Option<(Rank, usize, &Arc<PooledConnection>)> = None;
    let mut second: Option<(usize, &Arc<PooledConnection>)> = None;
    for step in 0..all {
        let place = (start + step) % all;
        let Some((rank, connection)) = list.get(place).and_then(|endpoint| endpoint.rank(terms)) else {
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
    *turn = place + 1;
    let busy = |(place, _): &(usize, _)| list.get(*place).map_or(usize::MAX, Endpoint::in_flight);
    let (_, chosen) = std::iter::once((place, connection)).chain(second).min_by_key(busy)?;
    Some(Arc::clone(chosen))
}

impl Availability {
    /// Returns what a call waits for that has found no stream. `is_new`: it came after the attempts to connect that have failed.
    ///
    /// # Errors
    ///
    /// Why it doesn't wait.
    fn waits(&self, terms: &CallTerms, is_new: bool) -> Result<DelayType, NotConnected> {
        let (failure, next) = match self {
            Self::Connected if terms.is_suspect() => return Ok(DelayType::OwnConnection),
            Self::Connected => return Ok(DelayType::Stream),
            Self::Connecting => return Ok(DelayType::Connecting),
            Self::Failed(failure, next) => (failure.as_ref(), *next),
        };
        let is_held = next.is_some_and(|next| terms.outwaits(next));
        let has_time = |next| is_held || terms.retry.as_ref().is_some_and(|retry| retry.has_time_until(next));
        match failure {
            Some(failure) if !terms.waits_for_ready => {
                let waits = is_new && !failure.is_final && next.is_some_and(has_time);
                if !waits {
                    return Err(failure.error.clone());
                }
            }
            _ => {}
        }
        Ok(if is_held { DelayType::Backoff } else { DelayType::Connecting })
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
            life: Lifecycle::new(settings.chosen.backoff),
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
            self.hurry();
        }
        true
    }

    /// There is nothing to wait for.
    pub(super) fn hurry(&mut self) {
        if self.life.hurry() {
            self.subchannel.wanted.notify_one();
        }
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

    /// Calls wait: if all its streams are taken, one more connection is made. For suspects, which share none, that may be one more than
    /// others may have.
    fn extend(&mut self, max_connections: usize, has_suspects: bool) {
        let connections = &self.connections;
        for connection in connections {
            connection.traffic().keep_watching(true);
        }
        // One that waits for its health has streams too. One that has ended is about to be counted as lost, which decides what follows it.
        let is_full = connections.iter().all(|one| !one.end().has_ended() && !one.has_room(has_suspects));
        let most = max_connections.saturating_add(usize::from(has_suspects));
        if is_full && connections.len() < most && !self.is_draining && self.life.want() {
            self.subchannel.wanted.notify_one();
        }
    }

    pub(super) fn is_ejected(&self, now: Instant) -> bool {
        self.ejection.is_out(now)
    }

    /// The first connection with a free stream. `None`: there is none.
    fn rank(&self, terms: &CallTerms) -> Option<(Rank, &Arc<PooledConnection>)> {
        let is_alone = terms.is_suspect();
        let connection = self.connections.iter().find(|one| one.is_usable() && one.has_room(is_alone))?;
        let rank = if self.ejection.was_out() && self.is_ejected(Clock::start().now().0) {
            Rank::Ejected
        } else if terms.retry.as_ref().is_some_and(|retry| retry.has_failed_at(connection.peer())) {
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
