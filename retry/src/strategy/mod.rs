//! How other tools and libraries wait, as data.
//!
//! Each of them has a formula of its own for the wait before a retry, and a rule of its own for giving
//! up. A [`BackoffStrategy`] is one of each.

mod backoff;
mod display;
mod limits;

pub use backoff::{Backoff, Cap, Jitter};
pub use limits::{Limits, TimeRule};

pub(crate) use backoff::Growth;

use std::time::Duration;

/// A back-off formula and the limits to it: what a [`Policy`](crate::Policy) can follow in place of
/// [`RetrySettings`](crate::RetrySettings).
///
/// # Examples
///
/// Cloud Storage's documents: min(2^n + random milliseconds, 64 s), until 600 s are over.
///
/// ```
/// use gax_retry::{
///     AttemptPlan, Backoff, Code, Jitter, Limits, Policy, BackoffStrategy, Response, ScriptedJitter, TimeRule,
/// };
/// use std::time::Duration;
///
/// let s = Duration::from_secs;
/// let ms = Duration::from_millis;
/// let strategy = BackoffStrategy::new(
///     Backoff::exponential(s(1), 2.0, s(64)).with_jitter(Jitter::Added { unit: ms(1), most: 1000 }),
///     Limits::none().with_time(s(600), TimeRule::Strict),
/// );
/// let policy = Policy::from_strategy(&strategy, Code::Unavailable);
/// let refused = [Response::after(s(0), Code::Unavailable); 20];
/// let plan = AttemptPlan::new(&policy, &refused, &mut ScriptedJitter::new([0.5]));
/// let waits: Vec<_> = plan.attempts().iter().map(|attempt| attempt.delay().as_millis()).collect();
/// assert_eq!(waits, [0, 1500, 2500, 4500, 8500, 16_500, 32_500, 64_000, 64_000, 64_000, 64_000,
///     64_000, 64_000, 64_000, 64_000]);
/// assert_eq!(plan.end(), s(578));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffStrategy {
    pub(crate) backoff: Backoff,
    pub(crate) limits: Limits,
    pub(crate) max_server_delay: Option<Duration>,
}

impl BackoffStrategy {
    /// A strategy of these two.
    #[must_use]
    pub fn new(backoff: Backoff, limits: Limits) -> Self {
        Self { backoff, limits, max_server_delay: None }
    }

    /// The formula.
    #[must_use]
    pub fn backoff(&self) -> Backoff {
        self.backoff
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The longest delay that a server may ask for (`Retry-After`) where no limit by time bounds the operation; unset,
    /// it is the formula's maximum, or 60 s if that is longer.
    #[must_use]
    pub fn max_server_delay(&self) -> Option<Duration> {
        self.max_server_delay
    }

    /// The strategy with another limit to the delays that servers ask for.
    #[must_use]
    pub fn with_max_server_delay(self, delay: impl Into<Option<Duration>>) -> Self {
        Self { max_server_delay: delay.into(), ..self }
    }

    /// The strategy with another formula.
    #[must_use]
    pub fn with_backoff(self, backoff: Backoff) -> Self {
        Self { backoff, ..self }
    }

    /// The strategy with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}
