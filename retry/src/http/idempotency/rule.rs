//! One row of an idempotency table.

use super::classification::Hedges;
use super::{Idempotency, PathPattern, PatternError, Precondition, RequestFacts};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The class that a rule gives an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an operation is safe to repeat, or if, or not")]
pub enum OperationClass {
    /// Sending it twice does what sending it once does.
    Always,
    /// It is safe if the request carries any one of these.
    Conditional(Arc<[Precondition]>),
    /// Sending it twice does something else.
    Never,
}

impl OperationClass {
    /// Safe with any one of the preconditions.
    #[must_use]
    pub fn conditional(preconditions: impl IntoIterator<Item = Precondition>) -> Self {
        Self::Conditional(preconditions.into_iter().collect())
    }
}

impl fmt::Display for OperationClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperationClass::Always => f.write_str("always"),
            OperationClass::Never => f.write_str("never"),
            OperationClass::Conditional(preconditions) => {
                f.write_str("conditional: ")?;
                for (index, precondition) in preconditions.iter().enumerate() {
                    if index > 0 {
                        f.write_str(" or ")?;
                    }
                    precondition.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

/// One row of an idempotency table: which requests it is for, and whether they are safe to retry.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::http::{IdempotencyRule, OperationClass, Precondition};
///
/// let rule = IdempotencyRule::new(
///     "invoices.pay",
///     "POST",
///     "/v1/{invoice=invoices/*}:pay",
///     OperationClass::conditional([Precondition::header("Idempotency-Key")]),
/// )?;
/// assert_eq!(rule.class().to_string(), "conditional: Idempotency-Key header");
/// # Ok::<(), gax_retry::http::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRule {
    name: Cow<'static, str>,
    method: Cow<'static, str>,
    path: PathPattern,
    class: OperationClass,
    is_fixed: bool,
    hedgeable: Option<bool>,
    /// A parameter of the query and its value, without which the rule is not for a request.
    query: Option<(&'static str, &'static str)>,
    /// It is for Cloud Storage's hosts alone.
    is_of_storage: bool,
}

impl IdempotencyRule {
    /// A rule for requests with that method (`*` is any) and a path like the pattern.
    ///
    /// # Errors
    ///
    /// The pattern is malformed; see [`PathPattern`].
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        method: impl Into<Cow<'static, str>>,
        path: &str,
        class: OperationClass,
    ) -> Result<Self, PatternError> {
        let path = path.parse()?;
        Ok(Self {
            name: name.into(),
            method: method.into(),
            path,
            class,
            is_fixed: false,
            hedgeable: None,
            query: None,
            is_of_storage: false,
        })
    }

    /// The rule for requests with that parameter and value in their query alone.
    pub(crate) fn for_query(self, name: &'static str, value: &'static str) -> Self {
        Self { query: Some((name, value)), ..self }
    }

    /// The rule for the hosts of Cloud Storage alone.
    pub(crate) fn of_storage(self) -> Self {
        Self { is_of_storage: true, ..self }
    }

    /// The rule in the place of that one.
    pub(super) fn replacing(self, known: &Self) -> Self {
        Self { is_of_storage: known.is_of_storage, ..self }
    }

    pub(super) fn is_of_storage(&self) -> bool {
        self.is_of_storage
    }

    /// The rule that holds whatever the [strategy](super::IdempotencyStrategy): some libraries never repeat an operation, or
    /// always do, although their setting is to retry everything or nothing.
    #[must_use]
    pub fn whatever_the_strategy(self) -> Self {
        Self { is_fixed: true, ..self }
    }

    /// The rule whose requests may be sent while an attempt is in flight, or may not, where the layer
    /// [hedges](crate::Hedging). Unless said, `GET`, `HEAD` and `OPTIONS` may, and other requests only with
    /// [`allow_non_idempotent`](crate::Hedging::allow_non_idempotent).
    ///
    /// Say `true` where the server takes two copies of a request that arrive together for one, and nothing else changes the
    /// same thing meanwhile: a copy can come late, and undo what came after the first. It counts for requests that are safe to
    /// retry; `false` counts always.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry as tonic_gax;
    /// use tonic_gax::http::{IdempotencyRule, OperationClass};
    ///
    /// let rule = IdempotencyRule::new("logs.append", "PUT", "/v1/logs/{id}/entries/{entry}", OperationClass::Always)?;
    /// assert_eq!(rule.hedgeable(true).is_hedgeable(), Some(true));
    /// # Ok::<(), gax_retry::http::PatternError>(())
    /// ```
    #[must_use]
    pub fn hedgeable(self, hedgeable: bool) -> Self {
        Self { hedgeable: Some(hedgeable), ..self }
    }

    /// Whether its requests may be sent while an attempt is in flight; `None`: as their methods have it.
    #[must_use]
    pub fn is_hedgeable(&self) -> Option<bool> {
        self.hedgeable
    }

    /// Whether a request that it speaks of may be sent while an attempt is in flight.
    pub(super) fn hedges(&self, request: &RequestFacts<'_>) -> Hedges {
        match self.hedgeable {
            Some(false) => Hedges::Never,
            Some(true) if !request.is_of_session() => Hedges::Yes,
            _ => request.hedges(),
        }
    }

    /// Whether the rule holds whatever the strategy.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// The operation's name, such as `storage.objects.insert`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The HTTP method, or `*` for any.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The pattern of the path.
    #[must_use]
    pub fn path(&self) -> &PathPattern {
        &self.path
    }

    /// The rule's class.
    #[must_use]
    pub fn class(&self) -> &OperationClass {
        &self.class
    }

    pub(super) fn shared_name(&self) -> Cow<'static, str> {
        self.name.clone()
    }

    pub(super) fn set_class(&mut self, class: OperationClass) {
        self.class = class;
    }

    /// Whether the rule speaks of a request, whose path is without prefix.
    pub(super) fn covers(&self, request: &RequestFacts<'_>, path: &str) -> bool {
        (self.method == "*" || self.method == request.method())
            && self.path.matches(path)
            && self.query.is_none_or(|(name, value)| request.has_query(name, value))
    }

    /// The idempotency by this rule of a request that it speaks of.
    pub(super) fn classify(&self, request: &RequestFacts<'_>) -> Idempotency {
        match &self.class {
            OperationClass::Always => Idempotency::Always,
            OperationClass::Never => Idempotency::Never,
            OperationClass::Conditional(preconditions) => {
                let met = preconditions.iter().find_map(|precondition| {
                    let met = request.meets(precondition).then(|| precondition.clone());
                    met.or_else(|| request.xml_condition_for(precondition).filter(|_| self.is_of_storage))
                });
                match met {
                    Some(met) => Idempotency::ConditionMet(met),
                    None => Idempotency::ConditionNotMet(Arc::clone(preconditions)),
                }
            }
        }
    }
}
