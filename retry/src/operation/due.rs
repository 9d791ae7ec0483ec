//! The attempt that is to be sent next.

use super::action::FollowUp;
use crate::{AttemptKind, StartedAttempt};
use std::time::Duration;

/// An attempt that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Now. What was started is sent in the same step, so that only what is sent once more is ever seen to be due.
    Now(StartedAttempt),
    /// After a delay of that length, which ends then.
    After { kind: AttemptKind, delay: Duration, at: Duration },
}

impl Due {
    /// When its delay ends; `None`: there is nothing to wait for.
    pub(super) fn at(self) -> Option<Duration> {
        match self {
            Due::Now(_) => None,
            Due::After { at, .. } => Some(at),
        }
    }

    /// What it is to the attempt that ended last.
    pub(super) fn follow_up(self) -> FollowUp {
        match self {
            Due::Now(_) => FollowUp::Resend,
            Due::After { delay, .. } => FollowUp::Attempt(delay),
        }
    }
}
