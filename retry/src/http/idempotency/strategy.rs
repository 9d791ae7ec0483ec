//! How far the table counts.

use super::{Classification, Idempotency};
use std::fmt;
use std::str::FromStr;

/// Which requests may be retried, given what is known of them.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::{Idempotency, IdempotencyStrategy};
///
/// assert!(!IdempotencyStrategy::default().permits(&Idempotency::Never));
/// assert_eq!("always".parse(), Ok(IdempotencyStrategy::Always));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum IdempotencyStrategy {
    /// What is always safe, and what a precondition makes safe. A request that no rule speaks of is
    /// not retried.
    #[default]
    Conditional,
    /// Every request. A repeated one may then take effect twice.
    Always,
    /// No request.
    Never,
}

impl IdempotencyStrategy {
    /// Every strategy, the default first.
    pub const ALL: &'static [IdempotencyStrategy] =
        &[IdempotencyStrategy::Conditional, IdempotencyStrategy::Always, IdempotencyStrategy::Never];

    /// Whether a request like that may be retried.
    #[must_use]
    pub const fn permits(self, idempotency: &Idempotency) -> bool {
        match self {
            IdempotencyStrategy::Always => true,
            IdempotencyStrategy::Never => false,
            IdempotencyStrategy::Conditional => {
                matches!(idempotency, Idempotency::Always | Idempotency::ConditionMet(_))
            }
        }
    }

    /// The name in the form that flags and files use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            IdempotencyStrategy::Conditional => "conditional",
            IdempotencyStrategy::Always => "always",
            IdempotencyStrategy::Never => "never",
        }
    }
}

impl Classification {
    /// Whether the request may be sent again, by this strategy. A rule that holds whatever the strategy decides alone.
    #[must_use]
    pub fn permits(&self, strategy: IdempotencyStrategy) -> bool {
        let strategy = if self.is_fixed { IdempotencyStrategy::Conditional } else { strategy };
        strategy.permits(self.idempotency())
    }
}

impl fmt::Display for IdempotencyStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for IdempotencyStrategy {
    type Err = ParseStrategyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|strategy| strategy.as_str() == text)
            .ok_or_else(|| ParseStrategyError { text: text.to_owned() })
    }
}

/// A text that isn't the name of an [`IdempotencyStrategy`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an idempotency strategy (conditional, always or never)")]
pub struct ParseStrategyError {
    text: String,
}
