//! How far the table applies.

use super::classification::Hedges;
use super::{Classification, Idempotency};
use crate::Hedging;

/// Which requests may be retried, given what is known of them.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::{Idempotency, IdempotencyStrategy};
///
/// assert!(!IdempotencyStrategy::default().permits(&Idempotency::Never));
/// assert_eq!("always".parse(), Ok(IdempotencyStrategy::Always));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum IdempotencyStrategy {
    /// Requests that are always safe, and those that a precondition makes safe. A request that no rule speaks of is
    /// not retried.
    #[default]
    Conditional,
    /// Every request. A repeated one may then take effect twice.
    Always,
    /// No request.
    Never,
}

gax_text::names! {
    /// Every strategy, the default first.
    pub const ALL;
    /// The name in the form that flags and files use.
    pub fn as_str for IdempotencyStrategy {
        Conditional = "conditional",
        Always = "always",
        Never = "never",
    }
}

impl IdempotencyStrategy {
    /// Returns whether a request like that may be retried.
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
}

impl Classification {
    /// Returns whether the request may be sent again, by this strategy. A rule that holds whatever the strategy decides alone.
    #[must_use]
    pub fn permits(&self, strategy: IdempotencyStrategy) -> bool {
        let strategy = if self.is_fixed { IdempotencyStrategy::Conditional } else { strategy };
        strategy.permits(self.idempotency())
    }

    /// Returns whether the request is sent while an attempt is in flight, by hedging like that. To be safe to repeat after a failure
    /// is not to be safe to run twice at once: `GET`, `HEAD` and `OPTIONS` are, where they may be sent again at all, and so is
    /// what the rule says is [hedgeable](super::IdempotencyRule::hedgeable). Other requests are hedged by
    /// [`Hedging::allow_non_idempotent`] alone, and the chunks of an upload's session (with a `Content-Range`) never.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Hedging, http::{IdempotencyStrategy, IdempotencyTable, RequestFacts}};
    ///
    /// let is_hedged = |method, hedging: &Hedging| {
    ///     let classification = IdempotencyTable::http_methods().classify(&RequestFacts::new(method, "/things/7"));
    ///     classification.is_hedged(IdempotencyStrategy::Always, hedging)
    /// };
    /// let hedging = Hedging::new(2);
    /// assert!(is_hedged("GET", &hedging));
    /// assert!(!is_hedged("PUT", &hedging));
    /// assert!(is_hedged("PUT", &hedging.allow_non_idempotent()));
    /// ```
    #[must_use]
    pub fn is_hedged(&self, strategy: IdempotencyStrategy, hedging: &Hedging) -> bool {
        let is_fixed_never = self.is_fixed && !self.permits(strategy);
        match self.hedges {
            Hedges::Yes if self.permits(strategy) => true,
            Hedges::Yes | Hedges::IfAllowed => {
                hedging.allows_non_idempotent() && strategy != IdempotencyStrategy::Never && !is_fixed_never
            }
            Hedges::Never => false,
        }
    }
}

gax_text::parsed_by_name! {
    IdempotencyStrategy, ParseStrategyError,
    "is not an idempotency strategy (conditional, always or never)"
}
