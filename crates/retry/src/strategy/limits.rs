//! When a strategy gives up.

use crate::settings::Override;
use std::time::Duration;

/// How many attempts and how much time an operation has, and how the time is counted.
///
/// # Examples
///
/// ```
/// # use gax_retry as gax_driver;
/// use gax_driver::strategy::{Limits, TimeRule};
/// use std::time::Duration;
///
/// let limits = Limits::none().with_max_attempts(6).with_time(Duration::from_secs(50), TimeRule::Clip);
/// assert_eq!(limits.max_attempts(), Some(6));
/// assert_eq!(limits.time(), Some((Duration::from_secs(50), TimeRule::Clip)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Limits {
    max_attempts: Option<u32>,
    time: Option<(Duration, TimeRule)>,
}

/// How a limit by time is meant. Every library has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeRule {
    /// No attempt starts at or after the limit, and none runs beyond it.
    Strict,
    /// No wait begins that would end after the limit; a running attempt is never cut.
    Refuse,
    /// A wait is cut to what is left of the limit, and there is none once nothing is left; a running
    /// attempt is never cut.
    Clip,
    /// Waits are not shortened. After each wait and each attempt, the operation ends if the limit is reached; a
    /// running attempt is never shortened.
    Check,
    /// The waits together may not be longer than the limit. The attempts' own time is not included.
    Waits,
}

impl Limits {
    /// No limit: only the caller's own timeout ends the operation.
    pub const fn none() -> Self {
        Self { max_attempts: None, time: None }
    }

    /// The limits with that number of attempts, the first included; 0 is treated as 1.
    pub const fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(if attempts == 0 { 1 } else { attempts });
        self
    }

    /// The limits with that number of retries.
    pub const fn with_max_retries(self, retries: u32) -> Self {
        self.with_max_attempts(retries.saturating_add(1))
    }

    /// The limits with that time, counted by that rule.
    pub const fn with_time(mut self, limit: Duration, rule: TimeRule) -> Self {
        self.time = Some((limit, rule));
        self
    }

    /// The limits without any by time.
    pub const fn without_time(mut self) -> Self {
        self.time = None;
        self
    }

    /// The limits as one call changes them.
    pub(crate) fn with_overrides(self, time: Override<Duration>, attempts: Override<u32>) -> Self {
        let limits = match time {
            Override::Unset => self,
            Override::Set(limit) => self.with_time(limit, TimeRule::Strict),
            Override::Disabled => self.without_time(),
        };
        Self { max_attempts: attempts.over(limits.max_attempts), ..limits }
    }

    /// The number of attempts, the first included.
    #[must_use]
    pub const fn max_attempts(self) -> Option<u32> {
        self.max_attempts
    }

    /// The time, and how it is counted.
    #[must_use]
    pub const fn time(self) -> Option<(Duration, TimeRule)> {
        self.time
    }
}
