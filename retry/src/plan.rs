//! The table of attempts that settings lead to.

use crate::{
    Attempt, Code, Decision, Ending, JitterSource, NotAttempted, OperationState, Schedule, StopReason,
};
use std::time::Duration;

/// What the server does with one attempt of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    after: Option<Duration>,
    code: Code,
}

impl Outcome {
    /// No answer: the attempt runs into its RPC timeout.
    #[must_use]
    pub fn hangs() -> Self {
        Self { after: None, code: Code::DeadlineExceeded }
    }

    /// An answer with that code, so long after the attempt started. If the attempt's RPC timeout has
    /// passed by then, it ends as `DEADLINE_EXCEEDED` all the same.
    #[must_use]
    pub fn answers(after: Duration, code: Code) -> Self {
        Self { after: Some(after), code }
    }

    /// When and how an attempt with that deadline ends; `None`: never.
    fn end(self, deadline: Option<Duration>) -> Option<(Duration, Code)> {
        match (self.after, deadline) {
            (Some(after), Some(timeout)) if after < timeout => Some((after, self.code)),
            (_, Some(timeout)) => Some((timeout, Code::DeadlineExceeded)),
            (Some(after), None) => Some((after, self.code)),
            (None, None) => None,
        }
    }
}

/// The attempts that an operation makes when the server does what `outcomes` say.
///
/// # Examples
///
/// ```
/// use gax_retry::{AttemptPlan, Code, CodeSet, NoJitter, RetrySettings, Schedule};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(ms(200)).retry_delay_multiplier(2.0).max_retry_delay(ms(500))
///     .initial_rpc_timeout(ms(1500)).rpc_timeout_multiplier(2.0).max_rpc_timeout(ms(3000))
///     .total_timeout(ms(5000))
///     .build()?;
/// let plan = AttemptPlan::new(&Schedule::new(&settings, Code::DeadlineExceeded), &[], &mut NoJitter);
/// assert_eq!(plan.attempts().len(), 2);
/// assert_eq!(plan.end(), ms(4700));
/// let refused = plan.not_attempted().unwrap();
/// assert_eq!((refused.attempt(), refused.delay()), (3, ms(400)));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptPlan {
    attempts: Vec<Attempt>,
    endless: Option<Endless>,
    not_attempted: Option<NotAttempted>,
    stop_reason: Option<StopReason>,
    end: Duration,
    truncated: bool,
}

impl AttemptPlan {
    /// The most attempts that a plan lists; settings with tiny delays can lead to millions.
    pub const MAX_ATTEMPTS: usize = 10_000;

    /// Plans an operation. After the last outcome, attempts run into their RPC timeouts.
    #[must_use]
    pub fn new(schedule: &Schedule, outcomes: &[Outcome], jitter: &mut impl JitterSource) -> Self {
        let mut plan = Self {
            attempts: Vec::new(),
            endless: None,
            not_attempted: None,
            stop_reason: None,
            end: Duration::ZERO,
            truncated: false,
        };
        let mut operation = OperationState::default();
        let mut outcomes = outcomes.iter().copied();
        let mut now = Duration::ZERO;
        let mut wait = Duration::ZERO;
        loop {
            let started = match operation.start(schedule, now) {
                Ok(started) => started,
                Err(stop) => {
                    plan.stop_reason = Some(stop.reason());
                    if stop.is_at_deadline() {
                        plan.end = now;
                    }
                    return plan;
                }
            };
            let outcome = outcomes.next().unwrap_or_else(Outcome::hangs);
            let Some((took, code)) = outcome.end(started.deadline()) else {
                plan.endless = Some(Endless { attempt: started.number(), delay: wait, start: now });
                return plan;
            };
            let end = now.saturating_add(took);
            plan.attempts.push(Attempt::new(started, wait, now, end, code));
            plan.end = end;
            match operation.ended(schedule, end, Ending::new(code), jitter) {
                Decision::Done => return plan,
                Decision::Stop(stop) => {
                    plan.stop_reason = Some(stop.reason());
                    plan.not_attempted = stop.not_attempted();
                    return plan;
                }
                Decision::Retry(retry) => {
                    wait = retry.wait();
                    now = end.saturating_add(wait);
                }
            }
            if plan.attempts.len() == Self::MAX_ATTEMPTS {
                plan.truncated = true;
                return plan;
            }
        }
    }

    /// The attempts made.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// An attempt that has no deadline and gets no answer, so that the operation never ends.
    #[must_use]
    pub fn endless(&self) -> Option<Endless> {
        self.endless
    }

    /// The attempt that was planned and not made.
    #[must_use]
    pub fn not_attempted(&self) -> Option<NotAttempted> {
        self.not_attempted
    }

    /// Why no further attempt is made; `None` after a success.
    #[must_use]
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason
    }

    /// When the operation ends.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.end
    }

    /// Whether attempts beyond [`MAX_ATTEMPTS`](Self::MAX_ATTEMPTS) are left out.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

/// The last attempt of a plan that never ends: it has no deadline, and the server gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endless {
    attempt: u32,
    delay: Duration,
    start: Duration,
}

impl Endless {
    /// Its number in the operation; the first is 1.
    #[must_use]
    pub fn attempt(self) -> u32 {
        self.attempt
    }

    /// The wait before it, as drawn; zero for the first.
    #[must_use]
    pub fn delay(self) -> Duration {
        self.delay
    }

    /// When it started, from the start of the operation.
    #[must_use]
    pub fn start(self) -> Duration {
        self.start
    }
}
