//! The arithmetic of tools and libraries that wait by a formula of their own.

use super::{Ask, Refusal, RuleSet, Wait};
use crate::nanos::{FOREVER, limited};
use crate::recipe::{Growth, Recipe, TimeRule};
use crate::{JitterSource, ServerDelay, StopReason};
use std::time::Duration;

/// A recipe, and the attempt timeout that a call adds to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strategy {
    recipe: Recipe,
    attempt_timeout: u64,
}

impl Strategy {
    pub(crate) fn new(recipe: Recipe) -> Self {
        Self { recipe, attempt_timeout: FOREVER }
    }

    pub(crate) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.attempt_timeout = limited(timeout);
    }

    pub(crate) fn remove_attempt_timeout(&mut self) {
        self.attempt_timeout = FOREVER;
    }

    /// The moment at and after which no attempt starts or runs.
    pub(crate) fn wall(&self, bound: u64) -> u64 {
        match self.recipe.limits.time() {
            Some((limit, TimeRule::Strict)) => limited(limit).min(bound),
            _ => bound,
        }
    }
}

/// How far the back-off has grown, and the sum of the waits in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StrategyProgress {
    growth: Growth,
    waited: u64,
}

impl RuleSet for Strategy {
    type Progress = StrategyProgress;

    fn begin(&self) -> StrategyProgress {
        StrategyProgress { growth: Growth::default(), waited: 0 }
    }

    fn start(
        &self,
        _: &mut StrategyProgress,
        is_first: bool,
        now: Duration,
        bound: u64,
    ) -> Result<Option<Duration>, Refusal> {
        let now = limited(now);
        let is_late = match self.recipe.limits.time() {
            Some((limit, TimeRule::Check)) => !is_first && now >= limited(limit),
            _ => false,
        };
        let remaining = match self.wall(bound) {
            FOREVER => FOREVER,
            wall => wall.saturating_sub(now),
        };
        if is_late || remaining == 0 {
            return Err(Refusal::new(StopReason::TotalTimeout));
        }
        let timeout = remaining.min(self.attempt_timeout);
        Ok((timeout != FOREVER).then(|| Duration::from_nanos(timeout)))
    }

    fn next(
        &self,
        progress: &mut StrategyProgress,
        ask: Ask,
        mut jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        let now = limited(ask.now);
        let is_spent = match self.recipe.limits.time() {
            Some((limit, TimeRule::Strict | TimeRule::Clip | TimeRule::Check)) => now >= limited(limit),
            _ => false,
        };
        if is_spent || now >= ask.bound {
            return Err(Refusal::new(StopReason::TotalTimeout));
        }
        if self.recipe.limits.max_attempts().is_some_and(|most| ask.counted >= most) {
            return Err(Refusal::new(StopReason::MaxAttempts));
        }
        let wait = progress.growth.next(&self.recipe.backoff, &mut jitter);
        let wait = self.cut(wait, now);
        if !self.allows(wait, now, progress.waited, ask.bound) {
            return Err(Refusal::of_wait(StopReason::TotalTimeout, Duration::from_nanos(wait)));
        }
        progress.growth.waited(&self.recipe.backoff, wait);
        let asked = match ask.server_delay {
            ServerDelay::None | ServerDelay::Never => None,
            ServerDelay::AtLeast(asked) => Some(asked).filter(|asked| limited(*asked) > wait),
            ServerDelay::Exactly(asked) => Some(asked),
        };
        let wait = match asked {
            Some(asked) if !self.has_time_for(limited(asked), now, progress.waited, ask.bound) => {
                return Err(Refusal::of_wait(StopReason::ServerDelayExceedsBudget, asked));
            }
            Some(asked) => limited(asked),
            None => wait,
        };
        progress.waited = progress.waited.saturating_add(wait);
        Ok(Wait(Duration::from_nanos(wait)))
    }

    fn reset_backoff(&self, progress: &mut StrategyProgress, _: u64) {
        progress.growth = Growth::default();
    }
}

impl Strategy {
    fn cut(&self, wait: u64, now: u64) -> u64 {
        match self.recipe.limits.time() {
            Some((limit, TimeRule::Clip)) => wait.min(limited(limit).saturating_sub(now)),
            _ => wait,
        }
    }

    /// Whether a wait that the server asks for ends while another attempt may begin. It is neither cut
    /// nor made in vain.
    fn has_time_for(&self, wait: u64, now: u64, waited: u64, bound: u64) -> bool {
        let then = now.saturating_add(wait);
        let within = match self.recipe.limits.time() {
            Some((limit, TimeRule::Clip)) => then <= limited(limit),
            Some((limit, TimeRule::Check)) => then < limited(limit),
            _ => true,
        };
        within && self.allows(wait, now, waited, bound)
    }

    fn allows(&self, wait: u64, now: u64, waited: u64, bound: u64) -> bool {
        let then = now.saturating_add(wait);
        let within = match self.recipe.limits.time() {
            Some((limit, TimeRule::Refuse)) => then <= limited(limit),
            Some((limit, TimeRule::Waits)) => waited.saturating_add(wait) <= limited(limit),
            _ => true,
        };
        within && then < self.wall(bound)
    }
}
