//! The life of an endpoint: facts in, the next step out.

use crate::settings::{ConnectBackoff, Waits};
use gax_retry::jitter::JitterSource;
use gax_wire::__house::NotConnected;
use std::time::Duration;
use tokio::time::Instant;

/// When an endpoint is connected to, and why it has no connection.
///
/// A connection that brought a call its response headers is followed immediately, however it ended. One that ended without that is
/// treated as a failed attempt to connect, begun when it was made.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    waits: Waits,
    phase: Phase,
    /// It stays until there is a connection (gRPC's `TRANSIENT_FAILURE`).
    failure: Option<NotConnected>,
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
    /// Whether it brought a call its response headers.
    pub(crate) has_served: bool,
    /// Whether calls continue over it, which may get theirs yet.
    pub(crate) has_calls: bool,
    /// Why the server is to blame; `None`: we ended it.
    pub(crate) error: Option<NotConnected>,
}

impl Loss {
    /// Whether the server ended it before it was of use.
    pub(crate) fn is_bad(&self) -> bool {
        !self.has_served && self.error.is_some()
    }
}

impl Lifecycle {
    pub(crate) fn new(backoff: ConnectBackoff) -> Self {
        Self { waits: Waits::new(backoff), phase: Phase::Idle, failure: None }
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
        self.failure = Some(error);
        wait.saturating_sub(now.saturating_duration_since(began))
    }

    pub(crate) fn lost(&mut self, loss: Loss, now: Instant, jitter: &mut dyn JitterSource) {
        if loss.has_served || now.saturating_duration_since(loss.made) >= self.waits.longest() {
            self.waits.reset();
        }
        if self.phase == Phase::Connecting {
            return;
        }
        (self.phase, self.failure) = (Phase::Idle, None);
        if loss.is_bad() {
            let until = loss.made.checked_add(self.waits.draw(jitter));
            if until.is_none_or(|until| until > now) {
                // Calls fail only once it is known to be of no use.
                let error = loss.error.filter(|_| !loss.has_calls);
                (self.phase, self.failure) = (Phase::Waiting(until), error);
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

    /// It has other addresses: there is nothing to wait for.
    pub(crate) fn moved(&mut self) {
        if matches!(self.phase, Phase::Waiting(_)) {
            self.waits.reset();
            self.phase = Phase::Connecting;
        }
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

    pub(crate) fn failure(&self) -> Option<&NotConnected> {
        self.failure.as_ref()
    }

    /// When the next attempt to connect begins; `None`: never.
    pub(crate) fn next_attempt(&self, now: Instant) -> Option<Instant> {
        match self.phase {
            Phase::Idle | Phase::Connecting => Some(now),
            Phase::Waiting(until) => until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_driver::__house::Clock;
    use gax_retry::jitter::NoJitter;
    use tonic::codegen::StdError;

    fn second(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
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
                Loss { made, has_served, has_calls: false, error: Some(error("it broke")) },
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
        assert_eq!(waits(&[(0.0, false), (0.1, true), (0.0, false)]), [1000, 0, 1000]);
    }

    #[test]
    fn any_other_is_followed_after_the_back_off_less_its_age() {
        let lives = [0.25, 0.25, 3.0, 120.0, 0.0].map(|age| (age, false));
        assert_eq!(waits(&lives), [750, 1350, 0, 0, 1600]);
        // One that lived exactly as long has nothing to wait for.
        assert_eq!(waits(&[(1.0, false)]), [0]);
    }

    #[test]
    fn a_connection_that_we_ended_is_followed_at_once() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        life.lost(Loss { made: now, has_served: false, has_calls: false, error: None }, now, &mut NoJitter);
        assert_eq!(life.step(now, false), Step::Rest);
        assert!(life.want() && !life.want());
    }

    /// As behind a server whose connections live shorter than its calls: they wait, and wait for nothing once it has replied.
    #[test]
    fn a_connection_with_calls_may_serve_yet() {
        let (mut life, now) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        let error = Some(error("closed"));
        life.lost(Loss { made: now, has_served: false, has_calls: true, error }, now, &mut NoJitter);
        assert!(life.failure().is_none() && !life.want());
        assert_eq!(life.step(now, false), Step::WaitUntil(Some(now + second(1.0))));
        life.served();
        assert!(life.want());
    }

    #[test]
    fn failures_grow_and_count_from_the_start_of_an_attempt() {
        let (mut life, began) = (Lifecycle::new(ConnectBackoff::default()), Clock::start().now().0);
        let mut failed = |began, now| life.failed(error("refused"), began, now, &mut NoJitter);
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
        assert_eq!((fail(&mut life), fail(&mut life)), (second(1.0), second(1.6)));
        life.moved();
        assert_eq!(life.step(now, false), Step::Connect);
        assert_eq!(fail(&mut life), second(1.0));
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
