//! One operation on its way through a schedule.

use super::progress::Progress;
use super::{Decision, Ending, Rules, Schedule, Stop};
use crate::{Code, JitterSource, Started, StopReason};
use std::time::Duration;

/// How far one operation has come.
///
/// Feed it what happens: [`start`](Self::start) when an attempt is about to be sent,
/// [`ended`](Self::ended) when it has ended. Times count from the operation's start. An operation stays
/// with the schedule that it began with.
#[derive(Debug, Clone, Default)]
pub struct OperationState {
    progress: Progress,
}

impl OperationState {
    /// Asks for the next attempt, `now` that it is about to be sent.
    ///
    /// The RPC timeout is measured against what is left of the total now, after the wait, however late
    /// the timer was. (With [`Compatibility::GaxJava`](crate::Compatibility::GaxJava) it was settled
    /// when the attempt before ended.)
    ///
    /// # Errors
    ///
    /// The operation has no time left for the attempt: it ends with the error of the attempt before.
    #[inline]
    pub fn start(&mut self, schedule: &Schedule, now: Duration) -> Result<Started, Stop> {
        match &schedule.rules {
            Rules::Documented(rules) => rules.start(&mut self.progress, now),
            Rules::GaxJava(rules) => rules.start(&mut self.progress, now),
            Rules::Grpc(rules) => rules.start(&mut self.progress, now),
            Rules::Recipe(rules) => rules.start(&mut self.progress, now),
        }
    }

    /// Decides what follows an attempt that ended `now`.
    ///
    /// The limits are looked at only after an error that may be retried.
    pub fn ended(
        &mut self,
        schedule: &Schedule,
        now: Duration,
        ending: Ending,
        jitter: &mut impl JitterSource,
    ) -> Decision {
        if ending.code() == Code::Ok {
            return Decision::Done;
        }
        if !schedule.permits(ending) {
            return Decision::Stop(Stop::new(StopReason::NonRetryable));
        }
        if ending.is_committed() {
            return Decision::Stop(Stop::new(StopReason::Committed));
        }
        if ending.is_resumable() {
            match &schedule.rules {
                Rules::Documented(rules) => rules.forgive(&mut self.progress),
                Rules::GaxJava(rules) => rules.forgive(&mut self.progress),
                Rules::Grpc(rules) => rules.forgive(&mut self.progress),
                Rules::Recipe(rules) => rules.forgive(&mut self.progress),
            }
        }
        match &schedule.rules {
            Rules::Documented(rules) => rules.ended(&mut self.progress, now, ending.server_word(), jitter),
            Rules::GaxJava(rules) => rules.ended(&mut self.progress, now, ending.server_word(), jitter),
            Rules::Grpc(rules) => rules.ended(&mut self.progress, now, jitter),
            Rules::Recipe(rules) => rules.ended(&mut self.progress, now, ending.server_word(), jitter),
        }
    }

    /// Attempts made before the one that was started last, since messages were last delivered.
    #[cfg(feature = "conformance")]
    pub(crate) fn count(&self) -> u32 {
        self.progress.counted().saturating_sub(1)
    }
}
