//! The facts that a protocol reports of an attempt that has ended.

use crate::nanos::{FOREVER, bounded, limited};
use crate::operation::Next;
use crate::{Code, ServerDelay, StopReason};
use std::time::Duration;

/// The facts of an attempt that has ended. The operation decides their meaning.
///
/// # Examples
///
/// ```
/// use gax_retry::{Code, ServerDelay};
/// use gax_retry::operation::AttemptResult;
/// use std::time::Duration;
///
/// let refused = AttemptResult::failed(Code::Unavailable)
///     .with_server_delay(ServerDelay::AtLeast(Duration::from_secs(2)));
/// assert_eq!(refused.code(), Code::Unavailable);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct AttemptResult {
    pub(super) outcome: Outcome,
    pub(super) delivery: Delivery,
    pub(super) resend: Resend,
    pub(super) seen: Seen,
    pub(super) retry: RetryFact,
    repetition: Repetition,
    pub(super) idempotent: bool,
    pub(super) timed_out: bool,
    pub(super) progress: bool,
    pub(super) replayable: Replayable,
    asks: Asks,
    /// The delay that the server asks for: in two parts, next to the small fields above, it takes less than a `Duration`.
    delay_seconds: u64,
    delay_nanos: u32,
    /// In nanoseconds since the operation's start; [`FOREVER`] is just now.
    end: u64,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a reply, a reply that says \"not yet\", or an error")]
pub enum Outcome {
    /// With the reply that the operation is made for.
    Done,
    /// With a reply which says that what was asked for is not done yet: a long-running operation, a transfer.
    NotDone(Next),
    /// With that code.
    Failed(Code),
}

/// How far the request got. What is farther is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "SCREAMING_SNAKE_CASE")
)]
pub enum Delivery {
    /// It never left the client.
    NotSent,
    /// The server said that it has not looked at it.
    NotProcessed,
    /// It may have been carried out.
    #[default]
    Unknown,
}

/// Says whether the attempt can be repeated as if it had never been made (gRFC A6, transparent retries).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Resend {
    /// It is treated as an attempt.
    #[default]
    No,
    /// It was lost on an existing connection before it left: up to three times between two attempts.
    Lost,
    /// The server refused the stream unseen: once in an operation.
    Refused,
    /// A connection that was used again had been closed meanwhile: once between two attempts.
    Stale,
    /// The server has refused cached credentials, and others are fetched: once, until the operation gets on. The server has
    /// received the request, so it has to be safe to repeat or certainly not carried out. Its RPC timeout starts again.
    Renewed,
}

/// Says whether the request can be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a request is buffered, is not, or is no longer")]
pub enum Replayable {
    /// All that was sent of it is buffered.
    #[default]
    Yes,
    /// It can be sent once only.
    No,
    /// With this attempt more of it was sent than is buffered, which commits the operation to the attempt (gRFC A6).
    OverLimit,
}

impl From<bool> for Replayable {
    fn from(is_buffered: bool) -> Self {
        if is_buffered { Replayable::Yes } else { Replayable::No }
    }
}

/// How much of the response the caller, or the protocol on the caller's behalf, has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a response has headers, then messages")]
pub enum Seen {
    /// Nothing: the status came alone.
    #[default]
    Nothing,
    /// Its headers.
    Headers,
    /// Its headers, and perhaps messages that the caller did not get: the stream can still be resumed.
    Begun,
    /// Messages, which another attempt can continue after if `resumable`.
    Messages {
        /// `true` if a later attempt can take up the stream where this one left it.
        resumable: bool,
    },
}

/// Says whether the failure is one that is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the code decides, or the protocol knows more than the code")]
pub enum RetryFact {
    /// If its code is in the method's set.
    ByCode,
    /// Yes, whatever set its code is in.
    Yes,
    /// Yes: the client's own HTTP/2 stack has closed the connection because of one response on it, and it is unknown which
    /// one. The wait before another attempt is spread out. A [policy](super::Policy::permits) says whether that is retried.
    ClosedByUs,
    /// No, for that reason, whatever set its code is in.
    No(StopReason),
}

/// Says whether a failure can come of an earlier attempt that was carried out: what was deleted is not found, and
/// what was made is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "the code decides, or the protocol knows more than the code")]
pub enum Repetition {
    /// If its code is `ALREADY_EXISTS`, `ABORTED` or `FAILED_PRECONDITION`; in a hedged operation also `NOT_FOUND`.
    #[default]
    ByCode,
    /// Yes, regardless of its code.
    Yes,
    /// No, since the request changes nothing, or by what else the server said: a hedge that fails so decides
    /// immediately.
    No,
}

/// The kind of delay that a server asks for: apart from its length it takes a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    Nothing,
    AtLeast,
    Exactly,
    Never,
}

impl AttemptResult {
    fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            delivery: Delivery::Unknown,
            resend: Resend::No,
            seen: Seen::Nothing,
            retry: RetryFact::ByCode,
            repetition: Repetition::ByCode,
            idempotent: true,
            timed_out: false,
            progress: false,
            replayable: Replayable::Yes,
            asks: Asks::Nothing,
            delay_seconds: 0,
            delay_nanos: 0,
            end: FOREVER,
        }
    }

    /// It has the reply.
    #[inline]
    pub fn done() -> Self {
        Self::new(Outcome::Done)
    }

    /// It has a reply which says that what was asked for is not done yet, and when to ask again.
    pub fn not_done(next: Next) -> Self {
        Self::new(Outcome::NotDone(next))
    }

    /// It ended with that code. `OK` isn't a failure: it is treated as [`done`](Self::done).
    pub fn failed(code: Code) -> Self {
        Self::new(if code == Code::Ok { Outcome::Done } else { Outcome::Failed(code) })
    }

    gax_text::setters! { self:
        /// When it ended, counted from the operation's start. Default: now. The wait before the next attempt starts then,
        /// so it includes the time that the protocol needed since.
        pub with_end(ended_at: Duration) => self.end = limited(ended_at);

        /// This result, except for the code.
        #[cfg(feature = "plan")]
        pub(crate) with_code(code: Code) => self.outcome = Self::failed(code).outcome;
    }

    /// Our own clock ended it, or something that is treated as that: its RPC timeout was used up. If that timeout was all that
    /// was left of the operation's time, the operation ends there, whatever its codes.
    pub fn with_timed_out(self) -> Self {
        Self { timed_out: true, ..self }
    }

    gax_text::setters! { self:
        /// Sets whether the attempt has brought the operation on, by itself or by messages that it delivered: back-off starts again
        /// then, although it failed. False unless said.
        pub with_progress(progress: bool) => self.progress = progress;

        /// How far the request got; [`Delivery::Unknown`] unless said.
        pub with_delivery(delivery: Delivery) => self.delivery = delivery;

        /// Sets whether it can be repeated without counting; [`Resend::No`] unless said.
        pub with_resend(resend: Resend) => self.resend = resend;

        /// How much was received of the response; [`Seen::Nothing`] unless said.
        pub with_seen(seen: Seen) => self.seen = seen;

        /// Sets whether the failure is retried; by its code unless said.
        pub with_retry(retry: RetryFact) => self.retry = retry;

        /// Sets whether the failure can come of an earlier attempt that was carried out; by its code unless said.
        pub with_repetition(repetition: Repetition) => self.repetition = repetition;

        /// Sets whether the request is safe to retry. Default: true. A request that isn't safe is retried only if it was
        /// certainly not processed.
        pub with_idempotent(idempotent: bool) => self.idempotent = idempotent;

        /// Sets whether the request is buffered, so that it can be sent again; [`Replayable::Yes`], or `true`, unless said.
        pub with_replayable(replayable: impl Into<Replayable>) => self.replayable = replayable.into();
    }

    /// The delay that the server asks for; none unless said.
    pub fn with_server_delay(self, server_delay: ServerDelay) -> Self {
        let (asks, delay) = match server_delay {
            ServerDelay::None => (Asks::Nothing, Duration::ZERO),
            ServerDelay::AtLeast(delay) => (Asks::AtLeast, delay),
            ServerDelay::Exactly(delay) => (Asks::Exactly, delay),
            ServerDelay::Never => (Asks::Never, Duration::ZERO),
        };
        Self { asks, delay_seconds: delay.as_secs(), delay_nanos: delay.subsec_nanos(), ..self }
    }

    /// Returns whether the request may be sent again, as far as what it does is concerned.
    pub(super) fn is_repeatable(self) -> bool {
        self.idempotent || self.delivery != Delivery::Unknown
    }

    /// Returns whether the failure can come of an earlier attempt that was carried out, for all that its code says.
    pub(super) fn may_be_repetition(self, is_hedged: bool) -> bool {
        match (self.repetition, self.code()) {
            (Repetition::Yes, _) => true,
            (Repetition::No, _) => false,
            // Whoever retries it regardless of its code knows that no server refused it for what was done before.
            (Repetition::ByCode, _) if self.retry == RetryFact::Yes => false,
            (Repetition::ByCode, Code::NotFound) => is_hedged,
            (Repetition::ByCode, code) => {
                matches!(code, Code::AlreadyExists | Code::Aborted | Code::FailedPrecondition)
            }
        }
    }

    /// The delay that the server asks for.
    pub(super) fn server_delay(self) -> ServerDelay {
        let delay = || Duration::new(self.delay_seconds, self.delay_nanos);
        match self.asks {
            Asks::Nothing => ServerDelay::None,
            Asks::AtLeast => ServerDelay::AtLeast(delay()),
            Asks::Exactly => ServerDelay::Exactly(delay()),
            Asks::Never => ServerDelay::Never,
        }
    }

    /// When it ended, in nanoseconds; [`FOREVER`] is just now.
    pub(super) fn end(self) -> u64 {
        self.end
    }

    /// When it ended, if that was not just now.
    #[must_use]
    pub fn ended_at(self) -> Option<Duration> {
        bounded(self.end)
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        self.outcome
    }

    /// The code it ended with; a reply has `OK`, whatever it says.
    #[must_use]
    pub fn code(self) -> Code {
        match self.outcome {
            Outcome::Done | Outcome::NotDone(_) => Code::Ok,
            Outcome::Failed(code) => code,
        }
    }

    /// Returns whether the operation is this attempt's, for all that is known of its end: the caller gets the response before it has
    /// ended, or more of the request was sent than is buffered.
    #[must_use]
    pub fn is_committed(self) -> bool {
        self.replayable == Replayable::OverLimit
            || self.outcome == Outcome::Done && matches!(self.seen, Seen::Messages { .. })
    }

    gax_text::getters! { move self:
        /// Returns whether it can be repeated without counting.
        pub resend: Resend = self.resend;

        /// Returns whether the failure is retried.
        pub retry: RetryFact = self.retry;

        /// How far the request got.
        pub delivery: Delivery = self.delivery;
    }
}
