//! A random retry budget, and whether the retries of a run stayed within it.

use super::{BudgetDraw, Draw, FinishedCall};
use gax_retry::{AttemptKind, RetryBudget};
use std::time::Duration;
use tonic_gax::Note;

/// A retry budget as it was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RandomBudget {
    /// gRFC A6's tokens, in thousandths.
    Tokens {
        /// At the start, and at most.
        max: u64,
        /// The tokens that a success returns.
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
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    pub fn budget(self) -> RetryBudget {
        let number = |thousandths: u64| thousandths as f64 / 1000.0;
        match self {
            Self::Tokens { max, ratio } => RetryBudget::tokens(number(max), number(ratio)),
            Self::Share { ratio, per_second } => RetryBudget::ratio(number(ratio)).min_per_second(per_second),
        }
    }

    /// Whether all calls of a run together retried or hedged more than the budget has, in `time`. The draws are those of the
    /// run, in their order.
    #[must_use]
    pub fn overdrawn(self, calls: &[FinishedCall], draws: &[BudgetDraw], time: Duration) -> Option<String> {
        let count = |of: &dyn Fn(AttemptKind) -> bool| {
            let attempts = calls.iter().flat_map(|call| &call.witnessed).flat_map(|one| &one.attempts);
            attempts.filter(|attempt| of(attempt.started.kind())).count() as u64
        };
        let reported = calls.iter().filter(|call| call.end.is_reply() || is_committed(call)).count() as u64;
        let unreported =
            calls.iter().filter(|call| is_unreadable(call) && !is_committed(call)).count() as u64;
        let replies = reported + unreported;
        let (made, most) = match self {
            Self::Tokens { max, ratio } => {
                let is_hedged = calls.iter().any(|call| call.policy.hedging.is_some());
                if let Some(sentence) = beyond_half(max, ratio, ratio * unreported, draws, is_hedged) {
                    return Some(sentence);
                }
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

/// A response that is committed to has succeeded, even if it can't be read to its end.
fn is_committed(call: &FinishedCall) -> bool {
    call.witnessed.iter().any(|one| one.committed.is_some())
}

/// Its status was OK, which counts for the retry budget, but observers are notified of a failure.
fn is_unreadable(call: &FinishedCall) -> bool {
    call.report.as_ref().is_some_and(|report| report.notes().contains(&Note::UNREADABLE_RESPONSE))
}

/// gRFC A6's bucket by itself: a token less for each failure, and its ratio back for each success. Retries and hedges are made
/// only with more than half of the tokens. Where observers can't be certain, it counts in favour of the retry budget.
fn beyond_half(
    max: u64,
    ratio: u64,
    unreported: u64,
    draws: &[BudgetDraw],
    is_hedged: bool,
) -> Option<String> {
    let mut tokens = max;
    for (place, draw) in draws.iter().enumerate() {
        let needs_half = match draw {
            BudgetDraw::Succeeded => {
                tokens = (tokens + ratio).min(max);
                false
            }
            BudgetDraw::Failed { is_retried } => {
                tokens = tokens.saturating_sub(1000);
                *is_retried && !is_hedged
            }
            BudgetDraw::Hedged => true,
        };
        if needs_half && tokens + unreported <= max / 2 {
            return Some(format!(
                "with {tokens} of {max} thousandths of a token left another attempt was made: draw {place} of {draws:?}"
            ));
        }
    }
    None
}
