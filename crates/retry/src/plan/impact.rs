//! The meaning of settings for a caller, and for a service in an outage, in a few numbers.

use super::{Simulated, Simulation};
use crate::jitter::{JitterSource, SeededJitter};
use crate::operation::{AttemptResult, End};
use crate::{
    AttemptPlan, Code, Compatibility, IntoCodes, NoJitter, Policy, RetrySettings, ServerDelay, StopReason,
};
use std::time::Duration;

/// How many operations are drawn for what depends on jitter.
const SAMPLES: u64 = 100;

/// The effects to expect of settings: how long a call may take, and how many attempts it makes in an outage.
///
/// If waits are jittered, numbers that depend on them are those of 100 operations, drawn in the same way every time.
///
/// # Examples
///
/// ```
/// use gax_retry::{Code, Compatibility, RetrySettings, plan::Impact};
/// use std::time::Duration;
///
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_secs(1)).retry_delay_multiplier(2.0)
///     .total_timeout(Duration::from_secs(10)).max_attempts(3)
///     .build()?;
/// let impact = Impact::new(&settings, Code::Unavailable, Compatibility::Documented);
/// assert_eq!(impact.worst_case(), Some(Duration::from_secs(10)));
/// assert_eq!(impact.load(), 3.0);
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Impact {
    worst_case: Option<Duration>,
    worst_case_without_server_delays: Option<Duration>,
    refused: Vec<Duration>,
    truncated: bool,
    load: f64,
    load_capped: bool,
    throttled_load: Option<f64>,
    load_of_silence: u32,
    attempts_of_silence: usize,
    most_attempts: usize,
}

impl Impact {
    /// The impact of settings by these rules.
    #[must_use]
    pub fn new<K>(settings: &RetrySettings, codes: impl IntoCodes<K>, compatibility: Compatibility) -> Self {
        Self::of(&Policy::with_compatibility(settings, codes, compatibility))
    }

    /// The impact of a policy, hedged or not. Its budget only affects [`throttled_load`](Self::throttled_load), and is not changed.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let unthrottled = policy.clone().with_budget(None);
        let throttled = policy.budget().map(|budget| policy.clone().with_budget(budget.fresh()));
        let policy = &unthrottled;
        let plan = AttemptPlan::refused(policy, &mut NoJitter);
        let samples = if plan.attempts().len() > 1 { SAMPLES } else { 1 };
        let attempts = |policy: &Policy, samples: u64| -> Vec<usize> {
            (0..samples)
                .map(|seed| Simulation::new(policy, &mut SeededJitter::new(seed)).count_refused())
                .collect()
        };
        // Waits that are no longer than in the plan leave no less time for as many attempts.
        let is_counted =
            plan.stop_reason() == Some(StopReason::MaxAttempts) && policy.waits_no_longer_than_delays();
        let counts = attempts(policy, if is_counted { 1 } else { samples });
        let most_attempts = counts.iter().copied().max().unwrap_or(1);
        Self {
            worst_case: policy.worst_case(),
            worst_case_without_server_delays: policy.worst_case_without_server_delays(),
            refused: plan.attempts().iter().map(crate::Attempt::start).collect(),
            truncated: plan.is_truncated(),
            load: mean(&counts),
            load_capped: most_attempts >= Simulation::MAX_ATTEMPTS && !is_counted,
            throttled_load: throttled.map(|policy| mean(&attempts(&policy, samples))),
            load_of_silence: policy.most_attempts_at_once(),
            attempts_of_silence: Simulation::new(policy, &mut NoJitter)
                .run_silent(AttemptResult::failed(Code::DeadlineExceeded))
                .0,
            most_attempts,
        }
    }

    gax_text::getters! { self:
        /// The [worst case](Policy::worst_case) of the policy.
        pub worst_case: Option<Duration> = self.worst_case;

        /// The [worst case](Policy::worst_case_without_server_delays) of the policy if no server asks for a delay.
        pub worst_case_without_server_delays: Option<Duration> = self.worst_case_without_server_delays;

        /// When attempts start if each is refused immediately and every wait is the whole delay.
        pub refused: &[Duration] = &self.refused;

        /// Returns whether [`refused`](Self::refused) leaves attempts out, because there are too many.
        pub is_truncated: bool = self.truncated;

        /// By how much an outage multiplies the load of the service: the attempts of an operation, on average, if each is
        /// refused immediately.
        pub load: f64 = self.load;

        /// Returns whether attempts were no longer counted from some number on, so that [`load`](Self::load) and
        /// [`most_attempts`](Self::most_attempts) are less than an outage leads to.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_retry::{Code, Compatibility, RetrySettings, plan::Impact};
        /// use std::time::Duration;
        ///
        /// let settings = RetrySettings::builder()
        ///     .initial_retry_delay(Duration::ZERO).total_timeout(Duration::from_secs(10))
        ///     .build()?;
        /// assert!(Impact::new(&settings, Code::Unavailable, Compatibility::Documented).is_load_capped());
        /// # Ok::<(), gax_retry::SettingsError>(())
        /// ```
        pub is_load_capped: bool = self.load_capped;

        /// The [`load`](Self::load) where the policy has a [budget](crate::RetryBudget), full at first: on average of 100 operations that
        /// come one after the other in one moment. `None`: it has none.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_retry::{Code, Policy, RetryBudget, RetrySettings, plan::Impact};
        ///
        /// let settings = RetrySettings::builder().max_attempts(4).build()?;
        /// let policy = Policy::new(&settings, Code::Unavailable).with_budget(RetryBudget::tokens(10, 0.1));
        /// let impact = Impact::of(&policy);
        /// assert_eq!(impact.load(), 4.0);
        /// assert_eq!(impact.throttled_load(), Some(1.03));
        /// # Ok::<(), gax_retry::SettingsError>(())
        /// ```
        pub throttled_load: Option<f64> = self.throttled_load;

        /// How many attempts of one operation are in flight at once if the service is too slow to reply: 1, unless it is
        /// hedged, and no more than start before the total timeout. A percentile keeps that to the slowest calls for as long as
        /// most are fast.
        pub load_of_silence: u32 = self.load_of_silence;

        /// How many attempts one operation makes of a service that never replies, if every wait is the whole delay: each uses
        /// up its RPC timeout. Where an attempt has none, it is the last.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_retry::{Code, Compatibility, RetrySettings, plan::Impact};
        /// use std::time::Duration;
        ///
        /// let settings = RetrySettings::builder()
        ///     .initial_retry_delay(Duration::from_secs(1)).initial_rpc_timeout(Duration::from_secs(4))
        ///     .total_timeout(Duration::from_secs(14))
        ///     .build()?;
        /// let attempts = |code| Impact::new(&settings, code, Compatibility::Documented).attempts_of_silence();
        /// assert_eq!(attempts(Code::DeadlineExceeded), 3);
        /// // A timeout ends an operation that doesn't retry it.
        /// assert_eq!(attempts(Code::Unavailable), 1);
        /// # Ok::<(), gax_retry::SettingsError>(())
        /// ```
        pub attempts_of_silence: usize = self.attempts_of_silence;

        /// The attempts of that operation, of those drawn, that makes the most.
        pub most_attempts: usize = self.most_attempts;
    }
}

impl Policy {
    /// The longest time that a call may take, whatever the server does. `None`: forever. Budgets are not considered.
    ///
    /// A server that asks for delays can use up the total timeout. Without one, each delay that `RetryInfo` or `Retry-After` asks for
    /// is at most `max_server_delay`; a pushback (`grpc-retry-pushback-ms`) has no limit then, and is not included here.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Code, Policy, RetrySettings};
    /// use std::time::Duration;
    ///
    /// let seconds = Duration::from_secs;
    /// let settings = RetrySettings::builder()
    ///     .initial_retry_delay(seconds(1)).initial_rpc_timeout(seconds(5)).max_attempts(2)
    ///     .total_timeout(seconds(30))
    ///     .build()?;
    /// let policy = Policy::new(&settings, Code::Unavailable);
    /// assert_eq!(policy.worst_case(), Some(seconds(30)));
    /// assert_eq!(policy.worst_case_without_server_delays(), Some(seconds(5 + 1 + 5)));
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    #[must_use]
    pub fn worst_case(&self) -> Option<Duration> {
        let own = self.worst_case_without_server_delays()?;
        let is_deaf = self.heeded(ServerDelay::Exactly(Duration::ZERO)) == ServerDelay::None;
        if is_deaf || Simulation::new(&self.clone().with_budget(None), &mut NoJitter).count_refused() < 2 {
            return Some(own);
        }
        match self.time_limit(None) {
            Some(limit) => Some(own.max(limit)),
            None => self.longest(self.max_server_delay),
        }
    }

    /// The longest time that a call may take if no server asks for a delay: attempts take any part of their timeouts and fail
    /// with retryable codes, and waits have their maximum. If the total timeout ends such a call, it is that timeout, because an
    /// attempt that starts before it may last until then. `None`: forever. Budgets are not considered.
    #[must_use]
    pub fn worst_case_without_server_delays(&self) -> Option<Duration> {
        self.longest(Duration::ZERO)
    }

    /// The longest call whose attempts all use up their timeouts and are followed by that delay of the server's.
    fn longest(&self, asked: Duration) -> Option<Duration> {
        let policy = self.clone().with_budget(None);
        let code = policy.usual_refusal();
        let failed = AttemptResult::failed(code).with_server_delay(ServerDelay::AtLeast(asked));
        let mut jitter = LongestWaits;
        let (count, end) = Simulation::new(&policy, &mut jitter).expiring_as(code).run_silent(failed);
        let limit = policy.time_limit(None);
        match end {
            // Attempts that fail earlier leave time for one more.
            Simulated::Ended(End::Failure(stop), end)
                if stop.reason() == StopReason::TotalTimeout && policy.has_attempts_after(count) =>
            {
                Some(limit.map_or(end, |limit| limit.max(end)))
            }
            Simulated::Ended(_, end) => Some(end),
            Simulated::Truncated(end) => limit.or(Some(end)),
            Simulated::Endless(_) => None,
        }
    }
}

/// Draws the longest wait each time.
struct LongestWaits;

impl JitterSource for LongestWaits {
    fn next_u64(&mut self) -> u64 {
        u64::MAX
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are 100 numbers of at most 10000")]
fn mean(counts: &[usize]) -> f64 {
    counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeSet, Hedging, RetrySettingsBuilder};

    const MS: Duration = Duration::from_millis(1);

    fn impact<K>(settings: RetrySettingsBuilder, codes: impl IntoCodes<K>) -> Impact {
        Impact::new(&settings.build().unwrap(), codes, Compatibility::Documented)
    }

    #[test]
    fn the_total_timeout_is_the_worst_case_where_attempts_are_unbounded() {
        let settings = RetrySettings::builder().total_timeout(5000 * MS).initial_retry_delay(100 * MS);
        assert_eq!(impact(settings.clone(), Code::Unavailable).worst_case(), Some(5000 * MS));
        assert_eq!(impact(settings, CodeSet::EMPTY).worst_case(), Some(5000 * MS));
    }

    #[test]
    fn a_number_of_attempts_bounds_the_worst_case_too() {
        let settings = RetrySettings::builder()
            .max_attempts(3)
            .initial_rpc_timeout(1000 * MS)
            .initial_retry_delay(100 * MS)
            .retry_delay_multiplier(2.0)
            .jittered(false);
        let impact = impact(settings, Code::Aborted);
        assert_eq!(impact.worst_case_without_server_delays(), Some((1000 + 100 + 1000 + 200 + 1000) * MS));
        // Without a total timeout a server may ask for a minute each time.
        assert_eq!(impact.worst_case(), Some((1000 + 60_100 + 1000 + 60_200 + 1000) * MS));
        assert_eq!(impact.refused(), [Duration::ZERO, 100 * MS, 300 * MS]);
        assert_eq!((impact.load().to_bits(), impact.most_attempts()), (3.0_f64.to_bits(), 3));
    }

    #[test]
    fn an_attempt_that_starts_in_time_may_last_until_the_total_timeout() {
        // Attempts that use up their timeouts end after 4 s: the wait of 1 s before the third has no time any longer.
        let worst = |total, codes: CodeSet, compatibility| {
            let settings = RetrySettings::builder()
                .total_timeout(total)
                .initial_rpc_timeout(1500 * MS)
                .initial_retry_delay(1000 * MS)
                .retry_delay_multiplier(1.0)
                .max_attempts(9);
            let impact = Impact::new(&settings.build().unwrap(), codes, compatibility);
            impact.worst_case_without_server_delays()
        };
        let all = [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc];
        for (compatibility, total) in
            all.into_iter().flat_map(|rules| [(rules, 4100 * MS), (rules, 4900 * MS)])
        {
            assert_eq!(
                worst(total, Code::Unavailable.into(), compatibility),
                Some(total),
                "{compatibility:?}"
            );
        }
        assert_eq!(worst(4900 * MS, CodeSet::EMPTY, Compatibility::Documented), Some(1500 * MS));
    }

    #[test]
    fn no_call_takes_longer_than_the_worst_case() {
        let settings = RetrySettings::builder()
            .total_timeout(4900 * MS)
            .initial_rpc_timeout(700 * MS)
            .initial_retry_delay(300 * MS)
            .retry_delay_multiplier(1.5);
        let mut random = SeededJitter::new(7);
        for (compatibility, attempts) in
            [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc]
                .into_iter()
                .flat_map(|rules| [2, 4, 9].map(|attempts| (rules, attempts)))
        {
            let settings = settings.clone().max_attempts(attempts).build().unwrap();
            let policy = Policy::with_compatibility(&settings, Code::Unavailable, compatibility);
            let worst = policy.worst_case_without_server_delays().unwrap();
            for seed in 0..200 {
                let mut jitter = SeededJitter::new(seed);
                let (_, end) = Simulation::new(&policy, &mut jitter).run(|_| {
                    let after = Duration::from_millis(random.next_u64() % 900);
                    (Some(after), AttemptResult::failed(Code::Unavailable))
                });
                let Simulated::Ended(_, end) = end else { panic!("{end:?}") };
                assert!(end <= worst, "{compatibility:?} {attempts} {seed}: {end:?} > {worst:?}");
            }
        }
    }

    #[test]
    fn a_server_that_asks_for_delays_can_use_up_the_total_timeout() {
        let settings = |attempts| {
            RetrySettings::builder()
                .total_timeout(60_000 * MS)
                .initial_rpc_timeout(1000 * MS)
                .initial_retry_delay(100 * MS)
                .max_attempts(attempts)
                .build()
                .unwrap()
        };
        for (compatibility, attempts, worst) in [
            (Compatibility::Documented, 2, 60_000),
            (Compatibility::Grpc, 2, 60_000),
            // gax-java applies no server.
            (Compatibility::GaxJava, 2, 2099),
            (Compatibility::Documented, 1, 1000),
        ] {
            let impact = Impact::new(&settings(attempts), Code::Unavailable, compatibility);
            assert_eq!(impact.worst_case(), Some(worst * MS), "{compatibility:?} {attempts}");
        }
    }

    #[test]
    fn without_any_deadline_a_call_may_take_for_ever() {
        let impact = impact(RetrySettings::builder().max_attempts(3), Code::Unavailable);
        assert_eq!((impact.worst_case(), impact.attempts_of_silence()), (None, 1));
    }

    #[test]
    fn jitter_adds_attempts() {
        let settings = RetrySettings::builder()
            .total_timeout(10_000 * MS)
            .initial_retry_delay(1000 * MS)
            .max_retry_delay(1000 * MS);
        let impact = impact(settings, Code::Unavailable);
        assert_eq!(impact.refused().len(), 10);
        assert!(impact.load() > 15.0 && impact.load() < 25.0, "{}", impact.load());
    }

    #[test]
    fn attempts_that_are_counted_are_not_drawn_where_jitter_only_shortens_waits() {
        let settings = RetrySettings::builder()
            .total_timeout(10_000 * MS)
            .initial_retry_delay(2_400 * MS)
            .retry_delay_multiplier(1.0)
            .max_attempts(5)
            .build()
            .unwrap();
        for (compatibility, load) in
            [(Compatibility::Documented, 5.0), (Compatibility::GaxJava, 5.0), (Compatibility::Grpc, 4.8)]
        {
            let impact = Impact::new(&settings, Code::Unavailable, compatibility);
            assert_eq!(impact.refused().len(), 5, "{compatibility:?}");
            assert!((impact.load() - load).abs() < 0.2, "{compatibility:?}: {}", impact.load());
            let drawn = (0..SAMPLES).map(|seed| {
                let policy = Policy::with_compatibility(&settings, Code::Unavailable, compatibility);
                AttemptPlan::refused(&policy, &mut SeededJitter::new(seed)).attempts().len()
            });
            assert_eq!(
                impact.load().to_bits(),
                mean(&drawn.collect::<Vec<_>>()).to_bits(),
                "{compatibility:?}"
            );
        }
    }

    #[test]
    fn hedges_are_load_while_the_service_is_silent() {
        let settings = RetrySettings::builder().total_timeout(1000 * MS).build().unwrap();
        let hedging = Hedging::new(3).delay(100 * MS).non_fatal_codes(Code::Unavailable);
        let impact = Impact::of(&Policy::new(&settings, CodeSet::EMPTY).with_hedging(hedging));
        assert_eq!((impact.load_of_silence(), impact.most_attempts()), (3, 3));
        assert_eq!((impact.worst_case(), impact.attempts_of_silence()), (Some(1000 * MS), 3));
        assert_eq!(impact.refused(), [Duration::ZERO; 3]);
        assert_eq!(Impact::of(&Policy::new(&settings, Code::Unavailable)).load_of_silence(), 1);
    }

    #[test]
    fn no_more_hedges_are_load_than_start_before_the_total_timeout() {
        let settings = |total| RetrySettings::builder().total_timeout(total).build().unwrap();
        let at_once = |total, delay| {
            let hedging = Hedging::new(3).delay(delay);
            let policy = Policy::new(&settings(total), CodeSet::EMPTY).with_hedging(hedging);
            let impact = Impact::of(&policy);
            (impact.load_of_silence(), impact.attempts_of_silence())
        };
        assert_eq!(at_once(1000 * MS, 2000 * MS), (1, 1));
        assert_eq!(at_once(1000 * MS, 1000 * MS), (1, 1));
        assert_eq!(at_once(1001 * MS, 1000 * MS), (2, 2));
        assert_eq!(at_once(1000 * MS, 400 * MS), (3, 3));
        assert_eq!(at_once(1000 * MS, Duration::ZERO), (3, 3));
        let percentile = Hedging::new(3).delay(2000 * MS).percentile(0.95);
        let policy = Policy::new(&settings(1000 * MS), CodeSet::EMPTY).with_hedging(percentile);
        assert_eq!(Impact::of(&policy).load_of_silence(), 3);
    }

    #[test]
    fn delays_of_zero_are_cut_off() {
        let settings = RetrySettings::builder().total_timeout(1000 * MS).initial_retry_delay(Duration::ZERO);
        let impact = impact(settings, Code::Unavailable);
        assert!(impact.is_truncated() && impact.is_load_capped());
    }
}
