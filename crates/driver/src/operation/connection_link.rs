//! The link between an attempt and the connection that carries it.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use super::clock::Clock;
use super::report::{AttemptDelay, DelayType, Peer};
use crate::locked::Locked;
use gax_retry::StartedAttempt;
use gax_retry::jitter::JitterSource;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

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
    terms: LinkTerms,
    state: Locked<State>,
}

/// The terms on which the request of an attempt waits for a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkTerms {
    /// `true` if the call waits for a connection when none can be made (gRPC's `wait_for_ready`); `None`: as the connection is set.
    pub(super) waits_for_ready: Option<bool>,
    /// `true` if it waits for the end of a back-off, which takes none of its time.
    pub(super) outwaits_backoff: bool,
    /// `true` if it may have been its response for which our own stack closed a connection: it is sent over one of its own.
    pub(super) is_suspect: bool,
    /// The moment at which the operation's time is up.
    pub(super) limit: Option<Instant>,
    /// `None`: the attempt is its operation's first.
    pub(super) retry: Option<RetryContext>,
}

/// The whereabouts of the request.
#[derive(Default)]
struct State {
    /// The connection that has it.
    carrier: Option<Arc<dyn Carrier>>,
    /// How often bytes had arrived there before, and since when it is there; `None`: the attempt can't expire any longer.
    received: Option<(u64, Clock)>,
    /// The first wait of the request: its kind, its start, and its time if it is over.
    wait: Option<(DelayType, Clock, Option<Duration>)>,
    /// Set if the attempt's time waits too, or did until that moment.
    hold: Option<Hold>,
    /// `true` if no other call shared the connection.
    is_alone: bool,
    /// The link of an attempt that was begun before and is still in flight.
    earlier: Option<ConnectionLink>,
}

#[derive(Debug, Clone, Copy)]
enum Hold {
    Now,
    Until(Instant),
}

impl ConnectionLink {
    pub(super) fn new(number: u32, terms: LinkTerms, earlier: Option<Self>) -> Self {
        let state = Locked::new(State { earlier, ..State::default() });
        Self(Arc::new(Link { number, terms, state }))
    }

    /// The link of that attempt, which is this one or an earlier one.
    pub(super) fn find(&self, number: u32) -> Option<Self> {
        if self.0.number == number {
            return Some(self.clone());
        }
        self.0.state.lock().earlier.as_ref()?.find(number)
    }

    /// Takes the link of that attempt out of the links of an operation, if it is among them.
    pub(super) fn remove(links: &mut Option<Self>, number: u32) {
        let Some(link) = links else { return };
        if link.0.number != number {
            return Self::remove(&mut link.0.state.lock().earlier, number);
        }
        let earlier = link.0.state.lock().earlier.take();
        *links = earlier;
    }

    gax_text::getters! { self:
        pub waits_for_ready: Option<bool> = self.0.terms.waits_for_ready;

        /// `None`: the attempt is its operation's first.
        pub retry: Option<RetryContext> = self.0.terms.retry.clone();

        /// Returns whether it may have been its response for which our own stack closed a connection.
        pub is_suspect: bool = self.0.terms.is_suspect;

        /// Returns whether no other call shared the connection of a suspect.
        pub(super) is_alone: bool = self.0.state.lock().is_alone;
    }

    /// Returns whether it waits for something that is going to happen at that moment, and takes none of its time.
    #[must_use]
    pub fn outwaits(&self, moment: Instant) -> bool {
        self.0.terms.outwaits_backoff && self.0.terms.limit.is_none_or(|limit| moment < limit)
    }

    /// How much time the operation has left at most, if the attempt's time has not begun with the attempt.
    #[must_use]
    pub fn postponed(&self) -> Option<Duration> {
        self.begins().map(|begins| self.left(begins))
    }

    fn left(&self, now: Instant) -> Duration {
        self.0.terms.limit.map_or(Duration::MAX, |limit| limit.saturating_duration_since(now))
    }

    /// That connection has the request since then, and bytes had arrived there so often before. Returns how much time the operation has
    /// left at most, if the attempt's time begins now only.
    pub fn carried(
        &self,
        carrier: Arc<dyn Carrier>,
        received: u64,
        since: Clock,
        is_alone: bool,
    ) -> Option<Duration> {
        let mut state = self.0.state.lock();
        if let Some((_, since, time)) = &mut state.wait {
            *time = Some(since.elapsed());
        }
        let is_held = matches!(state.hold, Some(Hold::Now));
        if is_held {
            state.hold = Some(Hold::Until(since.began()));
        }
        state.received = Some((received, since));
        state.is_alone = is_alone;
        let before = state.carrier.replace(carrier);
        drop(state);
        drop(before);
        is_held.then(|| self.left(since.began()))
    }

    /// The request waits.
    pub fn waits(&self, kind: DelayType) {
        let mut state = self.0.state.lock();
        let wait = state.wait.get_or_insert_with(|| (kind, Clock::start(), None));
        if kind.is_held() {
            (wait.0, state.hold) = (kind, Some(Hold::Now));
        }
    }

    /// How long the request has waited; `None`: it has not.
    pub(super) fn delay(&self) -> Option<AttemptDelay> {
        let (kind, since, time) = self.0.state.lock().wait?;
        Some(AttemptDelay { kind, time: time.unwrap_or_else(|| since.elapsed()) })
    }

    /// The moment at which the attempt's time begins, if that is not its start.
    pub(super) fn begins(&self) -> Option<Instant> {
        match self.0.state.lock().hold? {
            Hold::Now => Some(Clock::start().began()),
            Hold::Until(moment) => Some(moment),
        }
    }

    /// The call has its response, or has failed: the attempt can't expire any longer.
    pub fn responded(&self) {
        self.0.state.lock().received = None;
    }

    /// The attempt has used up its time, which was that long, without a response. Returns whether its connection is given up by that:
    /// one that had it for less than half of the time is not to blame.
    #[must_use]
    pub fn expire(&self, time: Duration) -> bool {
        let mut state = self.0.state.lock();
        let (carrier, received) = (state.carrier.clone(), state.received.take());
        drop(state);
        let received = received.filter(|(_, since)| since.elapsed() >= time / 2);
        carrier.zip(received).is_some_and(|(carrier, (received, _))| carrier.expire(received))
    }

    /// The endpoint that it went to; `None`: none that is known.
    pub(super) fn peer(&self) -> Option<Peer> {
        self.0.state.lock().carrier.as_ref().map(|carrier| carrier.peer().clone())
    }
}

gax_text::short_debug! { self: ConnectionLink { peer: self.peer() } }

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

    /// Returns whether it is still to be spread, where several have waited for one connection.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        !self.delay.is_zero()
    }

    /// How long it continues waiting now that there is a connection, so that those that waited for it don't come immediately: up to the
    /// delay before it, a second at most, if it has that time. `left`: how much its operation has, if its own has not begun.
    pub fn spread(&mut self, now: Clock, left: Option<Duration>, jitter: &mut dyn JitterSource) -> Duration {
        const LONGEST: Duration = Duration::from_secs(1);
        let spread = std::mem::take(&mut self.delay).min(LONGEST).mul_f64(jitter.next_fraction());
        let has_time = match left {
            Some(left) => spread < left,
            None => now.at(spread).is_some_and(|until| self.has_time_until(until)),
        };
        if has_time { spread } else { Duration::ZERO }
    }

    /// Returns whether something that happens at that moment leaves it time for a request. Without a separate end it waits for nothing.
    #[must_use]
    pub fn has_time_until(&self, moment: Instant) -> bool {
        const REQUEST: Duration = Duration::from_millis(10);
        self.deadline.is_some_and(|deadline| deadline.saturating_duration_since(moment) > REQUEST)
    }
}
