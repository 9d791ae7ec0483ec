//! The table of attempts that settings lead to.

use super::{Simulated, Simulation};
use crate::jitter::JitterSource;
use crate::operation::{AttemptResult, End, Resend, Seen};
use crate::{Attempt, Code, Delivery, NotAttempted, Policy, ServerDelay, StartedAttempt, StopReason};
use std::time::Duration;

/// The server's response to one attempt of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Response {
    after: Option<Duration>,
    code: Code,
    resend: Resend,
    is_of_stream: bool,
    server_delay: ServerDelay,
}

impl Response {
    fn new(after: Option<Duration>, code: Code, resend: Resend) -> Self {
        Self { after, code, resend, is_of_stream: false, server_delay: ServerDelay::None }
    }

    /// None: the attempt runs into its RPC timeout.
    pub fn none() -> Self {
        Self::new(None, Code::DeadlineExceeded, Resend::No)
    }

    /// A response with that code, this time after the attempt started. If the attempt's RPC timeout has passed by
    /// then, the attempt ends as `DEADLINE_EXCEEDED` instead.
    pub fn after(after: Duration, code: Code) -> Self {
        Self::new(Some(after), code, Resend::No)
    }

    /// The connection was lost before the request was sent: up to three times between two attempts, this is a
    /// transparent retry and not an attempt; the next loss is an attempt that failed with `UNAVAILABLE`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{AttemptPlan, Code, NoJitter, Policy, Response, RetrySettings};
    /// use std::time::Duration;
    ///
    /// let policy = Policy::new(&RetrySettings::builder().max_attempts(2).build()?, Code::Unavailable);
    /// let ms = Duration::from_millis;
    /// let responses = [Response::lost(ms(30)), Response::after(ms(20), Code::Ok)];
    /// let plan = AttemptPlan::new(&policy, &responses, &mut NoJitter);
    /// let [only] = plan.attempts() else { panic!() };
    /// assert_eq!((only.end(), only.transparent_retries()), (ms(50), 1));
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn lost(after: Duration) -> Self {
        Self::new(Some(after), Code::Unavailable, Resend::Lost)
    }

    /// The server refused the stream without processing it (`REFUSED_STREAM`): the first time in an operation, this is not
    /// an attempt; the next one is an attempt that failed with `UNAVAILABLE`.
    pub fn refused(after: Duration) -> Self {
        Self::new(Some(after), Code::Unavailable, Resend::Refused)
    }

    /// It was a stream, of which messages had been delivered before it ended so. If the code is retried, the next attempt takes
    /// the stream up behind them: back-off and the number of attempts start again, and the total timeout runs on.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{AttemptPlan, Code, NoJitter, Policy, Response, RetrySettings};
    /// use std::time::Duration;
    ///
    /// let ms = Duration::from_millis;
    /// let settings = RetrySettings::builder().initial_retry_delay(ms(100)).retry_delay_multiplier(2.0).max_attempts(2);
    /// let policy = Policy::new(&settings.build()?, Code::Unavailable);
    /// let down = Response::after(ms(30), Code::Unavailable);
    /// let plan = AttemptPlan::new(&policy, &[down, down.of_stream(), down, Response::after(ms(30), Code::Ok)], &mut NoJitter);
    /// assert_eq!(plan.attempts().iter().map(|attempt| attempt.delay()).collect::<Vec<_>>(), [ms(0), ms(100), ms(100)]);
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn of_stream(self) -> Self {
        Self { is_of_stream: true, ..self }
    }

    /// The server asks for that delay before the next attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{AttemptPlan, Code, NoJitter, Policy, Response, RetrySettings, ServerDelay};
    /// use std::time::Duration;
    ///
    /// let policy = Policy::new(&RetrySettings::builder().max_attempts(2).build()?, Code::Unavailable);
    /// let down = Response::after(Duration::ZERO, Code::Unavailable);
    /// let asked = Duration::from_millis(600);
    /// let plan = AttemptPlan::new(&policy, &[down.asking(ServerDelay::Exactly(asked))], &mut NoJitter);
    /// assert_eq!(plan.endless()[0].delay(), asked);
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn asking(self, server_delay: ServerDelay) -> Self {
        Self { server_delay, ..self }
    }

    /// Returns whether it was a [stream](Self::of_stream) that had begun.
    #[must_use]
    pub fn is_of_stream(self) -> bool {
        self.is_of_stream
    }

    fn result(self) -> AttemptResult {
        let seen = if self.is_of_stream { Seen::Messages { resumable: true } } else { Seen::Nothing };
        let delivery = match self.resend {
            Resend::No => Delivery::Unknown,
            Resend::Refused | Resend::Renewed => Delivery::NotProcessed,
            Resend::Lost | Resend::Stale => Delivery::NotSent,
        };
        AttemptResult::failed(self.code)
            .with_delivery(delivery)
            .with_resend(self.resend)
            .with_seen(seen)
            .with_server_delay(self.server_delay)
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
#[must_use]
pub struct AttemptPlan {
    attempts: Vec<Attempt>,
    endless: Vec<StartedAttempt>,
    not_attempted: Option<NotAttempted>,
    stop_reason: Option<StopReason>,
    end: Duration,
    truncated: bool,
}

impl AttemptPlan {
    /// The most attempts that a plan lists; settings with tiny delays can lead to millions.
    pub const MAX_ATTEMPTS: usize = Simulation::MAX_ATTEMPTS;

    /// Plans an operation. After the last response, attempts run into their RPC timeouts.
    pub fn new(policy: &Policy, responses: &[Response], jitter: &mut impl JitterSource) -> Self {
        Self::within(None, policy, responses, jitter)
    }

    /// The plan of an operation that its caller gives no more than `bound`, whatever the policy says: no
    /// attempt starts after it or runs beyond it.
    pub fn within(
        bound: Option<Duration>,
        policy: &Policy,
        responses: &[Response],
        jitter: &mut impl JitterSource,
    ) -> Self {
        let mut responses = responses.iter().copied();
        Self::simulated(Simulation::new(policy, jitter).within(bound), || {
            responses.next().unwrap_or_else(Response::none)
        })
    }

    /// Plans an operation whose attempts are all refused immediately, with the policy's [usual
    /// refusal](Policy::usual_refusal).
    pub fn refused(policy: &Policy, jitter: &mut impl JitterSource) -> Self {
        let refusal = Response::after(Duration::ZERO, policy.usual_refusal());
        Self::simulated(Simulation::new(policy, jitter), || refusal)
    }

    fn simulated(simulation: Simulation<'_>, mut respond: impl FnMut() -> Response) -> Self {
        let (attempts, end) = simulation.run(|_| {
            let response = respond();
            (response.after, response.result())
        });
        let mut plan = Self {
            attempts,
            endless: Vec::new(),
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
            Simulated::Endless(attempts) => {
                plan.end = plan.attempts.last().map_or(Duration::ZERO, Attempt::end);
                plan.endless = attempts;
            }
            Simulated::Truncated(at) => {
                plan.end = at;
                plan.truncated = true;
            }
        }
        plan
    }

    gax_text::getters! { self:
        /// The attempts made.
        pub attempts: &[Attempt] = &self.attempts;

        /// How often requests were sent again immediately, since they had not reached a server: transparent retries (gRFC A6).
        /// Those of each attempt are with it.
        pub transparent_retries: u32 = self.attempts.iter().map(Attempt::transparent_retries).sum();

        /// Attempts that have no deadline and get no reply, so that the operation never ends: one, or several if the operation
        /// is hedged.
        pub endless: &[StartedAttempt] = &self.endless;

        /// Returns whether attempts beyond [`MAX_ATTEMPTS`](Self::MAX_ATTEMPTS) are left out.
        pub is_truncated: bool = self.truncated;
    }

    gax_text::getters! {
        /// The attempt that was planned and not made.
        not_attempted: Option<NotAttempted>;

        /// Why no further attempt is made; `None` after a success.
        stop_reason: Option<StopReason>;

        /// When the operation ends.
        end: Duration;
    }
}
