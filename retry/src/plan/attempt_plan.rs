//! The table of attempts that settings lead to.

use super::{Simulated, Simulation};
use crate::{
    Attempt, AttemptResult, Code, End, JitterSource, NotAttempted, Policy, StartedAttempt, StopReason,
};
use std::time::Duration;

/// What the server does with one attempt of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    after: Option<Duration>,
    code: Code,
}

impl Response {
    /// None: the attempt runs into its RPC timeout.
    #[must_use]
    pub fn none() -> Self {
        Self { after: None, code: Code::DeadlineExceeded }
    }

    /// A response with that code, so long after the attempt started. If the attempt's RPC timeout has
    /// passed by then, it ends as `DEADLINE_EXCEEDED` all the same.
    #[must_use]
    pub fn after(after: Duration, code: Code) -> Self {
        Self { after: Some(after), code }
    }
}

/// The attempts that an operation makes when the server does what `responses` say.
///
/// # Examples
///
/// ```
/// use gax_retry::{AttemptPlan, Code, CodeSet, NoJitter, Policy, RetrySettings};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(ms(200)).retry_delay_multiplier(2.0).max_retry_delay(ms(500))
///     .initial_rpc_timeout(ms(1500)).rpc_timeout_multiplier(2.0).max_rpc_timeout(ms(3000))
///     .total_timeout(ms(5000))
///     .build()?;
/// let plan = AttemptPlan::new(&Policy::new(&settings, Code::DeadlineExceeded), &[], &mut NoJitter);
/// assert_eq!(plan.attempts().len(), 2);
/// assert_eq!(plan.end(), ms(4700));
/// let refused = plan.not_attempted().unwrap();
/// assert_eq!((refused.attempt(), refused.delay()), (3, ms(400)));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptPlan {
    attempts: Vec<Attempt>,
    endless: Option<StartedAttempt>,
    not_attempted: Option<NotAttempted>,
    stop_reason: Option<StopReason>,
    end: Duration,
    truncated: bool,
}

impl AttemptPlan {
    /// The most attempts that a plan lists; settings with tiny delays can lead to millions.
    pub const MAX_ATTEMPTS: usize = Simulation::MAX_ATTEMPTS;

    /// Plans an operation. After the last response, attempts run into their RPC timeouts.
    #[must_use]
    pub fn new(policy: &Policy, responses: &[Response], jitter: &mut impl JitterSource) -> Self {
        Self::within(None, policy, responses, jitter)
    }

    /// The same for an operation that its caller gives no more than `bound`, whatever the policy says: no
    /// attempt starts after it or runs beyond it.
    #[must_use]
    pub fn within(
        bound: Option<Duration>,
        policy: &Policy,
        responses: &[Response],
        jitter: &mut impl JitterSource,
    ) -> Self {
        let mut responses = responses.iter().copied();
        Self::simulated(Simulation::new(policy, bound, jitter), || {
            responses.next().unwrap_or_else(Response::none)
        })
    }

    /// Plans an operation whose attempts are all refused at once, with the policy's
    /// [usual refusal](Policy::usual_refusal).
    #[must_use]
    pub fn refused(policy: &Policy, jitter: &mut impl JitterSource) -> Self {
        let refusal = Response::after(Duration::ZERO, policy.usual_refusal());
        Self::simulated(Simulation::new(policy, None, jitter), || refusal)
    }

    fn simulated(simulation: Simulation<'_>, mut respond: impl FnMut() -> Response) -> Self {
        let (attempts, end) = simulation.run(|_| {
            let Response { after, code } = respond();
            (after, AttemptResult::failed(code))
        });
        let mut plan = Self {
            attempts,
            endless: None,
            not_attempted: None,
            stop_reason: None,
            end: Duration::ZERO,
            truncated: false,
        };
        match end {
            Simulated::Ended(end, at) => {
                plan.end = at;
                if let End::Failure(stop) = end {
                    plan.stop_reason = Some(stop.reason());
                    plan.not_attempted = stop.not_attempted();
                }
            }
            Simulated::Endless(attempt) => {
                plan.end = plan.attempts.last().map_or(Duration::ZERO, Attempt::end);
                plan.endless = Some(attempt);
            }
            Simulated::Truncated(at) => {
                plan.end = at;
                plan.truncated = true;
            }
        }
        plan
    }

    /// The attempts made.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// An attempt that has no deadline and gets no reply, so that the operation never ends.
    #[must_use]
    pub fn endless(&self) -> Option<StartedAttempt> {
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
