//! The arithmetic of gRFC A6, as grpc-java and grpc-go run it.

use super::server_wait::Own;
use super::{Ask, Refusal, RuleSet, Wait};
use crate::jitter::{JitterSource, uniform};
use crate::nanos::{FOREVER, limited, nanos, nanos_or_forever, remaining, scaled};
use crate::{Compatibility, RetrySettings, ServerDelay, StopReason};
use std::time::Duration;

/// The most attempts that a gRPC channel makes, whatever a service config says.
const CHANNEL_LIMIT: u32 = 5;

/// Settings in nanoseconds. There is no timeout of an attempt: each may take what is left of the total.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grpc {
    total: u64,
    initial_delay: u64,
    delay_multiplier: f64,
    max_delay: u64,
    max_attempts: Option<u32>,
    jittered: bool,
    /// A caller's own limit for each attempt, which A6 does not know.
    attempt_timeout: u64,
}

impl Grpc {
    pub(crate) fn new(settings: &RetrySettings) -> Self {
        let delays = settings.retry_delays(Compatibility::Grpc);
        Self {
            total: nanos_or_forever(settings.total_timeout),
            initial_delay: nanos(delays.initial()),
            delay_multiplier: delays.multiplier(),
            max_delay: nanos_or_forever(delays.max()),
            max_attempts: settings.max_attempts,
            jittered: settings.jittered,
            attempt_timeout: FOREVER,
        }
    }

    /// The channel's limit, where it keeps attempts from being made that the settings would allow.
    pub(crate) fn attempts_cap(&self) -> Option<u32> {
        Self::cap(self.max_attempts)
    }

    /// The channel's limit where so many attempts are allowed otherwise.
    pub(crate) fn cap(max_attempts: Option<u32>) -> Option<u32> {
        max_attempts.is_none_or(|most| most > CHANNEL_LIMIT).then_some(CHANNEL_LIMIT)
    }

    pub(crate) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.attempt_timeout = limited(timeout);
    }

    pub(crate) fn remove_attempt_timeout(&mut self) {
        self.attempt_timeout = FOREVER;
    }

    /// No more time and attempts than that.
    pub(crate) fn limit_to(&mut self, total: Option<Duration>, attempts: Option<u32>) {
        self.total = self.total.min(nanos_or_forever(total));
        self.max_attempts = self.max_attempts.into_iter().chain(attempts).min();
    }

    gax_text::getters! { self:
        pub(crate) is_jittered: bool = self.jittered;

        pub(crate) total: u64 = self.total;
    }
}

/// The delay before the next retry, before jitter, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrpcProgress {
    delay: u64,
}

impl RuleSet for Grpc {
    type Progress = GrpcProgress;

    fn begin(&self) -> GrpcProgress {
        GrpcProgress { delay: self.initial_delay }
    }

    fn start(&self, _: &mut GrpcProgress, _: bool, now: u64, bound: u64) -> Result<u64, Refusal> {
        let timeout = remaining(self.total.min(bound), now);
        if timeout == 0 {
            return Err(Refusal::at_deadline(StopReason::TotalTimeout));
        }
        Ok(timeout.min(self.attempt_timeout))
    }

    /// If the wait would pass the deadline, gRPC waits for the deadline all the same, and the operation ends there as
    /// `DEADLINE_EXCEEDED`.
    fn next(
        &self,
        progress: &mut GrpcProgress,
        ask: Ask,
        mut jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        let left = remaining(self.total.min(ask.bound), ask.now);
        if left == 0 {
            return Err(Refusal::at_deadline(StopReason::TotalTimeout));
        }
        let most = self.max_attempts.unwrap_or(CHANNEL_LIMIT).min(CHANNEL_LIMIT);
        if ask.counted >= most {
            return Err(Refusal::new(StopReason::MaxAttempts));
        }
        let refused = |asked| Refusal { at_deadline: true, ..Refusal::of_server(asked) };
        if let ServerDelay::Exactly(asked) = ask.server_delay {
            *progress = self.begin();
            let wait = limited(asked);
            return if wait < left { Ok(Wait(wait)) } else { Err(refused(asked)) };
        }
        let delay = progress.delay;
        progress.delay = scaled(delay, self.delay_multiplier).min(self.max_delay);
        let is_drawn = self.jittered && jitter.is_random();
        let wait = match ask.server_delay {
            ServerDelay::AtLeast(asked) => {
                let own =
                    Own { backoff: delay, is_drawn, left: (left != FOREVER).then_some(left), unit: limited };
                ask.wait_after(asked, own, &mut jitter).ok_or(refused(asked))?
            }
            _ if is_drawn => uniform(scaled(delay, 0.8), scaled(delay, 1.2), &mut jitter).min(left),
            _ => delay.min(left),
        };
        Ok(Wait(wait))
    }
}

#[cfg(test)]
mod tests {
    use crate::jitter::JitterSource;
    use crate::{AttemptPlan, Code, Compatibility, NoJitter, Policy, Response, RetrySettings, StopReason};
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    /// A6's base policy: four attempts, 100 ms x 2 up to 1 s.
    fn base() -> RetrySettings {
        RetrySettings::builder()
            .max_attempts(4)
            .initial_retry_delay(100 * MS)
            .retry_delay_multiplier(2.0)
            .max_retry_delay(1000 * MS)
            .build()
            .unwrap()
    }

    fn plan(settings: &RetrySettings, refusals: usize, jitter: &mut impl JitterSource) -> AttemptPlan {
        let policy = Policy::with_compatibility(settings, Code::Unavailable, Compatibility::Grpc);
        let refusals = vec![Response::after(Duration::ZERO, Code::Unavailable); refusals];
        AttemptPlan::new(&policy, &refusals, jitter)
    }

    fn waits(plan: &AttemptPlan) -> Vec<u128> {
        plan.attempts().iter().map(|attempt| attempt.delay().as_millis()).collect()
    }

    #[test]
    fn max_attempts_counts_the_original() {
        let plan = plan(&base(), 6, &mut NoJitter);
        assert_eq!(waits(&plan), [0, 100, 200, 400]);
        assert_eq!(plan.stop_reason(), Some(StopReason::MaxAttempts));
    }

    #[test]
    fn no_more_than_five_attempts_are_made() {
        for attempts in [Some(9), None] {
            let settings = base().to_builder().max_attempts(attempts).build().unwrap();
            let policy = Policy::with_compatibility(&settings, Code::Unavailable, Compatibility::Grpc);
            assert_eq!(policy.attempts_cap(), Some(5));
            assert_eq!(waits(&plan(&settings, 20, &mut NoJitter)), [0, 100, 200, 400, 800]);
        }
        assert_eq!(Policy::new(&base(), Code::Unavailable).attempts_cap(), None);
    }

    #[test]
    fn jitter_is_a_fifth_to_either_side_of_the_capped_delay() {
        struct Low;
        impl JitterSource for Low {
            fn next_u64(&mut self) -> u64 {
                0
            }
        }
        struct High;
        impl JitterSource for High {
            fn next_u64(&mut self) -> u64 {
                u64::MAX
            }
        }
        let settings =
            base().to_builder().retry_delay_multiplier(10.0).max_retry_delay(150 * MS).build().unwrap();
        assert_eq!(waits(&plan(&settings, 6, &mut Low)), [0, 80, 120, 120]);
        assert_eq!(waits(&plan(&settings, 6, &mut High)), [0, 120, 180, 180]);
    }

    #[test]
    fn the_wait_goes_on_to_the_deadline_which_ends_the_operation() {
        let settings = base().to_builder().total_timeout(250 * MS).build().unwrap();
        let plan = plan(&settings, 6, &mut NoJitter);
        assert_eq!(waits(&plan), [0, 100]);
        assert_eq!(plan.attempts()[1].rpc_timeout(), Some(150 * MS));
        assert_eq!(plan.end(), 250 * MS);
        assert_eq!(plan.stop_reason(), Some(StopReason::TotalTimeout));
        assert_eq!(plan.not_attempted(), None);
    }

    #[test]
    fn an_attempt_may_take_all_that_is_left() {
        let settings =
            base().to_builder().total_timeout(1000 * MS).initial_rpc_timeout(300 * MS).build().unwrap();
        let plan = plan(&settings, 1, &mut NoJitter);
        let timeouts: Vec<_> = plan.attempts().iter().map(|attempt| attempt.rpc_timeout().unwrap()).collect();
        assert_eq!(timeouts, [1000 * MS, 900 * MS]);
        assert_eq!(plan.end(), 1000 * MS);
    }
}
