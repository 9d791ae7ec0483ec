//! The endpoints of a connection, and which of them a call goes to.

use crate::endpoint::{ConnectFailure, Http2Connector, PooledConnection, Step, Subchannel, Supervisor};
use crate::pool::endpoint_result::EndpointResult;
use crate::pool::endpoints::{Endpoint, Endpoints, overcrowded};
use crate::pool::waiting_calls::{CallTerms, Place, Placement};
use crate::resolver::{Address, Resolver};
use crate::settings::{Picker, PoolSettings};
use gax_driver::__private::{Clock, Locked, Observers};
use gax_driver::observe::{ConnectionChange, ConnectionEvent, Peer};
use gax_driver::report::DelayType;
use gax_retry::ThreadJitter;
use gax_wire::__private::NotConnected;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// All that the clones of a connection share.
///
/// Every decision is made by [`Endpoints`] under one lock. Whoever has a fact (a connection that was made or lost, an attempt that
/// failed, a list of the resolver, a stream that is free) writes it down there, and the calls that wait are looked at again.
pub(crate) struct Pool {
    target: String,
    settings: Arc<PoolSettings>,
    connector: Http2Connector,
    pub(super) resolver: Box<dyn Resolver>,
    observers: Observers,
    pub(super) state: Locked<Endpoints>,
    last_number: AtomicU64,
    /// A connection failed or was lost: its address may be wrong.
    pub(super) asked: Notify,
    /// The program wants the resolver to be asked now.
    pub(super) urged: Notify,
    /// Nobody needs the connection any longer.
    pub(super) closed: CancellationToken,
}

/// Where a call goes, or where it waits for that.
pub(crate) enum Pick {
    Placed(Placement),
    Wait(DelayType, Place),
}

impl Pool {
    pub(crate) fn new(
        target: String,
        settings: PoolSettings,
        connector: Http2Connector,
        resolver: Box<dyn Resolver>,
        observers: Observers,
    ) -> Self {
        Self {
            target,
            settings: Arc::new(settings),
            connector,
            resolver,
            observers,
            state: Locked::default(),
            last_number: AtomicU64::new(0),
            asked: Notify::new(),
            urged: Notify::new(),
            closed: CancellationToken::new(),
        }
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Where a call goes. The task that follows the resolver is there.
    pub(super) fn pick(
        &self,
        mut state: MutexGuard<'_, Endpoints>,
        terms: &CallTerms,
        bytes: impl FnOnce() -> u64,
    ) -> Pick {
        match state.pick(terms, &self.settings) {
            Ok(placement) => Pick::Placed(placement),
            Err(waits_for) => match state.join(terms.clone(), bytes(), waits_for, &self.settings) {
                Some(place) => Pick::Wait(waits_for, place),
                None => Pick::Placed(Placement::None(overcrowded())),
            },
        }
    }

    /// Waits until a stream may be free for a call that waits.
    pub(super) async fn freed(&self) {
        let backlog = Arc::clone(self.state.lock().waiting.backlog());
        backlog.freed().await;
    }

    /// A call to that endpoint was good for it, or was not.
    pub(crate) fn count(&self, connection: &PooledConnection, result: EndpointResult) {
        match result {
            EndpointResult::Good => connection.counts().reset(),
            EndpointResult::Bad => self.fail(connection.subchannel(), connection.peer()),
            EndpointResult::Open => {}
        }
    }

    /// A connection that takes no calls any more was of use after all.
    pub(crate) fn served(&self, connection: &PooledConnection) {
        if let Some(endpoint) = self.state.lock().find(connection.subchannel().number) {
            endpoint.life.served();
        }
        self.settle();
    }

    /// These are the addresses from now on. Returns the endpoints that are new, and whether one that is used is not among them.
    pub(super) fn update(
        self: &Arc<Self>,
        mut addresses: Vec<Address>,
        is_announced: bool,
    ) -> (Vec<Arc<Subchannel>>, bool) {
        let mut known = HashSet::new();
        addresses.retain(|address| known.insert(address.clone()));
        let groups: Vec<Vec<Address>> = match self.settings.chosen.picker {
            Picker::First => vec![addresses],
            Picker::RoundRobin | Picker::LeastInFlight => {
                addresses.into_iter().map(|address| vec![address]).collect()
            }
        };
        let mut state = self.state.lock();
        let backlog = Arc::clone(state.waiting.backlog());
        let make = |addresses| {
            let number = self.last_number.fetch_add(1, Ordering::Relaxed);
            let (stopped, supervisor) = (self.closed.child_token(), Arc::downgrade(self));
            let (settings, backlog) = (Arc::clone(&self.settings), Arc::clone(&backlog));
            Arc::new(Subchannel::new(number, addresses, stopped, backlog, settings, supervisor))
        };
        let new = state.follow(groups, &self.settings, is_announced, make);
        let misses_any = state.misses_any();
        // A runtime that shuts down drops tasks at once, and each looks into the state then.
        drop(state);
        self.settle();
        (new, misses_any)
    }

    /// There are no addresses, unless there were some before, until the resolver is asked again at that moment.
    pub(super) fn unresolved(&self, error: NotConnected, again: Option<Instant>) {
        let mut state = self.state.lock();
        (state.failure, state.resolved_at) = (Some(ConnectFailure::of(error)), again);
        if state.list.is_empty() {
            state.failures = state.failures.wrapping_add(1);
        }
        drop(state);
        self.settle();
    }

    /// Ends all back-offs.
    pub(crate) fn hurry(&self) {
        self.state.lock().list.iter_mut().for_each(Endpoint::hurry);
        self.urged.notify_one();
    }
}

impl Supervisor for Pool {
    fn fail(&self, subchannel: &Subchannel, peer: &Peer) {
        let Some(ejection) = self.settings.chosen.ejection else { return };
        if subchannel.counts.fail() < ejection.after {
            return;
        }
        let mut state = self.state.lock();
        let now = Clock::start();
        let moment = now.now().0;
        let is_out = |endpoint: &Endpoint| endpoint.is_ejected(moment);
        let (all, out) = (state.list.len(), state.list.iter().filter(|endpoint| is_out(endpoint)).count());
        let Some(endpoint) = state.find(subchannel.number) else {
            return;
        };
        let percent = (out + 1).saturating_mul(100) / all.max(1);
        if is_out(endpoint) || percent > ejection.max_percent as usize {
            return;
        }
        subchannel.counts.reset();
        let time = endpoint.ejection.begin(ejection.time, moment);
        drop(state);
        self.notify(peer.as_str(), ConnectionChange::Ejected { time });
    }
}

/// The questions and reports of its endpoints' tasks. Endpoints have numbers.
impl Pool {
    gax_text::getters! { self:
        pub(crate) settings: &Arc<PoolSettings> = &self.settings;

        pub(super) connector: &Http2Connector = &self.connector;
    }

    /// The next thing that the endpoint's task does.
    pub(super) fn step(&self, number: u64) -> Step {
        let now = Clock::start().began();
        self.state.lock().find(number).map_or(Step::Rest, |endpoint| {
            let is_connected = endpoint.is_connected();
            endpoint.life.step(now, is_connected)
        })
    }

    /// Calls may use that connection.
    pub(super) fn connected(&self, connection: &Arc<PooledConnection>) {
        if let Some(endpoint) = self.state.lock().find(connection.subchannel().number) {
            endpoint.connections.push(Arc::clone(connection));
            endpoint.life.connected();
        }
        self.settle();
    }

    /// No connection could be made by an attempt that began then. Returns how long it takes until the next one.
    pub(super) fn failed(&self, number: u64, error: &NotConnected, began: Clock) -> Duration {
        let mut state = self.state.lock();
        state.failures = state.failures.wrapping_add(1);
        state.find(number).map_or(Duration::ZERO, |endpoint| {
            endpoint.life.failed(error.clone(), began.began(), began.now().0, &mut ThreadJitter)
        })
    }

    /// Calls may not use that connection any longer.
    pub(super) fn lost(&self, connection: &PooledConnection) {
        let mut gone = Vec::new();
        if let Some(endpoint) = self.state.lock().find(connection.subchannel().number) {
            let is_gone = |one: &mut Arc<PooledConnection>| std::ptr::eq(&raw const **one, connection);
            gone.extend(endpoint.connections.extract_if(.., is_gone));
            endpoint.life.lost(connection.loss(), Clock::start().began(), &mut ThreadJitter);
            endpoint.subchannel.wanted.notify_one();
        }
        drop(gone);
        self.settle();
    }

    /// The endpoint's task has ended.
    pub(super) fn forget(&self, number: u64) {
        let gone = {
            let mut state = self.state.lock();
            let place = state.list.iter().position(|endpoint| endpoint.subchannel.number == number);
            place.map(|place| state.list.remove(place))
        };
        if gone.is_some() {
            // Its task has ended with the runtime, and the addresses are still there.
            self.resolve_again();
        }
        drop(gone);
        self.settle();
    }

    /// Something has changed for calls that wait.
    pub(super) fn settle(&self) {
        let mut state = self.state.lock();
        let retired = state.retire();
        state.dispatch(&self.settings);
        drop(state);
        for endpoint in retired {
            endpoint.subchannel.stopped.cancel();
        }
    }

    /// The addresses may be wrong: the resolver is asked again, soon.
    pub(super) fn resolve_again(&self) {
        self.asked.notify_one();
    }

    pub(super) fn notify(&self, peer: &str, change: ConnectionChange<'_>) {
        let event = ConnectionEvent::new(&self.target, peer, change);
        self.observers.each(|observer| observer.connection_event(&event));
    }
}
