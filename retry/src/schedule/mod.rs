//! The attempt algorithm: events in, decisions out. No clock, no runtime, no I/O.

mod decision;
mod documented;
#[cfg(test)]
mod tests;

pub use decision::{Decision, Ending, NotAttempted, Retry, Stop};

use crate::{Code, CodeSet, Compatibility, JitterSource, RetrySettings, Started, StopReason};
use documented::{Documented, DocumentedState};
use std::time::Duration;

/// The settings and retryable codes of one RPC, made ready to run operations by.
///
/// Making one costs a little, using it next to nothing, so make it once for each RPC. A schedule never
/// changes; what an operation has behind it is in its [`OperationState`].
///
/// # Examples
///
/// The documentation's second table: 200 ms x 2 up to 500 ms, RPC timeouts 1500 ms x 2 up to 3000 ms,
/// 5 s in all.
///
/// ```
/// use gax_retry::{Code, CodeSet, Decision, Ending, NoJitter, OperationState, RetrySettings, Schedule};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(ms(200)).retry_delay_multiplier(2.0).max_retry_delay(ms(500))
///     .initial_rpc_timeout(ms(1500)).rpc_timeout_multiplier(2.0).max_rpc_timeout(ms(3000))
///     .total_timeout(ms(5000))
///     .build()?;
/// let schedule = Schedule::new(&settings, CodeSet::from(Code::DeadlineExceeded));
///
/// let mut operation = OperationState::default();
/// let first = operation.start(&schedule, ms(0)).unwrap();
/// assert_eq!(first.rpc_timeout(), Some(ms(1500)));
/// let Decision::Retry(retry) =
///     operation.ended(&schedule, ms(1500), Ending::new(Code::DeadlineExceeded), &mut NoJitter)
/// else { panic!() };
/// assert_eq!(retry.wait(), ms(200));
/// let second = operation.start(&schedule, ms(1700)).unwrap();
/// assert_eq!(second.rpc_timeout(), Some(ms(3000)));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    codes: CodeSet,
    rules: Rules,
}

#[derive(Debug, Clone, PartialEq)]
enum Rules {
    Documented(Documented),
}

impl Schedule {
    /// The schedule of [`Compatibility::Documented`].
    #[must_use]
    pub fn new(settings: &RetrySettings, codes: impl Into<CodeSet>) -> Self {
        Self::with_compatibility(settings, codes, Compatibility::Documented)
    }

    /// The schedule by that library's rules.
    #[must_use]
    pub fn with_compatibility(
        settings: &RetrySettings,
        codes: impl Into<CodeSet>,
        compatibility: Compatibility,
    ) -> Self {
        let rules = match compatibility {
            Compatibility::Documented | Compatibility::GaxJava => Rules::Documented(Documented::new(settings)),
        };
        Self { codes: codes.into(), rules }
    }

    /// The codes that are retried.
    #[must_use]
    pub fn retryable_codes(&self) -> CodeSet {
        self.codes
    }
}

/// How far one operation has come.
///
/// Feed it what happens: [`start`](Self::start) when an attempt is about to be sent,
/// [`ended`](Self::ended) when it has ended. Times count from the operation's start.
#[derive(Debug, Clone, Default)]
pub struct OperationState {
    documented: DocumentedState,
}

impl OperationState {
    /// Asks for the next attempt, `now` that it is about to be sent.
    ///
    /// The RPC timeout is measured against what is left of the total now, after the wait, however late
    /// the timer was.
    ///
    /// # Errors
    ///
    /// The operation has no time left for the attempt: it ends with the error of the attempt before.
    pub fn start(&mut self, schedule: &Schedule, now: Duration) -> Result<Started, Stop> {
        match &schedule.rules {
            Rules::Documented(rules) => rules.start(&mut self.documented, now),
        }
    }

    /// Decides what follows an attempt that ended `now`.
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
        if !schedule.codes.contains(ending.code()) {
            return Decision::Stop(Stop::new(StopReason::NonRetryable));
        }
        match &schedule.rules {
            Rules::Documented(rules) => rules.ended(&mut self.documented, now, jitter),
        }
    }
}
