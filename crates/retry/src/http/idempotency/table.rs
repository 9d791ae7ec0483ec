//! Rules, and the one among them that a request matches.

use super::{Classification, IdempotencyRule, OperationClass, Precondition, RequestFacts, hosts, storage};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// The header by which a server carries a request out once, where it says so (the IETF's draft of the header's name).
const IDEMPOTENCY_KEY: Precondition = Precondition::Header(Cow::Borrowed("Idempotency-Key"));

/// Rules that say which requests of an API are safe to retry. Cheap to clone.
///
/// The first rule that matches a request decides. A path may start with one of the table's prefixes, which is removed
/// before rules are checked.
///
/// # Examples
///
/// This overrides a row of the Cloud Storage table and adds a rule for another API:
///
/// ```
/// use gax_retry::http::{IdempotencyRule, IdempotencyTable, OperationClass, RequestFacts};
///
/// let cautious = IdempotencyTable::storage()
///     .with_class("storage.buckets.delete", OperationClass::Never)?;
/// let request = RequestFacts::new("DELETE", "/storage/v1/b/photos");
/// assert_eq!(cautious.classify(&request).to_string(), "never");
///
/// let own = IdempotencyTable::new()
///     .with_rule(IdempotencyRule::new("things", "PUT", "/things/{id}", OperationClass::Always)?);
/// assert_eq!(own.classify(&RequestFacts::new("PUT", "/things/7")).to_string(), "always");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct IdempotencyTable {
    rules: Arc<[IdempotencyRule]>,
    prefixes: Arc<[Cow<'static, str>]>,
    /// Hosts in addition to Cloud Storage's own to which its rules apply.
    hosts: Arc<[Cow<'static, str>]>,
}

// Short: the table of an API has dozens of rules.
gax_text::short_debug! { self: IdempotencyTable { rules: self.rules.len(), prefixes: self.prefixes } }

impl IdempotencyTable {
    /// A table without rules: nothing is known of any request.
    pub fn new() -> Self {
        Self::default()
    }

    /// The complete table of the JSON API in Cloud Storage's documentation. Restoring and moving objects, which were
    /// added later, are treated as conditional.
    ///
    /// The paths include those of uploads and downloads, and may lack `/storage/v1`, which clients omit for an
    /// emulator. The chunks of a resumable upload are safe by the id of their session, which ends once.
    ///
    /// These rules apply to the hosts of the JSON API (`storage.googleapis.com`, `www.googleapis.com`, those of Private Service
    /// Connect, of regions, of mTLS and of other universes) and to those that [`with_host`](Self::with_host) names, such as an
    /// emulator. For any other host, including a bucket's own, the rules of [`http_methods`](Self::http_methods) apply. A request of
    /// the XML API that no rule matches is safe with `x-goog-if-generation-match` or `x-goog-if-metageneration-match`, as is one for
    /// which a rule requires the corresponding parameter.
    pub fn storage() -> Self {
        static STORAGE: LazyLock<IdempotencyTable> = LazyLock::new(|| IdempotencyTable {
            rules: storage::rules().collect(),
            prefixes: storage::PREFIXES.iter().copied().map(Cow::Borrowed).collect(),
            hosts: Arc::default(),
        });
        STORAGE.clone()
    }

    /// HTTP's own word on its methods (RFC 9110, section 9.2.2), whatever the path: `GET`, `HEAD`,
    /// `OPTIONS`, `TRACE`, `PUT` and `DELETE` are safe to repeat; `POST` and `PATCH` are not.
    pub fn http_methods() -> Self {
        static METHODS: LazyLock<IdempotencyTable> = LazyLock::new(|| IdempotencyTable {
            rules: storage::by_method().collect(),
            prefixes: Arc::default(),
            hosts: Arc::default(),
        });
        METHODS.clone()
    }

    /// The table by which a request with an `Idempotency-Key` header is safe to retry, whatever its rule says: for servers that
    /// promise to carry out one request with a key once. It changes the rules that the table has now.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::http::{IdempotencyTable, RequestFacts};
    ///
    /// let table = IdempotencyTable::http_methods().with_idempotency_key();
    /// let pay = RequestFacts::new("POST", "/v1/payments");
    /// assert_eq!(table.classify(&pay).to_string(), "conditional: Idempotency-Key header missing");
    /// let key: &[(&str, &str)] = &[("idempotency-key", "8e03978e")];
    /// let headers = &key;
    /// assert_eq!(table.classify(&pay.with_headers(headers)).to_string(), "conditional: Idempotency-Key header");
    /// ```
    pub fn with_idempotency_key(self) -> Self {
        let mut rules = self.rules.to_vec();
        for rule in &mut rules {
            rule.set_class(rule.class().or_if(&IDEMPOTENCY_KEY));
        }
        Self { rules: rules.into(), ..self }
    }

    /// The table with one more rule. It replaces the rule of the same name, if there is one; otherwise it is checked
    /// before all others.
    pub fn with_rule(self, rule: IdempotencyRule) -> Self {
        let mut rules = self.rules.to_vec();
        match rules.iter_mut().find(|known| known.name() == rule.name()) {
            Some(known) => *known = rule.replacing(known),
            None => rules.insert(0, rule),
        }
        Self { rules: rules.into(), ..self }
    }

    /// The table with more rules. They are checked before all others, in this order. A rule with the name of an existing rule
    /// replaces it.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::http::{IdempotencyRule, IdempotencyTable, OperationClass};
    ///
    /// let rule = |name: &'static str, path| IdempotencyRule::new(name, "POST", path, OperationClass::Always);
    /// let table = IdempotencyTable::http_methods()
    ///     .with_rules([rule("search", "/v1/things:search")?, rule("POST", "/**")?, rule("count", "/v1/things:count")?]);
    /// let names: Vec<&str> = table.rules().iter().map(|rule| rule.name()).collect();
    /// assert_eq!(names[..3], ["search", "count", "GET"]);
    /// assert_eq!(names.len(), 10);
    /// # Ok::<(), gax_retry::http::PatternError>(())
    /// ```
    pub fn with_rules(self, rules: impl IntoIterator<Item = IdempotencyRule>) -> Self {
        let (mut first, mut known) = (Vec::new(), self.rules.to_vec());
        for rule in rules {
            match known.iter_mut().find(|known| known.name() == rule.name()) {
                Some(known) => *known = rule.replacing(known),
                None => first.push(rule),
            }
        }
        first.append(&mut known);
        self.with_all_rules(first)
    }

    /// The table with these rules instead of all that it has. Prefixes and hosts stay.
    pub fn with_all_rules(self, rules: impl IntoIterator<Item = IdempotencyRule>) -> Self {
        Self { rules: rules.into_iter().collect(), ..self }
    }

    /// The table with another class for one of its operations.
    ///
    /// # Errors
    ///
    /// No rule has that name.
    pub fn with_class(self, name: &str, class: OperationClass) -> Result<Self, UnknownRuleError> {
        let mut rules = self.rules.to_vec();
        let rule = rules
            .iter_mut()
            .find(|known| known.name() == name)
            .ok_or_else(|| UnknownRuleError { name: name.to_owned() })?;
        rule.set_class(class);
        Ok(Self { rules: rules.into(), ..self })
    }

    /// The table where each rule holds whatever the strategy, but those of these operations.
    pub(crate) fn with_fixed_but(self, names: &[&str]) -> Self {
        let fixed = |rule: &IdempotencyRule| {
            let rule = rule.clone();
            if names.contains(&rule.name()) { rule } else { rule.whatever_the_strategy() }
        };
        Self { rules: self.rules.iter().map(fixed).collect(), ..self }
    }

    /// The table for an API whose paths may begin with that, such as `/storage/v1`.
    pub fn with_prefix(self, prefix: impl Into<Cow<'static, str>>) -> Self {
        let prefixes = self.prefixes.iter().cloned().chain([prefix.into()]).collect();
        Self { prefixes, ..self }
    }

    /// The table whose rules of Cloud Storage also apply to that host, such as an emulator: with its port, or without one for any
    /// port.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::http::{IdempotencyTable, RequestFacts};
    ///
    /// let table = IdempotencyTable::storage().with_host("localhost:9000");
    /// let patch = RequestFacts::new("DELETE", "/b/photos/o/cat.jpg");
    /// let said = |host| table.classify(&patch.with_host(host)).to_string();
    /// assert_eq!(said("localhost:9000"), "conditional: ifGenerationMatch or generation missing");
    /// assert_eq!(said("example.com"), "always");
    /// ```
    pub fn with_host(self, host: impl Into<Cow<'static, str>>) -> Self {
        let hosts = self.hosts.iter().cloned().chain([host.into()]).collect();
        Self { hosts, ..self }
    }

    gax_text::getters! { self:
        /// The hosts that were given.
        pub hosts: impl Iterator<Item = &str> = self.hosts.iter().map(|host| &**host);

        /// Returns whether it has rules of Cloud Storage, which only apply to its hosts.
        pub is_of_storage: bool = self.rules.iter().any(IdempotencyRule::is_of_storage);

        /// Every rule, in the order in which they are asked.
        pub rules: &[IdempotencyRule] = &self.rules;

        /// A prefix that paths may have; it is taken off before rules are asked.
        pub prefixes: impl Iterator<Item = &str> = self.prefixes.iter().map(|prefix| &**prefix);
    }

    /// The first rule that a request matches, which decides.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::http::{IdempotencyTable, RequestFacts};
    ///
    /// let table = IdempotencyTable::http_methods();
    /// let rule = table.rule_of(&RequestFacts::new("PUT", "/things/7"));
    /// assert_eq!(rule.map(|rule| rule.name()), Some("PUT"));
    /// ```
    #[must_use]
    pub fn rule_of(&self, request: &RequestFacts<'_>) -> Option<&IdempotencyRule> {
        self.first_rule(request, self.is_at_storage(request))
    }

    fn first_rule(&self, request: &RequestFacts<'_>, is_at_storage: bool) -> Option<&IdempotencyRule> {
        let path = self.without_prefix(request.path());
        let mut rules = self.rules.iter().filter(|rule| is_at_storage || !rule.is_of_storage());
        rules.find(|rule| rule.covers(request, path))
    }

    fn is_at_storage(&self, request: &RequestFacts<'_>) -> bool {
        request.host().is_none_or(|host| hosts::is_storage(host, &self.hosts))
    }

    /// Classifies a request.
    #[must_use]
    pub fn classify(&self, request: &RequestFacts<'_>) -> Classification {
        let is_at_storage = self.is_at_storage(request);
        if let Some(rule) = self.first_rule(request, is_at_storage) {
            let (idempotency, hedges) = (rule.classify(request), rule.hedges(request));
            return Classification::new(rule.shared_name(), idempotency, rule.is_fixed(), hedges);
        }
        match self.is_of_storage() {
            true if !is_at_storage => {
                let is_of_storage = request.path().contains("/storage/v1/");
                Self::http_methods().classify(request).at_other_host(is_of_storage)
            }
            true => request.xml_condition().map_or_else(
                || Classification::unknown(request.hedges()),
                |met| Classification::met(met, request.hedges()),
            ),
            false => Classification::unknown(request.hedges()),
        }
    }

    fn without_prefix<'a>(&self, path: &'a str) -> &'a str {
        self.prefixes
            .iter()
            .filter_map(|prefix| path.strip_prefix(&**prefix))
            .filter(|rest| rest.starts_with('/'))
            .min_by_key(|rest| rest.len())
            .unwrap_or(path)
    }
}

/// A name that none of a table's rules has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRuleError {
    name: String,
}

gax_text::error_text! { UnknownRuleError { name }, "no rule of the idempotency table is called {name:?}; its rules() lists the names" }
