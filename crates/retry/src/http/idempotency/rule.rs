//! One row of an idempotency table.

use super::classification::Hedges;
use super::precondition::joined;
use super::{HostPattern, Idempotency, PathPattern, PatternError, Precondition, RequestFacts};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The class that a rule gives an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an operation is safe to repeat, or if, or not; its method says it, or its rule"
)]
#[must_use]
pub enum OperationClass {
    /// Sending it twice does what sending it once does.
    Always,
    /// It is safe if the request carries any one of these.
    Conditional(Arc<[Precondition]>),
    /// Sending it twice does something else.
    Never,
    /// HTTP's definition of the request's method decides (RFC 9110, section 9.2.2): `GET`, `HEAD`, `OPTIONS`, `TRACE`,
    /// `PUT` and `DELETE` are safe to repeat. Any other request is safe if it carries one of these.
    ByMethod(Arc<[Precondition]>),
}

impl OperationClass {
    /// Safe with any one of the preconditions.
    pub fn conditional(preconditions: impl IntoIterator<Item = Precondition>) -> Self {
        Self::Conditional(preconditions.into_iter().collect())
    }

    /// The class that HTTP gives the method of a rule (RFC 9110, section 9.2.2); `*` is any.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry::http as gax_http;
    /// use gax_http::OperationClass;
    ///
    /// assert_eq!(OperationClass::of_method("DELETE"), OperationClass::Always);
    /// assert_eq!(OperationClass::of_method("POST"), OperationClass::Never);
    /// assert_eq!(OperationClass::of_method("*").to_string(), "by method");
    /// ```
    pub fn of_method(method: &str) -> Self {
        match method {
            "*" => Self::ByMethod(Arc::default()),
            method if IDEMPOTENT.contains(&method) => Self::Always,
            _ => Self::Never,
        }
    }

    /// This class for requests that are also safe if they carry that.
    pub(super) fn or_if(&self, precondition: &Precondition) -> Self {
        let with = |any: &[Precondition]| any.iter().cloned().chain([precondition.clone()]).collect();
        match self {
            Self::Always => Self::Always,
            Self::Never => Self::Conditional(with(&[])),
            Self::Conditional(any) => Self::Conditional(with(any)),
            Self::ByMethod(any) => Self::ByMethod(with(any)),
        }
    }
}

/// The methods that are idempotent by RFC 9110, section 9.2.2.
pub(super) const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];

impl fmt::Display for OperationClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperationClass::Always => f.write_str("always"),
            OperationClass::Never => f.write_str("never"),
            OperationClass::Conditional(preconditions) => {
                f.write_str("conditional: ")?;
                joined(preconditions, f)
            }
            OperationClass::ByMethod(preconditions) if preconditions.is_empty() => f.write_str("by method"),
            OperationClass::ByMethod(preconditions) => {
                f.write_str("by method, or with ")?;
                joined(preconditions, f)
            }
        }
    }
}

/// One row of an idempotency table: which requests it is for, and whether they are safe to retry.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::{IdempotencyRule, OperationClass, Precondition};
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
#[must_use]
pub struct IdempotencyRule {
    name: Cow<'static, str>,
    method: Cow<'static, str>,
    /// Without any it is for every host.
    hosts: Arc<[HostPattern]>,
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
            hosts: Arc::default(),
            path,
            class,
            is_fixed: false,
            hedgeable: None,
            query: None,
            is_of_storage: false,
        })
    }

    gax_text::setters! { self:
        /// The rule for requests to these hosts alone. Without any it is for every host, which is the default. A request whose host
        /// is not known may be one to any of them.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_retry::http::{IdempotencyRule, IdempotencyTable, OperationClass, RequestFacts};
        ///
        /// let rule = IdempotencyRule::new("invoices.send", "POST", "/v1/invoices/{invoice}:send", OperationClass::Always)?;
        /// let table = IdempotencyTable::http_methods().with_rule(rule.for_hosts(["billing.example.com".parse()?]));
        /// let send = RequestFacts::new("POST", "/v1/invoices/7:send");
        /// assert_eq!(table.classify(&send.with_host("billing.example.com")).to_string(), "always");
        /// assert_eq!(table.classify(&send.with_host("example.com")).to_string(), "never");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub for_hosts(hosts: impl IntoIterator<Item = HostPattern>) => self.hosts = hosts.into_iter().collect();

        /// The rule for requests with that parameter and value in their query alone.
        pub(crate) for_query(name: &'static str, value: &'static str) => self.query = Some((name, value));

        /// The rule in the place of that one.
        pub(super) replacing(known: &Self) => self.is_of_storage = known.is_of_storage;

        /// Sets whether another attempt of its requests may be sent while one is in flight, if the layer
        /// [hedges](crate::Hedging). Default: yes for `GET`, `HEAD` and `OPTIONS`; for other requests only with
        /// [`allow_non_idempotent`](crate::Hedging::allow_non_idempotent).
        ///
        /// Set `true` if the server treats two simultaneous copies of a request as one, and nothing else changes the same resource
        /// meanwhile: a copy can arrive late and undo a change that was made after the first. `true` applies to requests that are
        /// safe to retry, `false` to all.
        ///
        /// # Examples
        ///
        /// ```
        /// # use gax_retry::http as gax_http;
        /// use gax_http::{IdempotencyRule, OperationClass};
        ///
        /// let rule = IdempotencyRule::new("logs.append", "PUT", "/v1/logs/{id}/entries/{entry}", OperationClass::Always)?;
        /// assert_eq!(rule.hedgeable(true).is_hedgeable(), Some(true));
        /// # Ok::<(), gax_retry::http::PatternError>(())
        /// ```
        pub hedgeable(hedgeable: bool) => self.hedgeable = Some(hedgeable);
    }

    /// Returns whether this rule matches each request that the other rule matches. After this rule in a table, the other one is
    /// never used.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry::http as gax_http;
    /// use gax_http::{IdempotencyRule, OperationClass};
    ///
    /// let all = IdempotencyRule::new("all", "*", "/v1/**", OperationClass::of_method("*"))?;
    /// let get = IdempotencyRule::new("get", "GET", "/v1/things/{id}", OperationClass::Always)?;
    /// assert!(all.shadows(&get) && !get.shadows(&all));
    /// # Ok::<(), gax_retry::http::PatternError>(())
    /// ```
    #[must_use]
    pub fn shadows(&self, other: &Self) -> bool {
        let is_host = |host: &HostPattern| self.hosts.iter().any(|own| own.covers(host));
        (self.method == "*" || self.method == other.method)
            && (self.hosts.is_empty() || !other.hosts.is_empty() && other.hosts.iter().all(is_host))
            && self.path.covers(&other.path)
            && (self.query.is_none() || self.query == other.query)
            && (!self.is_of_storage || other.is_of_storage)
    }

    /// The rule for the hosts of Cloud Storage alone.
    pub(crate) fn of_storage(self) -> Self {
        Self { is_of_storage: true, ..self }
    }

    /// The rule that holds whatever the [strategy](super::IdempotencyStrategy): some libraries never repeat an operation, or
    /// always do, although their setting is to retry everything or nothing.
    pub fn whatever_the_strategy(self) -> Self {
        Self { is_fixed: true, ..self }
    }

    /// Returns whether a request that it speaks of may be sent while an attempt is in flight.
    pub(super) fn hedges(&self, request: &RequestFacts<'_>) -> Hedges {
        match self.hedgeable {
            Some(false) => Hedges::Never,
            Some(true) if !request.is_of_session() => Hedges::Yes,
            _ => request.hedges(),
        }
    }

    gax_text::getters! { self:
        /// Returns whether the rule holds whatever the strategy.
        pub is_fixed: bool = self.is_fixed;

        /// The operation's name, such as `storage.objects.insert`.
        pub name: &str = &self.name;

        /// The HTTP method, or `*` for any.
        pub method: &str = &self.method;

        /// The pattern of the path.
        pub path: &PathPattern = &self.path;

        /// The rule's class.
        pub class: &OperationClass = &self.class;

        pub(super) shared_name: Cow<'static, str> = self.name.clone();

        /// The hosts that it is for; none: every host.
        pub hosts: &[HostPattern] = &self.hosts;

        pub(super) is_of_storage: bool = self.is_of_storage;

        /// Returns whether its requests may be sent while an attempt is in flight; `None`: as their methods have it.
        pub is_hedgeable: Option<bool> = self.hedgeable;
    }

    pub(super) fn set_class(&mut self, class: OperationClass) {
        self.class = class;
    }

    /// Returns whether the rule speaks of a request, whose path is without prefix.
    pub(super) fn covers(&self, request: &RequestFacts<'_>, path: &str) -> bool {
        let is_own = |host: &str| self.hosts.is_empty() || self.hosts.iter().any(|own| own.matches(host));
        (self.method == "*" || self.method == request.method())
            && request.host().is_none_or(is_own)
            && self.path.matches(path)
            && self.query.is_none_or(|(name, value)| request.has_query(name, value))
    }

    /// The idempotency by this rule of a request that it speaks of.
    pub(super) fn classify(&self, request: &RequestFacts<'_>) -> Idempotency {
        match &self.class {
            OperationClass::Always => Idempotency::Always,
            OperationClass::Never => Idempotency::Never,
            OperationClass::ByMethod(_) if IDEMPOTENT.contains(&request.method()) => Idempotency::Always,
            OperationClass::ByMethod(preconditions) if preconditions.is_empty() => Idempotency::Never,
            OperationClass::Conditional(preconditions) | OperationClass::ByMethod(preconditions) => {
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
