//! The budget that retries of all operations draw on (gRFC A6, retry throttling).

use std::sync::atomic::{AtomicU32, Ordering};

const THOUSANDTHS: u32 = 1000;

/// A token bucket that many operations share: failures drain it, successes fill it, and while it is half
/// empty or emptier nothing is retried. First attempts always go.
///
/// Lock-free. Tokens are counted in thousandths, as gRPC does, so that a ratio of 0.1 is exact.
///
/// # Examples
///
/// ```
/// use gax_retry::RetryBudget;
///
/// let budget = RetryBudget::tokens(4, 0.5);
/// budget.failed();
/// assert!(budget.allows());
/// budget.failed();
/// assert!(!budget.allows());
/// budget.succeeded();
/// assert!(budget.allows());
/// ```
#[derive(Debug)]
pub struct RetryBudget {
    max: u32,
    refill: u32,
    tokens: AtomicU32,
}

impl RetryBudget {
    /// A bucket of `max` tokens (1 to 1000), full at first, that each success adds `ratio` to. Of the ratio,
    /// three decimals count (gRFC A6). What lies outside is moved to the nearest bound.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the ratio is clamped to what a token count can hold, and its further decimals are cut off"
    )]
    pub fn tokens(max: u32, ratio: f64) -> Self {
        let max = max.clamp(1, 1000) * THOUSANDTHS;
        // The small addend keeps 0.29, which no f64 holds exactly, from becoming 0.289.
        let refill = (ratio.clamp(0.0, 1000.0) * f64::from(THOUSANDTHS) + 1e-6) as u32;
        Self { max, refill, tokens: AtomicU32::new(max) }
    }

    /// Whether a retry may be made: more than half of the tokens are there.
    #[must_use]
    pub fn allows(&self) -> bool {
        self.tokens.load(Ordering::Relaxed) > self.max / 2
    }

    /// An attempt failed in a way that is retried, or the server said not to retry: one token less.
    pub fn failed(&self) {
        self.change(|tokens| tokens.saturating_sub(THOUSANDTHS));
    }

    /// An operation succeeded: the ratio's share of a token more.
    pub fn succeeded(&self) {
        self.change(|tokens| tokens.saturating_add(self.refill).min(self.max));
    }

    fn change(&self, to: impl Fn(u32) -> u32) {
        let mut tokens = self.tokens.load(Ordering::Relaxed);
        loop {
            let changed = to(tokens);
            if changed == tokens {
                return;
            }
            match self.tokens.compare_exchange_weak(tokens, changed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(current) => tokens = current,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(budget: &RetryBudget) -> u32 {
        budget.tokens.load(Ordering::Relaxed)
    }

    /// k03: the ratio's fourth decimal does not count, so that three successes leave 1.999 tokens.
    #[test]
    fn the_ratio_counts_with_three_decimals() {
        let budget = RetryBudget::tokens(4, 0.3339);
        for _ in 0..3 {
            budget.failed();
        }
        for _ in 0..3 {
            budget.succeeded();
        }
        assert_eq!(left(&budget), 1999);
        assert!(!budget.allows());
        assert_eq!(RetryBudget::tokens(10, 0.29).refill, 290);
    }

    #[test]
    fn tokens_stay_between_none_and_all() {
        let budget = RetryBudget::tokens(2, 1.0);
        budget.succeeded();
        assert_eq!(left(&budget), 2000);
        for _ in 0..3 {
            budget.failed();
        }
        assert_eq!(left(&budget), 0);
        let odd = RetryBudget::tokens(0, f64::NAN);
        assert_eq!((odd.max, odd.refill), (1000, 0));
    }
}
