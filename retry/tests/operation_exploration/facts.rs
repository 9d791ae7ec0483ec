//! The facts of one step.

use gax_retry::operation::{AttemptResult, CommitPoint, Next, Replayable, Resend, RetryFact, Seen};
use gax_retry::{Code, Delivery, ServerDelay, StopReason};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Something that happens, or nothing, at some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fact {
    pub(crate) when: When,
    pub(crate) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    Now,
    /// 3 ms later, unless the next wake-up comes first.
    Soon,
    /// A nanosecond before the next wake-up.
    JustBefore,
    /// At the next wake-up.
    Due,
    /// A nanosecond after it.
    JustAfter,
    /// 9 ms after it: the timer was late.
    Late,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    Nothing,
    Ends(Ends),
    Commits(CommitPoint),
    Cancelled,
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ends {
    Done,
    NotDone,
    Unavailable,
    DeadlineExceeded,
    Internal,
    Forced,
    Forbidden,
    Lost,
    Refused,
    Stale,
    NotReplayable,
    OverLimit,
    NotIdempotent,
    NotIdempotentNotSent,
    AtLeast(u64),
    Exactly(u64),
    /// The attempt ended 3 ms ago, and the server asks for 4 ms.
    Drained,
    Never,
    InternalNever,
    AfterHeaders,
    AfterMessages,
    Resumable,
}

impl Ends {
    pub(crate) fn result(self, now: Duration) -> AttemptResult {
        let unavailable = AttemptResult::failed(Code::Unavailable);
        match self {
            Ends::Done => AttemptResult::done(),
            Ends::NotDone => AttemptResult::not_done(Next::Later),
            Ends::Unavailable => unavailable,
            Ends::DeadlineExceeded => AttemptResult::failed(Code::DeadlineExceeded),
            Ends::Internal => AttemptResult::failed(Code::Internal),
            Ends::Forced => AttemptResult::failed(Code::Internal).with_retry(RetryFact::Yes),
            Ends::Forbidden => unavailable.with_retry(RetryFact::No(StopReason::ChannelClosed)),
            Ends::Lost => unavailable.with_resend(Resend::Lost),
            Ends::Refused => unavailable.with_resend(Resend::Refused),
            Ends::Stale => unavailable.with_resend(Resend::Stale),
            Ends::NotReplayable => unavailable.with_replayable(false),
            Ends::OverLimit => unavailable.with_replayable(Replayable::OverLimit),
            Ends::NotIdempotent => unavailable.with_idempotent(false),
            Ends::NotIdempotentNotSent => unavailable.with_idempotent(false).with_delivery(Delivery::NotSent),
            Ends::AtLeast(ms) => {
                unavailable.with_server_delay(ServerDelay::AtLeast(Duration::from_millis(ms)))
            }
            Ends::Exactly(ms) => {
                unavailable.with_server_delay(ServerDelay::Exactly(Duration::from_millis(ms)))
            }
            Ends::Drained => Ends::AtLeast(4).result(now).with_end(now.saturating_sub(3 * MS)),
            Ends::Never => unavailable.with_server_delay(ServerDelay::Never),
            Ends::InternalNever => {
                AttemptResult::failed(Code::Internal).with_server_delay(ServerDelay::Never)
            }
            Ends::AfterHeaders => unavailable.with_seen(Seen::Headers),
            Ends::AfterMessages => unavailable.with_seen(Seen::Messages { resumable: false }),
            Ends::Resumable => unavailable.with_seen(Seen::Messages { resumable: true }),
        }
    }

    /// The limit of a transparent retry, if this asks for one.
    pub(crate) fn resend(self) -> Option<Resend> {
        match self {
            Ends::Lost => Some(Resend::Lost),
            Ends::Refused => Some(Resend::Refused),
            Ends::Stale => Some(Resend::Stale),
            _ => None,
        }
    }

    pub(crate) fn asks_for_a_delay(self) -> bool {
        matches!(self, Ends::AtLeast(_) | Ends::Exactly(_) | Ends::Drained)
    }
}

impl When {
    /// The time it is then; `None`: there is no such time.
    pub(crate) fn time(self, now: Duration, wake: Option<Duration>) -> Option<Duration> {
        const NS: Duration = Duration::from_nanos(1);
        match self {
            When::Now => Some(now),
            When::Soon => Some(now + 3 * MS).filter(|soon| wake.is_none_or(|wake| *soon < wake)),
            When::JustBefore => wake?.checked_sub(NS).filter(|before| *before > now),
            When::Due => wake,
            When::JustAfter => Some(wake? + NS),
            When::Late => Some(wake? + 9 * MS),
        }
    }
}

const fn fact(when: When, what: What) -> Fact {
    Fact { when, what }
}

const fn ends(when: When, how: Ends) -> Fact {
    fact(when, What::Ends(how))
}

/// Codes, and times around every boundary.
const TIMES: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    fact(When::JustBefore, What::Nothing),
    fact(When::JustAfter, What::Nothing),
    fact(When::Late, What::Nothing),
    ends(When::Now, Ends::Unavailable),
    ends(When::Soon, Ends::Unavailable),
    ends(When::JustBefore, Ends::Unavailable),
    ends(When::Due, Ends::DeadlineExceeded),
    ends(When::JustAfter, Ends::Done),
    ends(When::Soon, Ends::Internal),
    ends(When::Soon, Ends::NotDone),
    fact(When::Soon, What::Cancelled),
];

/// How far the request got, and what can be done with it.
const DELIVERIES: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    ends(When::Now, Ends::Lost),
    ends(When::Due, Ends::Lost),
    ends(When::Soon, Ends::Refused),
    ends(When::Soon, Ends::Stale),
    ends(When::Soon, Ends::Unavailable),
    ends(When::Soon, Ends::NotReplayable),
    ends(When::Soon, Ends::NotIdempotent),
    ends(When::Soon, Ends::NotIdempotentNotSent),
    ends(When::Soon, Ends::Forced),
    ends(When::Soon, Ends::Forbidden),
    fact(When::Now, What::Cancelled),
];

/// The wishes of servers: nothing, a wait that there is time for, one that there is none for, none at all.
const SERVER_DELAYS: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    ends(When::Due, Ends::Drained),
    ends(When::Soon, Ends::Unavailable),
    ends(When::Soon, Ends::Drained),
    ends(When::Soon, Ends::AtLeast(20)),
    ends(When::Soon, Ends::AtLeast(40)),
    ends(When::Soon, Ends::Exactly(0)),
    ends(When::Now, Ends::Exactly(1)),
    ends(When::Soon, Ends::Exactly(20)),
    ends(When::Soon, Ends::Exactly(40)),
    ends(When::Soon, Ends::Never),
    ends(When::Soon, Ends::InternalNever),
];

/// How much the caller has seen.
const RESPONSES: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    fact(When::JustAfter, What::Nothing),
    fact(When::Soon, What::Commits(CommitPoint::Headers)),
    fact(When::Now, What::Commits(CommitPoint::FirstMessage)),
    fact(When::Due, What::Commits(CommitPoint::FirstMessage)),
    ends(When::Soon, Ends::Unavailable),
    ends(When::Soon, Ends::AfterHeaders),
    ends(When::Soon, Ends::AfterMessages),
    ends(When::Soon, Ends::Resumable),
    ends(When::Soon, Ends::Lost),
    ends(When::Soon, Ends::Done),
    fact(When::Soon, What::Cancelled),
];

pub(crate) const ALL: [&[Fact]; 4] = [&TIMES, &DELIVERIES, &SERVER_DELAYS, &RESPONSES];

/// Facts of several attempts in flight, each of which is taken in turn: fewer facts, more attempts.
const HEDGED_TIMES: [Fact; 8] = [
    fact(When::Due, What::Nothing),
    fact(When::JustBefore, What::Nothing),
    fact(When::JustAfter, What::Nothing),
    ends(When::Now, Ends::Unavailable),
    ends(When::Soon, Ends::Internal),
    ends(When::Soon, Ends::Done),
    fact(When::Now, What::Commits(CommitPoint::FirstMessage)),
    fact(When::Now, What::Cancelled),
];

const HEDGED_FAILURES: [Fact; 9] = [
    fact(When::Due, What::Nothing),
    ends(When::Now, Ends::Exactly(4)),
    ends(When::Soon, Ends::Exactly(40)),
    ends(When::Soon, Ends::Never),
    ends(When::Soon, Ends::Lost),
    ends(When::Soon, Ends::NotReplayable),
    ends(When::Soon, Ends::OverLimit),
    ends(When::Soon, Ends::Resumable),
    ends(When::Soon, Ends::Unavailable),
];

pub(crate) const HEDGED: [&[Fact]; 2] = [&HEDGED_TIMES, &HEDGED_FAILURES];
