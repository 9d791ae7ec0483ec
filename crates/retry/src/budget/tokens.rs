//! gRFC A6's bucket of tokens.

use super::word::Word;
use std::sync::atomic::AtomicU64;

/// One token, and the most of them: as many as a service config may name, and room for more.
const TOKEN: u64 = 1000;
const MOST: f64 = 1e9;

/// Tokens in thousandths, as gRPC counts them, so that a ratio of 0.1 is exact.
#[derive(Debug)]
pub(super) struct Tokens<W = AtomicU64> {
    max: u64,
    refill: u64,
    left: W,
}

impl<W: Word> Tokens<W> {
    pub(super) fn new(max: f64, ratio: f64) -> Self {
        let max = thousandths(max).max(1);
        Self { max, refill: thousandths(ratio), left: W::new(max) }
    }

    /// The bucket, full.
    pub(super) fn full(&self) -> Self {
        Self { left: W::new(self.max), ..*self }
    }

    /// The most tokens, and what a success puts back.
    #[cfg(feature = "serde")]
    #[expect(clippy::cast_precision_loss, reason = "at most a trillion, which an f64 holds exactly")]
    pub(super) fn limits(&self) -> (f64, f64) {
        (self.max as f64 / 1000.0, self.refill as f64 / 1000.0)
    }

    /// More than half of the tokens are there.
    pub(super) fn allows(&self) -> bool {
        self.left.load() > self.max / 2
    }

    /// In whole tokens.
    #[expect(clippy::cast_precision_loss, reason = "at most a trillion, which an f64 holds exactly")]
    pub(super) fn available(&self) -> f64 {
        self.left.load() as f64 / 1000.0
    }

    pub(super) fn failed(&self) {
        self.left.update(|left| changed(left, left.saturating_sub(TOKEN)));
    }

    pub(super) fn succeeded(&self) {
        self.add(self.refill);
    }

    pub(super) fn resumed(&self) {
        self.add(TOKEN);
    }

    fn add(&self, tokens: u64) {
        self.left.update(|left| changed(left, left.saturating_add(tokens).min(self.max)));
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.left.load()
    }
}

/// A full bucket is not written to by each success.
fn changed(before: u64, after: u64) -> Option<u64> {
    (after != before).then_some(after)
}

/// Three decimals count (gRFC A6). What lies outside is moved to the nearest bound.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is between 0 and a trillion, and its further decimals are cut off"
)]
pub(super) fn thousandths(number: f64) -> u64 {
    // The small addend keeps 0.29, which no f64 holds exactly, from becoming 0.289.
    (number.clamp(0.0, MOST) * 1000.0 + 1e-6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(max: f64, ratio: f64) -> Tokens {
        Tokens::new(max, ratio)
    }

    /// k03: the ratio's fourth decimal does not count, so that three successes leave 1.999 tokens.
    #[test]
    fn the_ratio_counts_with_three_decimals() {
        let budget = tokens(4.0, 0.3339);
        for _ in 0..3 {
            budget.failed();
        }
        for _ in 0..3 {
            budget.succeeded();
        }
        assert_eq!(budget.left(), 1999);
        assert!(!budget.allows());
        assert_eq!(tokens(10.0, 0.29).refill, 290);
    }

    #[test]
    fn tokens_stay_between_none_and_all() {
        let budget = tokens(2.0, 1.0);
        budget.succeeded();
        assert_eq!(budget.left(), 2000);
        for _ in 0..3 {
            budget.failed();
        }
        assert_eq!(budget.left(), 0);
        let odd = tokens(f64::NAN, f64::NAN);
        assert_eq!((odd.max, odd.refill), (1, 0));
        let large = tokens(f64::INFINITY, f64::INFINITY);
        assert_eq!((large.max, large.refill), (1_000_000_000_000, 1_000_000_000_000));
        assert_eq!(tokens(10.5, 0.1).max, 10_500);
    }
}
