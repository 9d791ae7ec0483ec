//! An operation whose driver is the test.

use crate::jitter::JitterSource;
use crate::operation::{Action, AttemptResult, CommitPoint, End, Operation, Ready, Stop, World};
use crate::{AttemptKind, Code, NoJitter, Policy, StartedAttempt};
use std::time::Duration;

/// The test says what time it is and what happens, and takes one action after another.
#[derive(Debug, Clone)]
pub(crate) struct ByHand<J = NoJitter> {
    policy: Policy,
    operation: Operation,
    clock: Clock<J>,
    /// The first action, or the end that nothing else is before, until it is taken.
    first: Option<Action>,
    /// The number of the attempt that was sent last.
    sent: u32,
}

#[derive(Debug, Clone)]
struct Clock<J> {
    now: Duration,
    jitter: J,
}

impl<J: JitterSource> World for Clock<J> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        &mut self.jitter
    }
}

impl ByHand {
    pub(crate) fn begin(policy: &Policy) -> Self {
        Self::of(policy, None, Ready::Now)
    }

    /// With a caller's deadline.
    pub(crate) fn bounded(policy: &Policy, bound: Duration) -> Self {
        Self::of(policy, Some(bound), Ready::Now)
    }

    pub(crate) fn of(policy: &Policy, bound: Option<Duration>, ready: Ready) -> Self {
        let (operation, first) = Operation::begin(policy, bound, ready);
        let now = if let Ready::Late(now) = ready { now } else { Duration::ZERO };
        let clock = Clock { now, jitter: NoJitter };
        Self { policy: policy.clone(), operation, clock, first: Some(first), sent: 0 }
    }

    pub(crate) fn with_jitter<J: JitterSource>(self, jitter: J) -> ByHand<J> {
        let Self { policy, operation, clock, first, sent } = self;
        ByHand { policy, operation, clock: Clock { now: clock.now, jitter }, first, sent }
    }
}

impl<J: JitterSource> ByHand<J> {
    /// Sets the clock: all that follows happens at that time.
    pub(crate) fn at(&mut self, now: Duration) -> &mut Self {
        self.clock.now = now;
        self
    }

    /// Lets that much time pass.
    pub(crate) fn after(&mut self, time: Duration) -> &mut Self {
        self.clock.now += time;
        self
    }

    pub(crate) fn next(&mut self) -> Action {
        let next = || self.operation.next(&self.policy, &mut self.clock);
        let action = self.first.take().unwrap_or_else(next);
        if let Action::Send(attempt) = action {
            self.sent = attempt.number();
        }
        action
    }

    /// All that is done up to that moment if nothing happens meanwhile, each with its time in milliseconds.
    #[track_caller]
    pub(crate) fn until(&mut self, moment: Duration) -> Vec<String> {
        let mut done = Vec::new();
        loop {
            assert!(done.len() < 1000, "it goes on for ever: {}, {} ..", done[0], done[1]);
            match self.next() {
                Action::Wait(Some(at)) if at <= moment => {
                    assert!(at > self.clock.now, "it waits for the past: {at:?}");
                    self.clock.now = at;
                }
                Action::Wait(_) => break,
                action => done.push(format!("{} {}", self.clock.now.as_millis(), in_words(action))),
            }
        }
        self.clock.now = moment;
        done
    }

    /// All that is done now.
    #[track_caller]
    pub(crate) fn now(&mut self) -> Vec<String> {
        self.until(self.clock.now)
    }

    /// The attempt that is sent now.
    #[track_caller]
    pub(crate) fn send(&mut self) -> StartedAttempt {
        match self.next() {
            Action::Send(attempt) => attempt,
            other => panic!("{other:?}, no attempt"),
        }
    }

    /// How long it is until something is due.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> Duration {
        match self.next() {
            Action::Wait(Some(until)) => until.saturating_sub(self.clock.now),
            other => panic!("{other:?}, no wait"),
        }
    }

    #[track_caller]
    pub(crate) fn finish(&mut self) -> End {
        match self.next() {
            Action::Finish(end) => end,
            other => panic!("{other:?}, no end"),
        }
    }

    #[track_caller]
    pub(crate) fn stop(&mut self) -> Stop {
        match self.finish() {
            End::Failure(stop) => stop,
            reply @ End::Reply(_) => panic!("{reply:?}, no failure"),
        }
    }

    /// The attempt of that number has ended.
    pub(crate) fn ended(&mut self, attempt: u32, result: AttemptResult) -> &mut Self {
        if self.operation.ended(&self.policy, attempt, result, &mut self.clock) {
            self.first = Some(Action::Finish(End::Reply(attempt)));
        }
        self
    }

    /// The attempt that was sent last has ended.
    pub(crate) fn ends(&mut self, result: AttemptResult) -> &mut Self {
        self.ended(self.sent, result)
    }

    /// The attempt that was sent last has failed with that code.
    pub(crate) fn fails(&mut self, code: Code) -> &mut Self {
        self.ends(AttemptResult::failed(code))
    }

    pub(crate) fn committed(&mut self, attempt: u32, point: CommitPoint) -> &mut Self {
        self.operation.committed(&self.policy, attempt, point);
        self
    }

    pub(crate) fn progressed(&mut self, attempt: u32) -> &mut Self {
        self.operation.progressed(&self.policy, attempt);
        self
    }

    /// Its request can't be sent while an attempt is in flight.
    pub(crate) fn close_hedges(&mut self) -> &mut Self {
        self.operation.close_hedges();
        self
    }

    pub(crate) fn cancelled(&mut self) -> &mut Self {
        self.operation.cancelled(&self.policy);
        self
    }

    pub(crate) fn operation(&self) -> &Operation {
        &self.operation
    }

    pub(crate) fn wake_at(&self) -> Option<Duration> {
        self.operation.wake_at(&self.policy)
    }
}

/// An action in a few words: what is sent and why, what ends the operation and what was not attempted.
fn in_words(action: Action) -> String {
    match action {
        Action::Send(attempt) => {
            let kind = match attempt.kind() {
                AttemptKind::Original => "send",
                AttemptKind::Retry => "retry",
                AttemptKind::Resend => "resend",
                AttemptKind::Hedge => "hedge",
                AttemptKind::Resume => "resume",
                AttemptKind::Poll => "poll",
            };
            format!("{kind} {}", attempt.number())
        }
        Action::Expire(number) => format!("expire {number}"),
        Action::Cancel(number) => format!("cancel {number}"),
        Action::Wait(until) => format!("wait {until:?}"),
        Action::Finish(End::Reply(number)) => format!("reply {number}"),
        Action::Finish(End::Failure(stop)) => {
            let error = stop.attempt().map_or(String::new(), |number| format!(" of {number}"));
            let at_deadline = if stop.is_at_deadline() { " at the deadline" } else { "" };
            let refused = stop.not_attempted().map_or(String::new(), |refused| {
                format!(" before {} after {}", refused.attempt(), refused.delay().as_millis())
            });
            format!("stop{error} {}{at_deadline}{refused}", stop.reason())
        }
    }
}
