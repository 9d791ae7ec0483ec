//! The actions of an operation, and the world that it asks for time and randomness.

use super::Stop;
use crate::StartedAttempt;
use crate::jitter::JitterSource;
use std::time::Duration;

/// The world of an operation: time and randomness. It asks only when it needs the reply: an operation whose
/// first attempt succeeds asks nothing.
pub trait World {
    /// The time since the operation's start.
    fn now(&mut self) -> Duration;

    /// The time since a moment that all operations of the program share, which budgets over a span of time count by.
    /// The operation's own time, unless said.
    fn uptime(&mut self) -> Duration {
        self.now()
    }

    /// Where its jitter comes from.
    fn jitter(&mut self) -> &mut dyn JitterSource;
}

/// One thing for the driver to do. After it is done, the driver asks for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver has to carry out every kind of action")]
pub enum Action {
    /// Send the request: this attempt starts now.
    Send(StartedAttempt),
    /// The attempt of that number has used up its RPC timeout. What that amounts to is the protocol's to
    /// say: the driver asks it and hands its [`AttemptResult`](super::AttemptResult) back.
    Expire(u32),
    /// Drop the attempt of that number: another one has won, or the operation has ended.
    Cancel(u32),
    /// Wait until that moment, counted from the operation's start, or until another fact is reported. `None`: until a
    /// fact is reported.
    Wait(Option<Duration>),
    /// The operation has ended. This is returned once, as the last action.
    Finish(End),
}

/// How an operation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an operation has a reply or none")]
pub enum End {
    /// With the reply of the attempt of that number.
    Reply(u32),
    /// Without one.
    Failure(Stop),
}

/// The next thing after an attempt that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowUp {
    /// That attempt again.
    Resend,
    /// Another attempt, after that delay.
    Attempt(Duration),
    /// Nothing but the attempts in flight.
    InFlight,
    End(End),
}
