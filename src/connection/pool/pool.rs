//! The endpoints of a connection, and which of them a call goes to.

use crate::connection::endpoint::{Fate, Host, Keeping, Live, Maker, State, extend, keep};
use crate::connection::error::SharedError;
use crate::connection::guarded::guarded;
use crate::connection::pool::endpoint_result::EndpointResult;
use crate::connection::pool::endpoints::{Endpoint, Endpoints};
use crate::connection::resolver::{Address, Resolver};
use crate::connection::settings::{Picker, PoolSettings, Waits};
use crate::connection::wait::{Either, before, either, moment_of};
use crate::operation::{Clock, ConnectionChange, ConnectionEvent, LostReason, Observers, Peer};
use crate::transport::FailedPeers;
use gax_retry::ThreadJitter;
use std::collections::HashSet;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tokio_util::sync::CancellationToken;
use tonic::codegen::StdError;

/// How soon a resolver may be asked again because a connection failed.
const RESOLVE_PAUSE: Duration = Duration::from_secs(1);

/// All that the clones of a connection share.
pub(crate) struct Pool {
    target: String,
    settings: Arc<PoolSettings>,
    maker: Maker,
    resolver: Box<dyn Resolver>,
    observers: Observers,
    state: Mutex<Endpoints>,
    /// Something has changed for calls that wait.
    changed: Arc<Notify>,
    /// A connection failed or was lost: its address may be wrong.
    asked: Notify,
    /// Nobody needs the connection any more.
    closed: CancellationToken,
}

/// Ends the pool with the last clone of a connection and the last call.
#[derive(Debug)]
pub(crate) struct Shared(Arc<Pool>);

impl Shared {
    pub(crate) fn new(pool: Pool) -> Self {
        Self(Arc::new(pool))
    }
}

impl std::ops::Deref for Shared {
    type Target = Arc<Pool>;

    fn deref(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.0.closed.cancel();
    }
}

/// Where a call goes.
pub(crate) enum Pick {
    To(Arc<Live>),
    /// There is no connection yet.
    Wait,
    /// There is none, for that reason.
    None(SharedError),
}

impl Pool {
    pub(crate) fn new(
        target: String,
        settings: PoolSettings,
        maker: Maker,
        resolver: Box<dyn Resolver>,
        observers: Observers,
    ) -> Self {
        Self {
            target,
            settings: Arc::new(settings),
            maker,
            resolver,
            observers,
            state: Mutex::default(),
            changed: Arc::default(),
            asked: Notify::new(),
            closed: CancellationToken::new(),
        }
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Waits for the next change. One that comes after this call counts, whenever it is waited for.
    pub(crate) fn change(&self) -> OwnedNotified {
        Arc::clone(&self.changed).notified_owned()
    }

    fn state(&self) -> MutexGuard<'_, Endpoints> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a call goes that failed at these endpoints before. If it waits, it does so whatever has failed.
    pub(crate) fn pick(self: &Arc<Self>, failed: Option<&FailedPeers>, waits: bool) -> Pick {
        let mut state = self.state();
        if !state.is_started {
            let Ok(runtime) = Handle::try_current() else {
                let text = "there is no tokio runtime, which connections are tasks of";
                return Pick::None(SharedError::from(StdError::from(text)));
            };
            (state.is_started, state.failure) = (true, None);
            // A runtime that shuts down drops it at once.
            drop(state);
            runtime.spawn(follow(Following(Arc::clone(self))));
            state = self.state();
        }
        state.connect_idle();
        match state.choose(self.settings.picker, failed) {
            Some(place) => self.take(&mut state, place),
            None => match state.failure() {
                Some(error) if !waits => Pick::None(error),
                _ => Pick::Wait,
            },
        }
    }

    /// A connection of that endpoint, which has one. Where all its streams are taken, one more is made.
    fn take(self: &Arc<Self>, state: &mut Endpoints, place: usize) -> Pick {
        let Some(endpoint) = state.list.get_mut(place) else { return Pick::Wait };
        let Some(live) = endpoint.least_busy() else { return Pick::Wait };
        let live = Arc::clone(live);
        if live.is_full() && !endpoint.is_extending && endpoint.lives.len() < self.settings.max_connections {
            endpoint.is_extending = true;
            tokio::spawn(extend(Arc::clone(self), Arc::clone(&endpoint.keeping)));
        }
        Pick::To(live)
    }

    /// A call to that endpoint has failed it.
    fn failed(&self, live: &Live) {
        let Some(ejection) = self.settings.ejection else { return };
        if live.counts().fail() < ejection.after {
            return;
        }
        let mut state = self.state();
        let now = Clock::start();
        let moment = now.now().0;
        let is_out = |endpoint: &Endpoint| endpoint.is_ejected(moment);
        let (all, out) = (state.list.len(), state.list.iter().filter(|endpoint| is_out(endpoint)).count());
        let Some(endpoint) = state.list.iter_mut().find(|one| one.keeping.number == live.endpoint()) else {
            return;
        };
        let percent = (out + 1).saturating_mul(100) / all.max(1);
        if is_out(endpoint) || percent > ejection.max_percent as usize {
            return;
        }
        live.counts().reset();
        let time = endpoint.ejection.begin(ejection.time, moment);
        drop(state);
        self.notify(live.peer().as_str(), ConnectionChange::Ejected { time });
    }

    /// A call to that endpoint was good for it, or was not.
    pub(crate) fn count(&self, live: &Live, result: EndpointResult) {
        match result {
            EndpointResult::Good if self.settings.ejection.is_some() => live.counts().reset(),
            EndpointResult::Bad => self.failed(live),
            EndpointResult::Good | EndpointResult::Open => {}
        }
    }

    /// A call to it has used up its time, and began when bytes had come in so often.
    /// Returns whether its connection is given up by that.
    pub(crate) fn timed_out(&self, live: &Live, received: u64) -> bool {
        self.failed(live);
        let attempts = live.timed_out(received);
        let pause = self.settings.backoff.nth(live.counts().renewals());
        let is_dead = self.settings.silent_attempts.is_some_and(|most| attempts >= most);
        if !is_dead || live.fate().is_over() || live.age() < pause {
            return false;
        }
        live.counts().renew(live.age() > self.settings.backoff.longest());
        live.fate().end(LostReason::Silent);
        true
    }

    /// These are the addresses from now on.
    fn update(self: &Arc<Self>, mut addresses: Vec<Address>) {
        let mut known = HashSet::new();
        addresses.retain(|address| known.insert(address.clone()));
        let groups: Vec<Vec<Address>> = match self.settings.picker {
            Picker::First => vec![addresses],
            Picker::RoundRobin | Picker::LeastInFlight => {
                addresses.into_iter().map(|address| vec![address]).collect()
            }
        };
        let mut state = self.state();
        state.failure = None;
        if self.settings.picker == Picker::First
            && let Some((endpoint, group)) = state.list.first().zip(groups.first())
        {
            endpoint.keeping.follow(group.clone());
            for live in &endpoint.lives {
                if !group.iter().any(|address| Peer::new(address) == *live.peer()) {
                    live.fate().end(LostReason::Removed);
                }
            }
            return;
        }
        let mut gone = std::mem::take(&mut state.list);
        let mut new = Vec::new();
        for group in groups {
            let place = gone.iter().position(|endpoint| *endpoint.keeping.addresses() == *group);
            let endpoint = if let Some(place) = place {
                gone.remove(place)
            } else {
                state.last_number += 1;
                let stopped = self.closed.child_token();
                let keeping = Arc::new(Keeping::new(state.last_number, group, stopped));
                new.push(Arc::clone(&keeping));
                Endpoint::new(keeping)
            };
            state.list.push(endpoint);
        }
        // A runtime that shuts down drops tasks at once, and each looks into the state then.
        drop(state);
        for keeping in new {
            tokio::spawn(keep(Arc::clone(self), keeping));
        }
        for endpoint in gone {
            endpoint.keeping.stopped.cancel();
        }
        self.changed.notify_waiters();
    }

    /// There are no addresses, unless there were some before.
    fn unresolved(&self, error: SharedError) {
        self.state().failure = Some(error);
        self.changed.notify_waiters();
    }
}

impl Host for Pool {
    fn settings(&self) -> &Arc<PoolSettings> {
        &self.settings
    }

    fn maker(&self) -> &Maker {
        &self.maker
    }

    fn set_state(&self, number: u64, new: State) {
        if let Some(endpoint) = self.state().find(number) {
            endpoint.state = new;
        }
        self.changed.notify_waiters();
    }

    fn add(&self, live: &Arc<Live>) {
        if let Some(endpoint) = self.state().find(live.endpoint()) {
            endpoint.lives.push(Arc::clone(live));
            endpoint.state = State::Ready;
        }
        self.changed.notify_waiters();
    }

    fn remove(&self, number: u64, fate: &Arc<Fate>) {
        let mut removed = Vec::new();
        if let Some(endpoint) = self.state().find(number) {
            let (gone, left) = std::mem::take(&mut endpoint.lives)
                .into_iter()
                .partition(|live| Arc::ptr_eq(live.fate(), fate));
            (removed, endpoint.lives) = (gone, left);
        }
        drop::<Vec<_>>(removed);
        self.changed.notify_waiters();
    }

    fn extended(&self, number: u64) {
        if let Some(endpoint) = self.state().find(number) {
            endpoint.is_extending = false;
        }
    }

    fn forget(&self, number: u64) {
        let gone = {
            let mut state = self.state();
            let place = state.list.iter().position(|endpoint| endpoint.keeping.number == number);
            place.map(|place| state.list.remove(place))
        };
        if gone.is_some() && !self.closed.is_cancelled() {
            // Its task has ended with the runtime, and the addresses are still there.
            self.ask();
        }
        drop(gone);
        self.changed.notify_waiters();
    }

    fn changed(&self) {
        self.changed.notify_waiters();
    }

    fn ask(&self) {
        self.asked.notify_one();
    }

    fn notify(&self, peer: &str, change: ConnectionChange<'_>) {
        let event = ConnectionEvent::new(&self.target, peer, change);
        self.observers.each(|observer| observer.connection_event(&event));
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("target", &self.target).finish_non_exhaustive()
    }
}

/// The task that asks the resolver. It may end with its runtime: the next call begins another one.
struct Following(Arc<Pool>);

impl Drop for Following {
    fn drop(&mut self) {
        if !self.0.closed.is_cancelled() {
            let gone = "the runtime that the connection was used in has shut down";
            self.0.state().is_started = false;
            self.0.unresolved(SharedError::from(StdError::from(gone)));
        }
    }
}

/// Asks the resolver again and again, until nobody needs the connection any more.
async fn follow(following: Following) {
    let pool = &following.0;
    either(pool.closed.cancelled(), resolve(pool)).await;
}

async fn resolve(pool: &Arc<Pool>) {
    const RESOLVER: &str = "a resolver";
    let mut waits = Waits::new(pool.settings.backoff);
    let guard = &pool.maker.guard;
    loop {
        let clock = Clock::start();
        // Before the addresses are asked for, so that no change is missed.
        let changed = guarded(guard, RESOLVER, || pool.resolver.changed());
        let changed = async {
            if changed.await.is_err() {
                pending::<()>().await;
            }
        };
        let resolved = guarded(guard, RESOLVER, || pool.resolver.resolve()).await;
        let again = match resolved.and_then(|addresses| addresses) {
            Ok(addresses) if addresses.is_empty() => {
                pool.unresolved(SharedError::from(StdError::from("the resolver found no address")));
                Some(waits.draw(&mut ThreadJitter))
            }
            Ok(addresses) => {
                waits.reset();
                pool.update(addresses);
                pool.settings.resolve_every
            }
            Err(error) => {
                pool.unresolved(SharedError::from(error));
                Some(waits.draw(&mut ThreadJitter))
            }
        };
        let again = again.and_then(|again| clock.at(again));
        if let Some(Either::Other(())) = before(again, either(changed, pool.asked.notified())).await {
            moment_of(clock.at(RESOLVE_PAUSE)).await;
        }
    }
}
