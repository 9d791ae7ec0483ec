//! What goes into a decision and what comes out.

use crate::{Code, StopReason};
use std::time::Duration;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ending {
    code: Code,
    delivered: Delivered,
    retryable: Option<bool>,
    server: ServerWord,
}

/// What the server says of the wait before another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerWord {
    /// Nothing.
    None,
    /// It is not to be shorter than that.
    AtLeast(Duration),
}

impl ServerWord {
    /// The wait that the server asks for, where it is longer than the one that back-off gives.
    pub(super) fn beyond(self, wait: Duration) -> Option<Duration> {
        match self {
            ServerWord::AtLeast(delay) if delay > wait => Some(delay),
            ServerWord::None | ServerWord::AtLeast(_) => None,
        }
    }
}

/// What became of the messages of a stream's attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivered {
    Nothing,
    Resumable,
    Final,
}

impl Ending {
    /// It ended with that code, and the caller has seen nothing of it.
    #[must_use]
    pub fn new(code: Code) -> Self {
        Self { code, delivered: Delivered::Nothing, retryable: None, server: ServerWord::None }
    }

    /// The caller has received messages of it. Another attempt can follow only if it can take up the
    /// stream where this one left it; back-off and the number of attempts then begin anew, while the
    /// total timeout runs on.
    #[must_use]
    pub fn after_messages(self, resumable: bool) -> Self {
        let delivered = if resumable { Delivered::Resumable } else { Delivered::Final };
        Self { delivered, ..self }
    }

    /// It may be retried, or not, whatever set its code is in: more is known of it than the code. That
    /// a request was answered with HTTP 408, for one, or that it must not be sent twice.
    #[must_use]
    pub fn retryable(self, retryable: bool) -> Self {
        Self { retryable: Some(retryable), ..self }
    }

    /// The server asks for a wait of so much at least: HTTP's `Retry-After`, or `google.rpc.RetryInfo`.
    ///
    /// It only ever lengthens the wait that back-off gives, and back-off itself does not grow by it. If
    /// the operation has no time for it, the operation ends now
    /// ([`StopReason::ServerDelayExceedsBudget`]).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Code, Decision, Ending, NoJitter, OperationState, RetrySettings, Schedule, StopReason};
    /// use std::time::Duration;
    ///
    /// let s = Duration::from_secs;
    /// let settings = RetrySettings::builder().initial_retry_delay(s(1)).total_timeout(s(60)).build()?;
    /// let schedule = Schedule::new(&settings, Code::Unavailable);
    /// let mut operation = OperationState::default();
    /// let unavailable = Ending::new(Code::Unavailable);
    ///
    /// let decision = operation.ended(&schedule, s(0), unavailable.after_at_least(s(5)), &mut NoJitter);
    /// let Decision::Retry(retry) = decision else { panic!() };
    /// assert_eq!(retry.wait(), s(5));
    ///
    /// let decision = operation.ended(&schedule, s(5), unavailable.after_at_least(s(55)), &mut NoJitter);
    /// let Decision::Stop(stop) = decision else { panic!() };
    /// assert_eq!(stop.reason(), StopReason::ServerDelayExceedsBudget);
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    #[must_use]
    pub fn after_at_least(self, delay: Duration) -> Self {
        Self { server: ServerWord::AtLeast(delay), ..self }
    }

    /// What the server says of the wait.
    pub(super) fn server_word(self) -> ServerWord {
        self.server
    }

    /// What is known beyond the code.
    pub(super) fn is_retryable(self) -> Option<bool> {
        self.retryable
    }

    /// Whether messages were delivered that no later attempt could continue.
    pub(super) fn is_committed(self) -> bool {
        self.delivered == Delivered::Final
    }

    /// Whether messages were delivered that a later attempt can continue.
    pub(super) fn is_resumable(self) -> bool {
        self.delivered == Delivered::Resumable
    }

    /// The code it ended with.
    #[must_use]
    pub fn code(self) -> Code {
        self.code
    }
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an operation succeeds, goes on or stops: there is no fourth way"
)]
pub enum Decision {
    /// The attempt succeeded, and the operation with it.
    Done,
    /// Another attempt follows.
    Retry(Retry),
    /// The operation ends with this attempt's error.
    Stop(Stop),
}

/// Another attempt, and the wait before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    attempt: u32,
    delay: Duration,
    wait: Duration,
}

impl Retry {
    pub(crate) fn new(attempt: u32, delay: Duration, wait: Duration) -> Self {
        Self { attempt, delay, wait }
    }

    /// The number of the attempt that follows.
    #[must_use]
    pub fn attempt(self) -> u32 {
        self.attempt
    }

    /// The delay that back-off gives, before jitter.
    #[must_use]
    pub fn delay(self) -> Duration {
        self.delay
    }

    /// How long to wait, from the moment that was handed in. Zero: go on at once, without a timer.
    #[must_use]
    pub fn wait(self) -> Duration {
        self.wait
    }
}

/// The end of an operation that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    reason: StopReason,
    not_attempted: Option<NotAttempted>,
    at_deadline: bool,
}

impl Stop {
    /// An end that no attempt was planned beyond.
    #[must_use]
    pub fn new(reason: StopReason) -> Self {
        Self { reason, not_attempted: None, at_deadline: false }
    }

    pub(crate) fn refusing(reason: StopReason, attempt: u32, delay: Duration) -> Self {
        Self { not_attempted: Some(NotAttempted { attempt, delay }), ..Self::new(reason) }
    }

    /// An end that the deadline itself brought.
    pub(crate) fn at_deadline() -> Self {
        Self { at_deadline: true, ..Self::new(StopReason::TotalTimeout) }
    }

    /// Whether the operation ends as `DEADLINE_EXCEEDED`, with the last attempt's error behind it, in place of
    /// that error: gRPC waits for the deadline, by every other rules the operation ends before.
    #[must_use]
    pub fn is_at_deadline(self) -> bool {
        self.at_deadline
    }

    /// Why.
    #[must_use]
    pub fn reason(self) -> StopReason {
        self.reason
    }

    /// The attempt that was planned and then not made, where a limit stands in its way.
    #[must_use]
    pub fn not_attempted(self) -> Option<NotAttempted> {
        self.not_attempted
    }
}

/// An attempt that a limit kept from being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAttempted {
    attempt: u32,
    delay: Duration,
}

impl NotAttempted {
    /// The number it would have had.
    #[must_use]
    pub fn attempt(self) -> u32 {
        self.attempt
    }

    /// The wait that would have come before it.
    #[must_use]
    pub fn delay(self) -> Duration {
        self.delay
    }
}
