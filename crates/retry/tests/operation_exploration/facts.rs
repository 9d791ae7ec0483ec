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
    Ends(How),
    Commits(CommitPoint),
    Cancelled,
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum How {
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

impl How {
    pub(crate) fn result(self, now: Duration) -> AttemptResult {
        let unavailable = AttemptResult::failed(Code::Unavailable);
        match self {
            How::Done => AttemptResult::done(),
            How::NotDone => AttemptResult::not_done(Next::Later),
            How::Unavailable => unavailable,
            How::DeadlineExceeded => AttemptResult::failed(Code::DeadlineExceeded),
            How::Internal => AttemptResult::failed(Code::Internal),
            How::Forced => AttemptResult::failed(Code::Internal).with_retry(RetryFact::Yes),
            How::Forbidden => unavailable.with_retry(RetryFact::No(StopReason::ChannelClosed)),
            How::Lost => unavailable.with_resend(Resend::Lost),
            How::Refused => unavailable.with_resend(Resend::Refused),
            How::Stale => unavailable.with_resend(Resend::Stale),
            How::NotReplayable => unavailable.with_replayable(false),
            How::OverLimit => unavailable.with_replayable(Replayable::OverLimit),
            How::NotIdempotent => unavailable.with_idempotent(false),
            How::NotIdempotentNotSent => unavailable.with_idempotent(false).with_delivery(Delivery::NotSent),
            How::AtLeast(ms) => {
                unavailable.with_server_delay(ServerDelay::AtLeast(Duration::from_millis(ms)))
            }
            How::Exactly(ms) => {
                unavailable.with_server_delay(ServerDelay::Exactly(Duration::from_millis(ms)))
            }
            How::Drained => How::AtLeast(4).result(now).with_end(now.saturating_sub(3 * MS)),
            How::Never => unavailable.with_server_delay(ServerDelay::Never),
            How::InternalNever => AttemptResult::failed(Code::Internal).with_server_delay(ServerDelay::Never),
            How::AfterHeaders => unavailable.with_seen(Seen::Headers),
            How::AfterMessages => unavailable.with_seen(Seen::Messages { resumable: false }),
            How::Resumable => unavailable.with_seen(Seen::Messages { resumable: true }),
        }
    }

    /// The limit of a transparent retry, if this asks for one.
    pub(crate) fn resend(self) -> Option<Resend> {
        match self {
            How::Lost => Some(Resend::Lost),
            How::Refused => Some(Resend::Refused),
            How::Stale => Some(Resend::Stale),
            _ => None,
        }
    }

    pub(crate) fn asks_for_a_delay(self) -> bool {
        matches!(self, How::AtLeast(_) | How::Exactly(_) | How::Drained)
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

const fn ends(when: When, how: How) -> Fact {
    fact(when, What::Ends(how))
}

/// Codes, and times around every boundary.
const TIMES: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    fact(When::JustBefore, What::Nothing),
    fact(When::JustAfter, What::Nothing),
    fact(When::Late, What::Nothing),
    ends(When::Now, How::Unavailable),
    ends(When::Soon, How::Unavailable),
    ends(When::JustBefore, How::Unavailable),
    ends(When::Due, How::DeadlineExceeded),
    ends(When::JustAfter, How::Done),
    ends(When::Soon, How::Internal),
    ends(When::Soon, How::NotDone),
    fact(When::Soon, What::Cancelled),
];

/// How far the request got, and what can be done with it.
const DELIVERIES: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    ends(When::Now, How::Lost),
    ends(When::Due, How::Lost),
    ends(When::Soon, How::Refused),
    ends(When::Soon, How::Stale),
    ends(When::Soon, How::Unavailable),
    ends(When::Soon, How::NotReplayable),
    ends(When::Soon, How::NotIdempotent),
    ends(When::Soon, How::NotIdempotentNotSent),
    ends(When::Soon, How::Forced),
    ends(When::Soon, How::Forbidden),
    fact(When::Now, What::Cancelled),
];

/// The wishes of servers: nothing, a wait that there is time for, one that there is none for, none at all.
const SERVER_DELAYS: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    ends(When::Due, How::Drained),
    ends(When::Soon, How::Unavailable),
    ends(When::Soon, How::Drained),
    ends(When::Soon, How::AtLeast(20)),
    ends(When::Soon, How::AtLeast(40)),
    ends(When::Soon, How::Exactly(0)),
    ends(When::Now, How::Exactly(1)),
    ends(When::Soon, How::Exactly(20)),
    ends(When::Soon, How::Exactly(40)),
    ends(When::Soon, How::Never),
    ends(When::Soon, How::InternalNever),
];

/// How much the caller has seen.
const RESPONSES: [Fact; 12] = [
    fact(When::Due, What::Nothing),
    fact(When::JustAfter, What::Nothing),
    fact(When::Soon, What::Commits(CommitPoint::Headers)),
    fact(When::Now, What::Commits(CommitPoint::FirstMessage)),
    fact(When::Due, What::Commits(CommitPoint::FirstMessage)),
    ends(When::Soon, How::Unavailable),
    ends(When::Soon, How::AfterHeaders),
    ends(When::Soon, How::AfterMessages),
    ends(When::Soon, How::Resumable),
    ends(When::Soon, How::Lost),
    ends(When::Soon, How::Done),
    fact(When::Soon, What::Cancelled),
];

pub(crate) const ALL: [&[Fact]; 4] = [&TIMES, &DELIVERIES, &SERVER_DELAYS, &RESPONSES];

/// Facts of several attempts in flight, each of which is taken in turn: fewer facts, more attempts.
const HEDGED_TIMES: [Fact; 8] = [
    fact(When::Due, What::Nothing),
    fact(When::JustBefore, What::Nothing),
    fact(When::JustAfter, What::Nothing),
    ends(When::Now, How::Unavailable),
    ends(When::Soon, How::Internal),
    ends(When::Soon, How::Done),
    fact(When::Now, What::Commits(CommitPoint::FirstMessage)),
    fact(When::Now, What::Cancelled),
];

const HEDGED_FAILURES: [Fact; 9] = [
    fact(When::Due, What::Nothing),
    ends(When::Now, How::Exactly(4)),
    ends(When::Soon, How::Exactly(40)),
    ends(When::Soon, How::Never),
    ends(When::Soon, How::Lost),
    ends(When::Soon, How::NotReplayable),
    ends(When::Soon, How::OverLimit),
    ends(When::Soon, How::Resumable),
    ends(When::Soon, How::Unavailable),
];

pub(crate) const HEDGED: [&[Fact]; 2] = [&HEDGED_TIMES, &HEDGED_FAILURES];
