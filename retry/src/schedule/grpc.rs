//! The arithmetic of gRFC A6, as grpc-java and grpc-go run it.

use super::progress::Progress;
use super::{Decision, Retry, Stop};
use crate::jitter::uniform;
use crate::nanos::{nanos, scaled};
use crate::{Compatibility, JitterSource, RetrySettings, Started, StopReason};
use std::time::Duration;

/// The most attempts that a gRPC channel makes, whatever a service config says.
const CHANNEL_LIMIT: u32 = 5;

/// Settings in nanoseconds. There is no timeout of an attempt: each may take what is left of the total. In
/// [`Progress`], `delay` is the next wait before jitter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grpc {
    total: Option<u64>,
    initial_delay: u64,
    delay_multiplier: f64,
    max_delay: u64,
    max_attempts: Option<u32>,
    jittered: bool,
    /// A caller's own limit for each attempt, which A6 does not know.
    attempt_timeout: Option<u64>,
}

impl Grpc {
    pub(super) fn new(settings: &RetrySettings) -> Self {
        let delays = settings.retry_delays(Compatibility::Grpc);
        Self {
            total: settings.total_timeout.map(nanos),
            initial_delay: nanos(delays.initial()),
            delay_multiplier: delays.multiplier(),
            max_delay: delays.max().map_or(u64::MAX, nanos),
            max_attempts: settings.max_attempts,
            jittered: settings.jittered,
            attempt_timeout: None,
        }
    }

    /// The channel's limit, where it keeps attempts from being made that the settings would allow.
    pub(super) fn attempts_cap(&self) -> Option<u32> {
        self.max_attempts.is_none_or(|most| most > CHANNEL_LIMIT).then_some(CHANNEL_LIMIT)
    }

    pub(super) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.attempt_timeout = Some(nanos(timeout));
    }

    pub(super) fn remove_attempt_timeout(&mut self) {
        self.attempt_timeout = None;
    }

    pub(super) fn shorten_total(&mut self, timeout: Duration) {
        let timeout = nanos(timeout);
        self.total = Some(self.total.map_or(timeout, |total| total.min(timeout)));
    }

    pub(super) fn start(&self, progress: &mut Progress, now: Duration) -> Result<Started, Stop> {
        let remaining = self.total.map(|total| total.saturating_sub(nanos(now)));
        if remaining == Some(0) {
            return Err(Stop::at_deadline());
        }
        if progress.attempts == 0 {
            self.restart(progress);
        }
        progress.attempts = progress.attempts.saturating_add(1);
        let timeout = [remaining, self.attempt_timeout].into_iter().flatten().min();
        Ok(Started::new(progress.attempts, timeout.map(Duration::from_nanos)))
    }

    /// What follows an attempt that ended with a retryable code. Where the wait would pass the deadline,
    /// gRPC waits for the deadline all the same, and the operation ends there as `DEADLINE_EXCEEDED`.
    pub(super) fn ended(
        &self,
        progress: &mut Progress,
        now: Duration,
        jitter: &mut impl JitterSource,
    ) -> Decision {
        let now = nanos(now);
        let left = self.total.map(|total| total.saturating_sub(now));
        if left == Some(0) {
            return Decision::Stop(Stop::at_deadline());
        }
        let most = self.max_attempts.unwrap_or(CHANNEL_LIMIT).min(CHANNEL_LIMIT);
        if progress.counted() >= most {
            return Decision::Stop(Stop::new(StopReason::MaxAttempts));
        }
        let delay = progress.delay;
        progress.delay = scaled(delay, self.delay_multiplier).min(self.max_delay);
        let wait = if self.jittered && jitter.is_random() {
            uniform(scaled(delay, 0.8), scaled(delay, 1.2), jitter)
        } else {
            delay
        };
        let wait = left.map_or(wait, |left| wait.min(left));
        let next = progress.attempts.saturating_add(1);
        Decision::Retry(Retry::new(next, Duration::from_nanos(delay), Duration::from_nanos(wait)))
    }

    /// Back-off begins again after an attempt that delivered messages.
    pub(super) fn forgive(&self, progress: &mut Progress) {
        progress.forgive();
        self.restart(progress);
    }

    fn restart(&self, progress: &mut Progress) {
        progress.delay = self.initial_delay;
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AttemptPlan, Code, Compatibility, JitterSource, NoJitter, Outcome, RetrySettings, Schedule,
        StopReason,
    };
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

    fn plan(settings: &RetrySettings, answers: usize, jitter: &mut impl JitterSource) -> AttemptPlan {
        let schedule = Schedule::with_compatibility(settings, Code::Unavailable, Compatibility::Grpc);
        AttemptPlan::new(
            &schedule,
            &vec![Outcome::answers(Duration::ZERO, Code::Unavailable); answers],
            jitter,
        )
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
            let schedule = Schedule::with_compatibility(&settings, Code::Unavailable, Compatibility::Grpc);
            assert_eq!(schedule.attempts_cap(), Some(5));
            assert_eq!(waits(&plan(&settings, 20, &mut NoJitter)), [0, 100, 200, 400, 800]);
        }
        assert_eq!(Schedule::new(&base(), Code::Unavailable).attempts_cap(), None);
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
