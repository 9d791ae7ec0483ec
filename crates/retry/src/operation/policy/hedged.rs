//! Policies of operations that are hedged.

use super::Policy;
use crate::jitter::JitterSource;
use crate::nanos::{FOREVER, limited};
use crate::operation::{AttemptResult, Hedging, latencies::Latencies};
use crate::rules::{Ask, Own, Refusal, Rules};
use crate::{Code, CodeSet, ServerDelay};
use std::sync::Arc;
use std::time::Duration;

impl Policy {
    /// This policy with hedging instead of retries: attempts are sent while others are in flight, and the first good
    /// reply wins. `None`: attempts follow each other.
    pub fn with_hedging(self, hedging: impl Into<Option<Hedging>>) -> Self {
        let hedging = hedging.into();
        let latencies = hedging.as_ref().and_then(Hedging::latencies);
        let problems = hedging.as_ref().map(Hedging::problems).unwrap_or_default();
        Self { hedging, latencies, ..self }.unusable(problems)
    }

    /// This policy, whose percentile is worked out from the latencies of the other one's operations. It stays as it is unless
    /// both have the same percentile.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{CodeSet, Hedging, Policy, RetrySettings};
    ///
    /// let policy = Policy::new(&RetrySettings::default(), CodeSet::EMPTY).with_hedging(Hedging::new(2).percentile(0.95));
    /// // A call that may take longer, of the same method.
    /// let patient = policy.clone().with_hedging(Hedging::new(3).percentile(0.95)).with_latencies_of(&policy);
    /// # drop(patient);
    /// ```
    pub fn with_latencies_of(self, other: &Self) -> Self {
        let is_same =
            |others: &Arc<Latencies>| self.latencies.as_ref().is_some_and(|own| own.is_like(others));
        match other.latencies.clone().filter(is_same) {
            latencies @ Some(_) => Self { latencies, ..self },
            None => self,
        }
    }

    /// The policy for one of the methods that it applies to: the percentile is worked out from the latencies of that method alone.
    /// `None`: hedges don't wait for a percentile.
    #[must_use]
    pub fn with_own_latencies(&self) -> Option<Self> {
        let latencies = self.hedging.as_ref()?.latencies()?;
        Some(Self { latencies: Some(latencies), ..self.clone() })
    }

    /// How operations are hedged, if they are.
    #[inline]
    #[must_use]
    pub fn hedging(&self) -> Option<&Hedging> {
        self.hedging.as_ref()
    }

    /// The codes that another attempt may follow: the retryable codes or, of a hedged policy, those that don't end the
    /// operation.
    #[inline]
    #[must_use]
    pub fn recoverable_codes(&self) -> CodeSet {
        self.hedging.map_or(self.codes, |hedging| hedging.codes())
    }

    /// The code that plans refuse attempts with: `UNAVAILABLE`, unless other codes are recoverable and that is not.
    #[must_use]
    pub fn usual_refusal(&self) -> Code {
        let codes = self.recoverable_codes();
        let usual = Some(Code::Unavailable).filter(|code| codes.contains(*code));
        usual.or_else(|| codes.iter().next()).unwrap_or(Code::Unavailable)
    }

    /// The time from an attempt to its hedge; `None`: no hedge is sent for as long as nothing fails.
    pub(in crate::operation) fn hedging_delay(&self) -> Option<Duration> {
        let hedging = self.hedging?;
        match &self.latencies {
            Some(latencies) => latencies.percentile().or(hedging.delay_between()),
            None => Some(hedging.delay_between().unwrap_or_default()),
        }
    }

    /// Returns whether a failure like that, of a hedge, is held while an attempt that was sent before it may have been carried out and
    /// may still have a reply. By gRPC's rules each error that is fatal ends the operation.
    #[must_use]
    pub fn may_hold(&self, result: AttemptResult) -> bool {
        let is_held = self.hedging.is_some() && !matches!(self.rules, Rules::Grpc(_));
        is_held && self.may_be_repetition(result)
    }

    /// Returns whether a failure like that can come of another attempt that was carried out.
    #[must_use]
    pub fn may_be_repetition(&self, result: AttemptResult) -> bool {
        result.may_be_repetition(self.hedging.is_some())
    }

    /// The RPC timeout of a hedge that starts `now`, both in nanoseconds. It is not the consequence of an attempt, so that
    /// it doesn't grow; and whatever the rules say of first attempts, nothing outlives the total.
    pub(in crate::operation) fn start_hedge(&self, now: u64, bound: u64) -> Result<u64, Refusal> {
        let bound = bound.min(self.rules.time_limit());
        self.start(&mut self.rules.begin(), true, now, bound)
    }

    /// How long a hedge waits that a server asks to wait so long at least, in nanoseconds, like the bound: clients that are asked
    /// the same moment don't come back together.
    pub(in crate::operation) fn spread(
        &self,
        delay: Duration,
        now: u64,
        bound: u64,
        jitter: &mut dyn JitterSource,
    ) -> u64 {
        let bound = bound.min(self.rules.time_limit());
        let ask = Ask {
            counted: 0,
            now,
            bound,
            server_delay: ServerDelay::AtLeast(delay),
            longest: self.max_server_delay,
            is_endless: false,
        };
        let own = Own {
            backoff: 0,
            is_drawn: self.rules.is_jittered() && jitter.is_random(),
            left: (bound != FOREVER).then(|| bound.saturating_sub(now)),
            unit: limited,
        };
        ask.wait_after(delay, own, jitter).unwrap_or(limited(delay))
    }

    /// The first attempt of a hedged operation took so long, or had taken when another one won.
    pub(in crate::operation) fn first_took(&self, latency: Duration) {
        if let Some(latencies) = &self.latencies {
            latencies.record(latency);
        }
    }

    /// How many attempts of one operation can be in flight at once: one, or the hedges that start before the total timeout.
    #[cfg(feature = "plan")]
    pub(crate) fn most_attempts_at_once(&self) -> u32 {
        let most = self.most_hedged().max(1);
        // A percentile may turn out to be any delay.
        let delay =
            self.hedging.filter(|_| self.latencies.is_none()).and_then(|hedging| hedging.delay_between());
        match (delay.map(limited), self.rules.time_limit()) {
            (None | Some(0), _) | (_, FOREVER) => most,
            (Some(delay), limit) => u32::try_from(limit.div_ceil(delay)).unwrap_or(u32::MAX).clamp(1, most),
        }
    }

    /// How many attempts hedging makes.
    pub(in crate::operation) fn most_hedged(&self) -> u32 {
        if self.is_inside_retry() {
            return 1;
        }
        let most = self.hedging.map_or(0, |hedging| hedging.max_attempts());
        self.attempts_cap().map_or(most, |cap| most.min(cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RetrySettings;

    #[test]
    fn the_codes_that_another_attempt_follows_depend_on_hedging() {
        let policy = Policy::new(&RetrySettings::default(), [Code::Aborted, Code::Unavailable]);
        let hedged = policy.clone().with_hedging(Hedging::new(2).non_fatal_codes([Code::Internal]));
        assert_eq!((policy.recoverable_codes().len(), policy.usual_refusal()), (2, Code::Unavailable));
        assert_eq!(hedged.recoverable_codes(), CodeSet::from([Code::Internal]));
        assert_eq!(hedged.usual_refusal(), Code::Internal);
        let fatal = hedged.with_hedging(Hedging::new(2));
        assert_eq!((fatal.recoverable_codes().is_empty(), fatal.usual_refusal()), (true, Code::Unavailable));
        assert_eq!(fatal.with_hedging(None).recoverable_codes(), policy.recoverable_codes());
    }

    #[test]
    fn a_percentile_is_that_of_the_policys_own_calls() {
        let fixed = Duration::from_millis(7);
        let policy =
            |hedging: Hedging| Policy::new(&RetrySettings::default(), CodeSet::EMPTY).with_hedging(hedging);
        for (hedging, at_first, measured) in [
            (Hedging::new(2), Some(Duration::ZERO), Some(Duration::ZERO)),
            (Hedging::new(2).delay(fixed), Some(fixed), Some(fixed)),
            (Hedging::new(2).percentile(0.95), None, Some(Duration::from_millis(10))),
            (Hedging::new(2).delay(fixed).percentile(0.95), Some(fixed), Some(Duration::from_millis(10))),
        ] {
            let policy = policy(hedging);
            assert_eq!(policy.hedging_delay(), at_first, "{hedging:?}");
            (0..20).for_each(|_| policy.first_took(Duration::from_millis(10)));
            assert_eq!(policy.hedging_delay(), measured, "{hedging:?}");
        }
    }

    #[test]
    fn latencies_are_shared_by_policies_that_have_a_percentile() {
        let policy =
            |hedging: Hedging| Policy::new(&RetrySettings::default(), CodeSet::EMPTY).with_hedging(hedging);
        let measured = policy(Hedging::new(2).percentile(0.95));
        (0..20).for_each(|_| measured.first_took(Duration::from_millis(10)));
        let sharing = policy(Hedging::new(3).percentile(0.95)).with_latencies_of(&measured);
        assert_eq!(sharing.hedging_delay(), Some(Duration::from_millis(10)));
        let other = policy(Hedging::new(2).percentile(0.5)).with_latencies_of(&measured);
        assert_eq!(other.hedging_delay(), None, "another percentile is another number");
        let fixed = policy(Hedging::new(3).delay(Duration::from_millis(7)));
        assert_eq!(
            fixed.clone().with_latencies_of(&measured).hedging_delay(),
            Some(Duration::from_millis(7))
        );
        assert_eq!(sharing.with_latencies_of(&fixed).hedging_delay(), Some(Duration::from_millis(10)));
    }

    #[test]
    fn the_spacing_of_attempts_in_words() {
        let hedging = Hedging::new(2);
        assert_eq!(hedging.spacing(), "all at once");
        assert_eq!(hedging.delay(Duration::from_millis(1500)).spacing(), "1.5 s apart");
        let slow = "once one is slower than 7 % of the calls before";
        assert_eq!(hedging.delay(Duration::from_secs(1)).percentile(0.07).spacing(), slow);
        assert_eq!(hedging.percentile(0.999).spacing(), slow.replace('7', "99.9"));
    }
}
