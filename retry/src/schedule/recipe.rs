//! The arithmetic of tools and libraries that wait by a formula of their own.

use super::decision::ServerWord;
use super::progress::Progress;
use super::{Decision, Retry, Stop};
use crate::nanos::nanos;
use crate::recipe::{Drawn, Growth, Recipe, TimeRule};
use crate::{JitterSource, Started, StopReason};
use std::time::Duration;

/// A recipe, and what the caller of an operation adds to it. In [`Progress`], `delay` is how far the
/// back-off has grown and `timeout` the sum of the waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Follow {
    recipe: Recipe,
    /// The caller's own limit for the whole operation, held strictly whatever the recipe says.
    bound: Option<u64>,
    attempt_timeout: Option<u64>,
}

impl Follow {
    pub(super) fn new(recipe: Recipe) -> Self {
        Self { recipe, bound: None, attempt_timeout: None }
    }

    pub(super) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.attempt_timeout = Some(nanos(timeout));
    }

    pub(super) fn remove_attempt_timeout(&mut self) {
        self.attempt_timeout = None;
    }

    pub(super) fn shorten_total(&mut self, timeout: Duration) {
        let timeout = nanos(timeout);
        self.bound = Some(self.bound.map_or(timeout, |bound| bound.min(timeout)));
    }

    /// The moment at and after which no attempt starts or runs.
    fn wall(&self) -> Option<u64> {
        let strict = match self.recipe.limits.time() {
            Some((limit, TimeRule::Strict)) => Some(nanos(limit)),
            _ => None,
        };
        [strict, self.bound].into_iter().flatten().min()
    }

    pub(super) fn start(&self, progress: &mut Progress, now: Duration) -> Result<Started, Stop> {
        let now = nanos(now);
        let late = match self.recipe.limits.time() {
            Some((limit, TimeRule::Check)) => progress.attempts > 0 && now >= nanos(limit),
            _ => false,
        };
        let remaining = self.wall().map(|wall| wall.saturating_sub(now));
        if late || remaining == Some(0) {
            return Err(Stop::new(StopReason::TotalTimeout));
        }
        progress.attempts = progress.attempts.saturating_add(1);
        let timeout = [remaining, self.attempt_timeout].into_iter().flatten().min();
        Ok(Started::new(progress.attempts, timeout.map(Duration::from_nanos)))
    }

    /// Begins back-off anew after an attempt that delivered messages.
    #[expect(clippy::unused_self, reason = "asked of every kind of rules alike")]
    pub(super) fn forgive(&self, progress: &mut Progress) {
        progress.forgive();
        progress.delay = Growth::default().bits();
    }

    pub(super) fn ended(
        &self,
        progress: &mut Progress,
        now: Duration,
        server: ServerWord,
        jitter: &mut impl JitterSource,
    ) -> Decision {
        let now = nanos(now);
        let next = progress.attempts.saturating_add(1);
        let spent = match self.recipe.limits.time() {
            Some((limit, TimeRule::Strict | TimeRule::Clip | TimeRule::Check)) => now >= nanos(limit),
            _ => false,
        };
        if spent || self.bound.is_some_and(|bound| now >= bound) {
            return Decision::Stop(Stop::new(StopReason::TotalTimeout));
        }
        if self.recipe.limits.max_attempts().is_some_and(|most| progress.counted() >= most) {
            return Decision::Stop(Stop::new(StopReason::MaxAttempts));
        }
        let mut growth = Growth::from_bits(progress.delay);
        let Drawn { delay, wait } = growth.next(&self.recipe.backoff, jitter);
        let wait = self.cut(wait, now);
        if !self.allows(wait, now, progress.timeout) {
            let wait = Duration::from_nanos(wait);
            return Decision::Stop(Stop::refusing(StopReason::TotalTimeout, next, wait));
        }
        growth.waited(&self.recipe.backoff, wait);
        progress.delay = growth.bits();
        let mut wait = Duration::from_nanos(wait);
        if let Some(longer) = server.beyond(wait) {
            if !self.has_time_for(nanos(longer), now, progress.timeout) {
                return Decision::Stop(Stop::refusing(StopReason::ServerDelayExceedsBudget, next, longer));
            }
            wait = longer;
        }
        progress.timeout = progress.timeout.saturating_add(nanos(wait));
        Decision::Retry(Retry::new(next, Duration::from_nanos(delay), wait))
    }

    fn cut(&self, wait: u64, now: u64) -> u64 {
        match self.recipe.limits.time() {
            Some((limit, TimeRule::Clip)) => wait.min(nanos(limit).saturating_sub(now)),
            _ => wait,
        }
    }

    /// Whether a wait that the server asks for ends while another attempt may begin. It is neither cut
    /// nor made in vain.
    fn has_time_for(&self, wait: u64, now: u64, waited: u64) -> bool {
        let then = now.saturating_add(wait);
        let within = match self.recipe.limits.time() {
            Some((limit, TimeRule::Clip)) => then <= nanos(limit),
            Some((limit, TimeRule::Check)) => then < nanos(limit),
            _ => true,
        };
        within && self.allows(wait, now, waited)
    }

    fn allows(&self, wait: u64, now: u64, waited: u64) -> bool {
        let then = now.saturating_add(wait);
        let within = match self.recipe.limits.time() {
            Some((limit, TimeRule::Refuse)) => then <= nanos(limit),
            Some((limit, TimeRule::Waits)) => waited.saturating_add(wait) <= nanos(limit),
            _ => true,
        };
        within && self.wall().is_none_or(|wall| then < wall)
    }
}
