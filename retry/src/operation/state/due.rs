//! The attempt that is to be sent next.

use crate::nanos::FOREVER;
use crate::operation::action::FollowUp;
use crate::{AttemptKind, StartedAttempt};
use std::time::Duration;

/// An attempt that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Now, once more.
    Now(StartedAttempt),
    /// After a delay of that length, which ends then: both in nanoseconds.
    After { kind: AttemptKind, delay: u64, at: u64 },
}

impl Due {
    /// When its delay ends; [`FOREVER`]: there is nothing to wait for.
    pub(super) fn at(self) -> u64 {
        match self {
            Due::Now(_) => FOREVER,
            Due::After { at, .. } => at,
        }
    }

    /// The follow-up that it is to the attempt that ended last.
    pub(super) fn follow_up(self) -> FollowUp {
        match self {
            Due::Now(_) => FollowUp::Resend,
            Due::After { delay, .. } => FollowUp::Attempt(Duration::from_nanos(delay)),
        }
    }
}
