//! The polls of one operation, whose back-off is apart from that of retries.

use crate::operation::{Next, Policy};
use crate::rules::Progress;

/// The polls so far. Nothing is allocated for an operation that does not poll.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Polls(Option<Box<PollState>>);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PollState {
    pub(super) progress: Progress,
    /// How many attempts count towards the greatest number of them.
    pub(super) count: u32,
    /// `true` if the last reply asked for the next attempt immediately, without progress.
    is_idle: bool,
}

impl Polls {
    fn state(&mut self, policy: &Policy) -> &mut PollState {
        self.0.get_or_insert_with(|| {
            Box::new(PollState { progress: policy.rules.begin(), count: 0, is_idle: false })
        })
    }

    /// How far back-off has come.
    pub(super) fn progress(&mut self, policy: &Policy) -> &mut Progress {
        &mut self.state(policy).progress
    }

    /// An attempt failed, so that the next reply does not follow the last one. With progress polls start again.
    pub(super) fn failed(&mut self, has_progress: bool) {
        if has_progress {
            self.0 = None;
        }
        if let Some(state) = &mut self.0 {
            state.is_idle = false;
        }
    }

    /// A reply said that what was asked for is not done. A second one in a row that wants another attempt immediately, without any
    /// progress, gets one later. Progress resets the number of polls, not their back-off: a server may wait before it replies.
    pub(super) fn not_done(
        &mut self,
        policy: &Policy,
        next: Next,
        has_progress: bool,
    ) -> (&mut PollState, Next) {
        let state = self.state(policy);
        if has_progress {
            state.count = 0;
        }
        let is_idle = next == Next::Now && !has_progress;
        let next = if is_idle && state.is_idle { Next::Later } else { next };
        state.is_idle = is_idle;
        if next == Next::Later {
            state.count = state.count.saturating_add(1);
        }
        (state, next)
    }
}
