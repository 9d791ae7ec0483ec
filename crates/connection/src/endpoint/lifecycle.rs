//! The life of an endpoint: facts in, the next step out.

use crate::settings::{ConnectBackoff, Waits};
use gax_driver::observe::LostReason;
use gax_retry::jitter::JitterSource;
use gax_wire::__private::NotConnected;
use gax_wire::ConnectProblem;
use std::error::Error;
use std::time::Duration;
use tokio::time::Instant;
use tonic::codegen::StdError;

/// When an endpoint is connected to, and why it has no connection.
///
/// A connection that brought a call its response headers is followed immediately, however it ended. One that ended without that is
/// treated as a failed attempt to connect, begun when it was made.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    waits: Waits,
    phase: Phase,
    /// It stays until there is a connection (gRPC's `TRANSIENT_FAILURE`).
    failure: Option<ConnectFailure>,
    /// `true` if the connection before was lost without having been of use.
    was_useless: bool,
}

/// Why there is no connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectFailure {
    pub(crate) error: NotConnected,
    /// `true` if no later attempt can do better.
    pub(crate) is_final: bool,
}

impl ConnectFailure {
    pub(crate) fn of(error: NotConnected) -> Self {
        Self { is_final: is_final(&error), error }
    }
}

/// Returns whether no later attempt to connect can do better.
pub(super) fn is_final(error: &(dyn Error + 'static)) -> bool {
    ConnectProblem::behind(error).is_some_and(|problem| !problem.may_recover())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nobody has asked for a connection.
    Idle,
    Connecting,
    /// In back-off until then; `None`: forever.
    Waiting(Option<Instant>),
}

/// The next thing that the endpoint's task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Rest,
    WaitUntil(Option<Instant>),
    Connect,
}

/// A connection that takes no calls any longer.
#[derive(Debug)]
pub(crate) struct Loss {
    pub(crate) made: Instant,
    /// `true` if it brought a call its response headers.
    pub(crate) has_served: bool,
    /// `true` if calls continue over it, which may get theirs yet.
    pub(crate) has_calls: bool,
    /// Why the server is to blame; `None`: we ended it.
    pub(crate) reason: Option<LostReason>,
}

impl Loss {
    /// Returns whether the server ended it before it was of use.
    pub(crate) fn is_bad(&self) -> bool {
        !self.has_served && self.reason.is_some()
    }
}

impl Lifecycle {
    pub(crate) fn new(backoff: ConnectBackoff) -> Self {
        Self { waits: Waits::new(backoff), phase: Phase::Idle, failure: None, was_useless: false }
    }

    /// A call needs a connection. Returns whether that is news for the endpoint's task.
    pub(crate) fn want(&mut self) -> bool {
        let is_idle = self.phase == Phase::Idle;
        if is_idle {
            self.phase = Phase::Connecting;
        }
        is_idle
    }

    pub(crate) fn connected(&mut self) {
        (self.phase, self.failure) = (Phase::Idle, None);
    }

    /// An attempt to connect that began then has failed. Returns how long it takes from now until the next one.
    pub(crate) fn failed(
        &mut self,
        error: NotConnected,
        began: Instant,
        now: Instant,
        jitter: &mut dyn JitterSource,
    ) -> Duration {
        let wait = self.waits.draw(jitter);
        self.phase = Phase::Waiting(began.checked_add(wait));
        self.failure = Some(ConnectFailure::of(error));
        wait.saturating_sub(now.saturating_duration_since(began))
    }

    pub(crate) fn lost(&mut self, loss: Loss, now: Instant, jitter: &mut dyn JitterSource) {
        if loss.has_served || now.saturating_duration_since(loss.made) >= self.waits.longest() {
            self.waits.reset();
        }
        let is_again = std::mem::replace(&mut self.was_useless, loss.is_bad()) && loss.is_bad();
        if self.phase == Phase::Connecting {
            return;
        }
        (self.phase, self.failure) = (Phase::Idle, None);
        if loss.is_bad() {
            let until = loss.made.checked_add(self.waits.draw(jitter));
            if until.is_none_or(|until| until > now) {
                // Calls fail only once it is known to be of no use.
                let reason = loss.reason.filter(|_| !loss.has_calls);
                let failure = reason.map(|reason| ConnectFailure::of(useless(&reason, is_again)));
                (self.phase, self.failure) = (Phase::Waiting(until), failure);
            }
        }
    }

    /// A connection that takes no calls any more was of use after all.
    pub(crate) fn served(&mut self) {
        if matches!((self.phase, &self.failure), (Phase::Waiting(_), None)) {
            self.waits.reset();
            self.phase = Phase::Idle;
        }
    }

    /// There is nothing to wait for: it has other addresses, or the program knows better. Returns whether that is news.
    pub(crate) fn hurry(&mut self) -> bool {
        let is_waiting = matches!(self.phase, Phase::Waiting(_));
        if is_waiting {
            self.waits.reset();
            self.phase = Phase::Connecting;
        }
        is_waiting
    }

    /// The next step. An endpoint that has a connection is connected to again only if that is wanted again.
    pub(crate) fn step(&mut self, now: Instant, has_connection: bool) -> Step {
        if let Phase::Waiting(until) = self.phase {
            if until.is_none_or(|until| until > now) {
                return Step::WaitUntil(until);
            }
            self.phase = if has_connection { Phase::Idle } else { Phase::Connecting };
        }
        if self.phase == Phase::Connecting { Step::Connect } else { Step::Rest }
    }

    pub(crate) fn failure(&self) -> Option<&ConnectFailure> {
        self.failure.as_ref()
    }

    pub(crate) fn is_in_backoff(&self) -> bool {
        matches!(self.phase, Phase::Waiting(_))
    }

    /// When the next attempt to connect begins; `None`: never.
    pub(crate) fn next_attempt(&self, now: Instant) -> Option<Instant> {
        match self.phase {
            Phase::Idle | Phase::Connecting => Some(now),
            Phase::Waiting(until) => until,
        }
    }
}

/// The error of calls after a connection that was of no use, the first one or one of several in a row.
fn useless(reason: &LostReason, is_again: bool) -> NotConnected {
    let what = if is_again {
        "connections are lost as soon as they are made"
    } else {
        "the connection was lost as soon as it was made"
    };
    NotConnected::from(StdError::from(format!("{what}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_driver::__private::Clock;
    use gax_retry::jitter::NoJitter;

    fn second(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// The first loss says that of itself.
    #[test]
    fn the_second_useless_connection_in_a_row_is_one_of_several() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        let mut text = |has_served| {
            let reason = Some(LostReason::Closed);
            life.lost(Loss { made: now, has_served, has_calls: false, reason }, now, &mut NoJitter);
            life.failure().map(|failure| failure.error.to_string().contains("connections are"))
        };
        let found = [text(false), text(false), text(true), text(false)];
        assert_eq!(found, [Some(false), Some(true), None, Some(false)]);
    }

    fn error(text: &str) -> NotConnected {
        NotConnected::from(StdError::from(text))
    }

    /// Connections that live so long, one after the other: how long the endpoint waits after each.
    fn waits(lives: &[(f64, bool)]) -> Vec<u128> {
        let mut life = Lifecycle::new(ConnectBackoff::default());
        let mut now = Clock::start().now().0;
        let mut waits = Vec::new();
        for &(age, has_served) in lives {
            life.want();
            assert_eq!(life.step(now, false), Step::Connect);
            life.connected();
            assert_eq!(life.step(now, true), Step::Rest);
            let made = now;
            now += second(age);
            life.lost(
                Loss { made, has_served, has_calls: false, reason: Some(LostReason::Closed) },
                now,
                &mut NoJitter,
            );
            let next = life.next_attempt(now).unwrap();
            assert_eq!(life.failure().is_some(), next > now);
            waits.push(next.duration_since(now).as_millis());
            now = next;
        }
        waits
    }

    #[test]
    fn a_connection_that_served_is_followed_at_once() {
        assert_eq!(waits(&[(0.1, true); 5]), [0; 5]);
        assert_eq!(waits(&[(0.0, false), (0.1, true), (0.0, false)]), [50, 0, 50]);
    }

    #[test]
    fn any_other_is_followed_after_the_back_off_less_its_age() {
        let lives = [0.02, 0.02, 0.25, 0.25, 3.0, 120.0, 0.0].map(|age| (age, false));
        assert_eq!(waits(&lives), [30, 80, 750, 1350, 0, 0, 100]);
        // One that lived exactly as long has nothing to wait for.
        assert_eq!(waits(&[(0.05, false)]), [0]);
    }

    #[test]
    fn a_connection_that_we_ended_is_followed_at_once() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        life.lost(Loss { made: now, has_served: false, has_calls: false, reason: None }, now, &mut NoJitter);
        assert_eq!(life.step(now, false), Step::Rest);
        assert!(life.want() && !life.want());
    }

    /// As behind a server whose connections live shorter than its calls: they wait, and wait for nothing once it has replied.
    #[test]
    fn a_connection_with_calls_may_serve_yet() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        let reason = Some(LostReason::Closed);
        life.lost(Loss { made: now, has_served: false, has_calls: true, reason }, now, &mut NoJitter);
        assert!(life.failure().is_none() && !life.want());
        assert_eq!(life.step(now, false), Step::WaitUntil(Some(now + second(0.05))));
        life.served();
        assert!(life.want());
    }

    #[test]
    fn failures_grow_and_count_from_the_start_of_an_attempt() {
        let (mut life, began) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        let mut failed = |began, now| life.failed(error("refused"), began, now, &mut NoJitter);
        assert_eq!(failed(began, began + second(0.04)), second(0.01));
        assert_eq!(failed(began, began), second(0.1));
        assert_eq!(failed(began, began + second(0.4)), second(0.6));
        assert_eq!(failed(began + second(1.0), began + second(21.0)), Duration::ZERO);
        assert_eq!(life.step(began + second(2.0), false), Step::WaitUntil(Some(began + second(2.6))));
        assert_eq!(life.step(began + second(2.6), false), Step::Connect);
        assert!(life.failure().is_some(), "calls fail while it tries again");
    }

    #[test]
    fn other_addresses_are_tried_at_once_and_the_back_off_begins_again() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        let fail = |life: &mut Lifecycle| life.failed(error("refused"), now, now, &mut NoJitter);
        assert_eq!(
            (fail(&mut life), fail(&mut life), fail(&mut life)),
            (second(0.05), second(0.1), second(1.0))
        );
        assert!(life.hurry() && !life.hurry());
        assert_eq!(life.step(now, false), Step::Connect);
        assert_eq!(fail(&mut life), second(0.05));
    }

    /// One more connection to an endpoint that has one is made only if it is still wanted.
    #[test]
    fn a_failed_extension_is_not_repeated_by_itself() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        assert!(life.want());
        life.failed(error("refused"), now, now, &mut NoJitter);
        assert!(!life.want());
        assert_eq!(life.step(now + second(1.0), true), Step::Rest);
        assert!(life.want());
    }
}
