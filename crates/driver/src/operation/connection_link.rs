//! The link between an attempt and the connection that carries it.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use super::clock::Clock;
use super::report::{AttemptDelay, DelayType, Peer};
use gax_retry::StartedAttempt;
use gax_retry::jitter::JitterSource;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Whether this process has ever had a connection that looks for links. Without one, requests carry none.
static IS_LOOKED_FOR: AtomicBool = AtomicBool::new(false);

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
    carrier: Mutex<Carrier>,
}

/// The connection that has the request.
#[derive(Default)]
struct Carrier {
    /// `None`: no connection has it.
    peer: Option<Peer>,
    /// The first wait of the request: its kind, its start, and its time if it is over.
    wait: Option<(DelayType, Clock, Option<Duration>)>,
    /// Reports that the attempt has used up its time without a response, once. Returns whether the connection is given up by that.
    expire: Option<Box<dyn FnOnce() -> bool + Send>>,
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
        let carrier = Mutex::new(Carrier { earlier, ..Carrier::default() });
        Self(Arc::new(Link { number, waits_for_ready, retry, carrier }))
    }

    /// The link of that attempt, which is this one or an earlier one.
    pub(super) fn find(&self, number: u32) -> Option<Self> {
        if self.0.number == number {
            return Some(self.clone());
        }
        self.carrier().earlier.as_ref()?.find(number)
    }

    /// Takes the link of that attempt out of the links of an operation, if it is among them.
    pub(super) fn remove(links: &mut Option<Self>, number: u32) {
        let Some(link) = links else { return };
        if link.0.number != number {
            return Self::remove(&mut link.carrier().earlier, number);
        }
        let earlier = link.carrier().earlier.take();
        *links = earlier;
    }

    #[inline]
    pub(super) fn is_looked_for() -> bool {
        IS_LOOKED_FOR.load(Ordering::Relaxed)
    }

    /// From now on there is a connection that looks for links.
    pub fn look_for() {
        IS_LOOKED_FOR.store(true, Ordering::Relaxed);
    }

    fn carrier(&self) -> MutexGuard<'_, Carrier> {
        self.0.carrier.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// A connection to that peer has the request.
    pub fn carried(&self, peer: Peer, expire: impl FnOnce() -> bool + Send + 'static) {
        let mut carrier = self.carrier();
        carrier.peer = Some(peer);
        if let Some((_, since, time)) = &mut carrier.wait {
            *time = Some(since.elapsed());
        }
        let before = carrier.expire.replace(Box::new(expire));
        drop(carrier);
        drop(before);
    }

    /// The request waits.
    pub fn waits(&self, kind: DelayType) {
        self.carrier().wait.get_or_insert_with(|| (kind, Clock::start(), None));
    }

    /// How long the request has waited; `None`: it has not.
    pub(super) fn delay(&self) -> Option<AttemptDelay> {
        let (kind, since, time) = self.carrier().wait?;
        Some(AttemptDelay { kind, time: time.unwrap_or_else(|| since.elapsed()) })
    }

    /// The call has its response, or has failed: the attempt can't expire any longer.
    pub fn responded(&self) {
        let expire = self.carrier().expire.take();
        drop(expire);
    }

    /// The attempt has used up its time without a response. Returns whether its connection is given up by that.
    #[must_use]
    pub fn expire(&self) -> bool {
        let expire = self.carrier().expire.take();
        expire.is_some_and(|expire| expire())
    }

    /// The endpoint that it went to; `None`: none that is known.
    pub(super) fn peer(&self) -> Option<Peer> {
        self.carrier().peer.clone()
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
