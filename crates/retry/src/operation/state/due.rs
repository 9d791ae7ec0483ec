//! The operation's next step.

use crate::nanos::FOREVER;
use crate::operation::{End, action::FollowUp};
use crate::{AttemptKind, StartedAttempt};
use std::time::Duration;

/// The operation's next step, as far as it is known: an operation that ends sends nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// The attempts in flight say.
    Nothing,
    /// That attempt is sent again, now.
    Now(StartedAttempt),
    /// An attempt is sent after a delay of that length, which ends then: both in nanoseconds.
    After { kind: AttemptKind, delay: u64, at: u64 },
    /// The operation ends.
    End(End),
}

impl Due {
    /// When its delay ends; [`FOREVER`]: there is nothing to wait for.
    pub(super) fn at(self) -> u64 {
        if let Due::After { at, .. } = self { at } else { FOREVER }
    }

    /// The operation's end, if that is known.
    pub(super) fn end(self) -> Option<End> {
        if let Due::End(end) = self { Some(end) } else { None }
    }

    /// It becomes that one, unless the operation's end is known.
    pub(super) fn set(&mut self, next: Due) {
        if self.end().is_none() {
            *self = next;
        }
    }

    /// The follow-up that it is to the attempt that ended last.
    pub(super) fn follow_up(self) -> Option<FollowUp> {
        match self {
            Due::Nothing => None,
            Due::Now(_) => Some(FollowUp::Resend),
            Due::After { delay, .. } => Some(FollowUp::Attempt(Duration::from_nanos(delay))),
            Due::End(end) => Some(FollowUp::End(end)),
        }
    }
}
