//! A random retry budget, and whether the retries of a run stayed within it.

use super::{Draw, FinishedCall};
use gax_retry::{AttemptKind, RetryBudget};
use std::time::Duration;

/// A retry budget as it was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RandomBudget {
    /// gRFC A6's tokens, in thousandths.
    Tokens {
        /// At the start, and at most.
        max: u64,
        /// What a success brings back.
        ratio: u64,
    },
    /// A share of the successes, in thousandths.
    Share {
        /// The share.
        ratio: u64,
        /// And so many in each second.
        per_second: u32,
    },
}

impl RandomBudget {
    /// Draws one, mostly a small one.
    #[must_use]
    pub fn draw(draw: &mut Draw) -> Self {
        if draw.percent(50) {
            Self::Tokens { max: 1000 * draw.between(1, 8), ratio: draw.pick(&[1, 100, 500, 1000]) }
        } else {
            Self::Share { ratio: draw.pick(&[0, 100, 500, 1000]), per_second: draw.pick(&[0, 0, 1]) }
        }
    }

    /// The budget itself, full.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    pub fn budget(self) -> RetryBudget {
        let number = |thousandths: u64| thousandths as f64 / 1000.0;
        match self {
            Self::Tokens { max, ratio } => RetryBudget::tokens(number(max), number(ratio)),
            Self::Share { ratio, per_second } => RetryBudget::ratio(number(ratio)).min_per_second(per_second),
        }
    }

    /// Whether all calls of a run together retried more than the budget has, in `time`.
    ///
    /// A hedge that waits for nobody's failure draws no token, so that only its start is bounded there: of tokens, what is
    /// counted are the retries.
    #[must_use]
    pub fn overdrawn(self, calls: &[FinishedCall], time: Duration) -> Option<String> {
        let count = |of: &dyn Fn(AttemptKind) -> bool| {
            let attempts = calls.iter().flat_map(|call| &call.witnessed).flat_map(|one| &one.attempts);
            attempts.filter(|attempt| of(attempt.started.kind())).count() as u64
        };
        let replies = calls.iter().filter(|call| call.end.is_reply()).count() as u64;
        let (made, most) = match self {
            Self::Tokens { max, ratio } => {
                let retries = count(&|kind| kind == AttemptKind::Retry);
                (retries, (max - max / 2 + ratio * replies) / 1000)
            }
            Self::Share { ratio, per_second } => {
                let more = count(&|kind| matches!(kind, AttemptKind::Retry | AttemptKind::Hedge));
                let windows = time.as_secs() / 10 + 2;
                (more, ratio * replies / 1000 + windows * 10 * u64::from(per_second))
            }
        };
        (made > most).then(|| format!("{made} retries and hedges were made, of which {self:?} has {most}"))
    }
}
