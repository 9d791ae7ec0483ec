//! HTTP requests in a table: which are safe to retry, and by which settings they are retried.

#[cfg(feature = "toml")]
use super::policy::Entry;
use super::policy::{HedgingPolicy, MethodPolicy, TableEntry};
use crate::{SourceLocation, TableFormat};
use gax_retry::http::{IdempotencyRule, IdempotencyTable, StatusSet, TransportFailures};
use gax_retry::{Hedging, RetrySettings};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The part of a table that is about HTTP requests: `[http]` of this project's own form, and the operations of OpenAPI documents.
///
/// Its rules are asked in their order, and the first that matches a request decides: whether the request is safe to retry, and by
/// which settings it is retried. Settings that a rule doesn't have are those of `[http]` itself.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "toml")] {
/// use gax_retry::http::RequestFacts;
/// use gax_table::RetryTable;
/// use std::time::Duration;
///
/// let table = RetryTable::parse(
///     r#"
///     [http]
///     total_timeout = "30s"
///     max_attempts = 4
///
///     [[http.rule]]
///     name = "search"
///     method = "POST"
///     path = "/v1/{index}/_search"
///     class = "always"
///     total_timeout = "2s"
///     statuses = [429, 503]
///     "#,
/// )?;
/// let http = table.http().ok_or("no [http]")?;
/// let search = http.idempotency().classify(&RequestFacts::new("POST", "/v1/books/_search"));
/// let policy = http.policy_of(search.rule()).ok_or("no settings")?;
/// assert_eq!(policy.settings().total_timeout(), Some(Duration::from_secs(2)));
/// assert_eq!(policy.settings().max_attempts(), Some(4));
/// assert_eq!(policy.statuses().to_string(), "429, 503");
/// // Requests of other rules run by the settings of `[http]`, and by HTTP's own word on their methods.
/// let get = http.idempotency().classify(&RequestFacts::new("GET", "/v1/books"));
/// assert_eq!((get.rule(), get.to_string()), (Some("GET"), "always".to_owned()));
/// assert_eq!(http.policy_of(get.rule()).unwrap().settings().total_timeout(), Some(Duration::from_secs(30)));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HttpTable {
    pub(crate) idempotency: IdempotencyTable,
    /// The rules as they are written, where a key was added to them.
    pub(crate) without_key: Option<IdempotencyTable>,
    /// `[http]` itself.
    pub(crate) defaults: HttpSection,
    /// The file's own rules, in their order.
    pub(crate) own: Vec<HttpSection>,
    /// The places of those by their names.
    numbers: HashMap<Box<str>, usize>,
}

/// `[http]` or one of its rules, as the file has it.
#[derive(Debug, Clone)]
pub(crate) struct HttpSection {
    /// The rule's; empty for `[http]` itself.
    pub(crate) name: Box<str>,
    pub(crate) origin: SourceLocation,
    /// The part of the text that says it.
    pub(crate) extent: Range<usize>,
    /// Where the rule's fields stand that are not settings.
    pub(crate) origins: Vec<(&'static str, SourceLocation)>,
    /// With what it inherits; `None`: neither it nor `[http]` says anything of retries.
    pub(crate) policy: Option<Arc<HttpEntry>>,
    /// The settings that it has itself.
    pub(crate) written: Vec<crate::document::Member>,
}

/// The settings of requests.
#[derive(Debug)]
pub(crate) struct HttpEntry {
    entry: TableEntry,
    pub(crate) fields: HttpFields,
}

/// The part of an [`HttpEntry`] that no RPC has.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpFields {
    pub(crate) statuses: StatusSet,
    pub(crate) failures: TransportFailures,
    pub(crate) retry_after: Option<bool>,
    pub(crate) statuses_origin: Option<SourceLocation>,
    pub(crate) retry_after_origin: Option<SourceLocation>,
    /// Of each status that is written by its number.
    pub(crate) status_origins: Vec<(u16, SourceLocation)>,
}

#[cfg(feature = "toml")]
impl HttpEntry {
    pub(crate) fn new(entry: Entry, fields: HttpFields) -> Self {
        Self { entry: TableEntry::of_http(entry, TableFormat::Toml), fields }
    }
}

impl HttpTable {
    /// With that key (`Idempotency-Key`) requests are safe by each rule.
    pub(crate) fn new(
        rules: IdempotencyTable,
        has_key: bool,
        defaults: HttpSection,
        own: Vec<HttpSection>,
    ) -> Self {
        let (idempotency, without_key) =
            if has_key { (rules.clone().with_idempotency_key(), Some(rules)) } else { (rules, None) };
        let numbers =
            own.iter().enumerate().map(|(number, section)| (section.name.clone(), number)).collect();
        Self { idempotency, without_key, defaults, own, numbers }
    }

    /// These rules, then those of another table, then those of this one's base. Settings that those have not are this one's.
    pub(crate) fn over(&self, other: &Self) -> Self {
        let rules = self.without_key.as_ref().unwrap_or(&self.idempotency);
        let is_own = |rule: &&IdempotencyRule| self.section(rule.name()).is_some();
        let first = rules.rules().iter().take_while(is_own).count();
        let (first, base) = rules.rules().split_at_checked(first).unwrap_or_default();
        let is_left = |rule: &&IdempotencyRule| other.section(rule.name()).is_some() && !is_own(rule);
        let others = other.idempotency.rules().iter().filter(is_left);
        let all = first.iter().chain(others).chain(base).cloned();
        let sections = other.own.iter().filter(|section| self.section(&section.name).is_none());
        let own = self.own.iter().chain(sections).cloned().collect();
        let rules = rules.clone().with_all_rules(all);
        Self::new(rules, self.without_key.is_some(), self.defaults.clone(), own)
    }

    /// Which requests are safe to retry.
    pub fn idempotency(&self) -> &IdempotencyTable {
        &self.idempotency
    }

    /// The settings of requests that match the rule of that name, or (`None`) no rule. `None`: the table says nothing
    /// about their retries.
    #[must_use]
    pub fn policy_of(&self, rule: Option<&str>) -> Option<HttpPolicy<'_>> {
        let own = rule.and_then(|rule| self.section(rule)).and_then(HttpSection::policy);
        own.or_else(|| self.defaults.policy())
    }

    /// Every rule in the order in which they are asked, those of the base included.
    pub fn rules(&self) -> impl Iterator<Item = HttpRule<'_>> {
        self.idempotency.rules().iter().map(|rule| HttpRule {
            rule,
            table: self,
            section: self.section(rule.name()),
        })
    }

    fn section(&self, rule: &str) -> Option<&HttpSection> {
        self.numbers.get(rule).and_then(|number| self.own.get(*number))
    }
}

/// The part of several files that is about HTTP requests: that of the last table, and behind it those of all OpenAPI documents, the
/// last one first.
pub(super) fn merged<'a>(
    files: impl Iterator<Item = (Option<TableFormat>, &'a HttpTable)>,
) -> Option<HttpTable> {
    let is_document = |(format, _): &(Option<TableFormat>, _)| *format == Some(TableFormat::OpenApi);
    let (mut documents, mut tables): (Vec<_>, Vec<_>) = files.partition(is_document);
    documents.reverse();
    let all = tables.pop().into_iter().chain(documents).map(|(_, http)| http);
    all.fold(None, |merged: Option<HttpTable>, http| {
        Some(merged.map_or_else(|| http.clone(), |merged| merged.over(http)))
    })
}

impl HttpSection {
    pub(crate) fn policy(&self) -> Option<HttpPolicy<'_>> {
        self.policy.as_deref().map(|entry| HttpPolicy { entry })
    }
}

/// A rule of an [`HttpTable`].
#[derive(Debug, Clone, Copy)]
pub struct HttpRule<'a> {
    rule: &'a IdempotencyRule,
    table: &'a HttpTable,
    section: Option<&'a HttpSection>,
}

impl<'a> HttpRule<'a> {
    gax_text::getters! { self:
        /// Which requests it is for, and whether they are safe to retry.
        pub rule: &'a IdempotencyRule = self.rule;

        /// Where it stands; `None` for a rule of the base.
        pub origin: Option<&'a SourceLocation> = self.section.map(|section| &section.origin);
    }

    /// The settings of its requests; `None`: the table says nothing about their retries.
    #[must_use]
    pub fn policy(&self) -> Option<HttpPolicy<'a>> {
        self.section.and_then(HttpSection::policy).or_else(|| self.table.defaults.policy())
    }

    /// Returns whether it has its own settings in addition to those of `[http]`.
    #[must_use]
    pub fn has_own_policy(&self) -> bool {
        let (own, all) =
            (self.section.and_then(|own| own.policy.as_ref()), self.table.defaults.policy.as_ref());
        own.is_some_and(|own| all.is_none_or(|all| !Arc::ptr_eq(own, all)))
    }
}

/// The settings of HTTP requests in an [`HttpTable`].
#[derive(Debug, Clone, Copy)]
pub struct HttpPolicy<'a> {
    entry: &'a HttpEntry,
}

impl<'a> HttpPolicy<'a> {
    gax_text::getters! { self:
        /// The limits, the back-off and their places, in the terms of RPCs. Its codes are those of the statuses and failures.
        pub policy: MethodPolicy<'a> = self.entry.entry.policy();

        /// The limits and back-off.
        pub settings: &'a RetrySettings = self.policy().settings();

        /// The statuses that are retried. Unless the table says otherwise these are [the six](StatusSet::SIX) that most client
        /// libraries retry.
        pub statuses: StatusSet = self.entry.fields.statuses;

        /// The failures below HTTP that are retried. Unless the table says otherwise these are
        /// [all](TransportFailures::ALL) that another attempt may cure.
        pub transport_failures: TransportFailures = self.entry.fields.failures;

        /// Returns whether `Retry-After` is applied; `None`: that of the compatibility.
        pub applies_retry_after: Option<bool> = self.entry.fields.retry_after;

        /// The hedging of requests that may run twice at the same time: `GET`, `HEAD`, `OPTIONS` and those of rules that
        /// allow it.
        pub hedging: Option<Hedging> = self.entry.entry.policy().hedging().map(HedgingPolicy::of_idempotent);

        /// Where the statuses stand; `None` if they are the default.
        pub origin_of_statuses: Option<&'a SourceLocation> = self.entry.fields.statuses_origin.as_ref();
    }
}
