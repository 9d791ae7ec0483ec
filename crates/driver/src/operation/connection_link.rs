//! The link between an attempt and the connection that carries it.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use super::clock::Clock;
use super::report::{AttemptDelay, DelayType, Peer};
use gax_retry::StartedAttempt;
use gax_retry::jitter::JitterSource;
use std::any::TypeId;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The type of the connections that look for links, if this process has ever had one. Without one, requests carry none.
static LOOKS: OnceLock<TypeId> = OnceLock::new();

/// A connection, as the attempts that it carries see it.
pub trait Carrier: Send + Sync {
    fn peer(&self) -> &Peer;

    /// An attempt that began when bytes had arrived so often has used up its time without a response. Returns whether the connection
    /// is given up by that.
    fn expire(&self, received: u64) -> bool;
}

/// The link between an attempt and the connection that carries it: an extension of the attempt's request. Services between the
/// two, which may send the request later and from another task, pass it on without knowing of it.
#[derive(Clone)]
pub struct ConnectionLink(Arc<Link>);

struct Link {
    /// The attempt's.
    number: u32,
    /// Whether the call waits for a connection if none can be made (gRPC's `wait_for_ready`); `None`: as the connection is set.
    waits_for_ready: Option<bool>,
    retry: Option<RetryContext>,
    state: Mutex<State>,
}

/// The whereabouts of the request.
#[derive(Default)]
struct State {
    /// The connection that has it.
    carrier: Option<Arc<dyn Carrier>>,
    /// How often bytes had arrived there before; `None`: the attempt can't expire any longer.
    received: Option<u64>,
    /// The first wait of the request: its kind, its start, and its time if it is over.
    wait: Option<(DelayType, Clock, Option<Duration>)>,
    /// The link of an attempt that was begun before and is still in flight.
    earlier: Option<ConnectionLink>,
}

impl ConnectionLink {
    pub(super) fn new(
        number: u32,
        waits_for_ready: Option<bool>,
        retry: Option<RetryContext>,
        earlier: Option<Self>,
    ) -> Self {
        let state = Mutex::new(State { earlier, ..State::default() });
        Self(Arc::new(Link { number, waits_for_ready, retry, state }))
    }

    /// The link of that attempt, which is this one or an earlier one.
    pub(super) fn find(&self, number: u32) -> Option<Self> {
        if self.0.number == number {
            return Some(self.clone());
        }
        self.state().earlier.as_ref()?.find(number)
    }

    /// Takes the link of that attempt out of the links of an operation, if it is among them.
    pub(super) fn remove(links: &mut Option<Self>, number: u32) {
        let Some(link) = links else { return };
        if link.0.number != number {
            return Self::remove(&mut link.state().earlier, number);
        }
        let earlier = link.state().earlier.take();
        *links = earlier;
    }

    #[inline]
    pub(super) fn is_looked_for() -> bool {
        LOOKS.get().is_some()
    }

    /// Whether that is the type of the connections that look for links: nothing lies below them that reads a request's extensions.
    #[inline]
    #[must_use]
    pub fn is_looked_for_by<S: 'static>() -> bool {
        LOOKS.get() == Some(&TypeId::of::<S>())
    }

    /// From now on there are connections of that type, and they look for links.
    pub fn look_for<S: 'static>() {
        LOOKS.get_or_init(TypeId::of::<S>);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[must_use]
    pub fn waits_for_ready(&self) -> Option<bool> {
        self.0.waits_for_ready
    }

    /// `None`: the attempt is its operation's first.
    #[must_use]
    pub fn retry(&self) -> Option<RetryContext> {
        self.0.retry.clone()
    }

    /// That connection has the request, and bytes had arrived there so often before.
    pub fn carried(&self, carrier: Arc<dyn Carrier>, received: u64) {
        let mut state = self.state();
        if let Some((_, since, time)) = &mut state.wait {
            *time = Some(since.elapsed());
        }
        state.received = Some(received);
        let before = state.carrier.replace(carrier);
        drop(state);
        drop(before);
    }

    /// The request waits.
    pub fn waits(&self, kind: DelayType) {
        self.state().wait.get_or_insert_with(|| (kind, Clock::start(), None));
    }

    /// How long the request has waited; `None`: it has not.
    pub(super) fn delay(&self) -> Option<AttemptDelay> {
        let (kind, since, time) = self.state().wait?;
        Some(AttemptDelay { kind, time: time.unwrap_or_else(|| since.elapsed()) })
    }

    /// The call has its response, or has failed: the attempt can't expire any longer.
    pub fn responded(&self) {
        self.state().received = None;
    }

    /// The attempt has used up its time without a response. Returns whether its connection is given up by that.
    #[must_use]
    pub fn expire(&self) -> bool {
        let mut state = self.state();
        let (carrier, received) = (state.carrier.clone(), state.received.take());
        drop(state);
        carrier.zip(received).is_some_and(|(carrier, received)| carrier.expire(received))
    }

    /// The endpoint that it went to; `None`: none that is known.
    pub(super) fn peer(&self) -> Option<Peer> {
        self.state().carrier.as_ref().map(|carrier| carrier.peer().clone())
    }
}

impl fmt::Debug for ConnectionLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionLink").field("peer", &self.peer()).finish_non_exhaustive()
    }
}

/// The knowledge of an attempt that is not its operation's first: that the policy retries, and where attempts before it failed.
#[derive(Debug, Clone)]
pub struct RetryContext {
    pub(super) failed: Vec<Peer>,
    /// The moment at which the attempt's time is up.
    pub(super) deadline: Option<Instant>,
    /// The delay before it; zero once it is spread.
    pub(super) delay: Duration,
}

impl RetryContext {
    /// An attempt that starts now, by the mark that requests have from the second one on.
    #[must_use]
    pub fn of(attempt: &StartedAttempt) -> Self {
        let deadline = attempt.rpc_timeout().and_then(|timeout| Clock::start().at(timeout));
        Self { failed: Vec::new(), deadline, delay: attempt.delay() }
    }

    #[must_use]
    pub fn has_failed_at(&self, peer: &Peer) -> bool {
        self.failed.contains(peer)
    }

    /// Whether it is still to be spread, where several have waited for one connection.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        !self.delay.is_zero()
    }

    /// How long it continues waiting now that there is a connection, so that those that waited for it don't come immediately: up to the
    /// delay before it, a second at most, if it has that time.
    pub fn spread(&mut self, now: Clock, jitter: &mut dyn JitterSource) -> Duration {
        const LONGEST: Duration = Duration::from_secs(1);
        let spread = std::mem::take(&mut self.delay).min(LONGEST).mul_f64(jitter.next_fraction());
        let has_time = now.at(spread).is_some_and(|until| self.has_time_until(until));
        if has_time { spread } else { Duration::ZERO }
    }

    /// Whether something that happens at that moment leaves it time for a request. Without a separate end it waits for nothing.
    #[must_use]
    pub fn has_time_until(&self, moment: Instant) -> bool {
        const REQUEST: Duration = Duration::from_millis(10);
        self.deadline.is_some_and(|deadline| deadline.saturating_duration_since(moment) > REQUEST)
    }
}
