//! One request, classified by a table.

use super::Precondition;
use super::precondition::joined;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The idempotency of one request: whether it is safe to retry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "closed by the three classes of operations, plus none")]
pub enum Idempotency {
    /// It may, whatever it carries.
    Always,
    /// It may, thanks to this.
    ConditionMet(Precondition),
    /// It might, if it carried any one of these.
    ConditionNotMet(Arc<[Precondition]>),
    /// It may not.
    Never,
    /// No rule speaks of it.
    Unknown,
}

impl fmt::Display for Idempotency {
    /// The class, and for a conditional operation what decided: `conditional: ifMetagenerationMatch`,
    /// `conditional: ifGenerationMatch or generation missing`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Idempotency::Always => f.write_str("always"),
            Idempotency::Never => f.write_str("never"),
            Idempotency::Unknown => f.write_str("unknown: no rule for this request"),
            Idempotency::ConditionMet(met) => write!(f, "conditional: {met}"),
            Idempotency::ConditionNotMet(wanted) => {
                f.write_str("conditional: ")?;
                joined(wanted, f)?;
                f.write_str(" missing")
            }
        }
    }
}

/// The classification of one request by a table, and the rule that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    rule: Option<Cow<'static, str>>,
    idempotency: Idempotency,
    /// The rule holds whatever the strategy.
    pub(super) is_fixed: bool,
    pub(super) hedges: Hedges,
    is_at_other_host: bool,
}

/// Says whether a request may be sent while an attempt is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hedges {
    Yes,
    /// If hedging is for requests that are not idempotent too.
    IfAllowed,
    Never,
}

impl Classification {
    pub(super) fn new(
        rule: Cow<'static, str>,
        idempotency: Idempotency,
        is_fixed: bool,
        hedges: Hedges,
    ) -> Self {
        Self { rule: Some(rule), idempotency, is_fixed, hedges, is_at_other_host: false }
    }

    /// A request that is safe to retry whatever it is, since its sender knows the result of it.
    #[doc(hidden)]
    #[must_use]
    pub fn always() -> Self {
        Self { idempotency: Idempotency::Always, ..Self::unknown(Hedges::Never) }
    }

    /// No rule speaks of it, but it carries this.
    pub(super) fn met(precondition: Precondition, hedges: Hedges) -> Self {
        Self { idempotency: Idempotency::ConditionMet(precondition), ..Self::unknown(hedges) }
    }

    pub(super) fn unknown(hedges: Hedges) -> Self {
        let idempotency = Idempotency::Unknown;
        Self { rule: None, idempotency, is_fixed: false, hedges, is_at_other_host: false }
    }

    /// Sets whether the path is one of an API whose rules don't count at its host.
    pub(super) fn at_other_host(self, is_at_other_host: bool) -> Self {
        Self { is_at_other_host, ..self }
    }

    gax_text::getters! { self:
        /// The name of the rule that the request matches.
        pub rule: Option<&str> = self.rule.as_deref();

        /// Returns whether the path is one of Cloud Storage's JSON API, and the host is not among those of its rules: see
        /// [`IdempotencyTable::with_host`](super::IdempotencyTable::with_host).
        pub is_at_other_host: bool = self.is_at_other_host;

        /// Returns whether the request is safe to retry.
        pub idempotency: &Idempotency = &self.idempotency;
    }
}

impl fmt::Display for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.idempotency.fmt(f)
    }
}
