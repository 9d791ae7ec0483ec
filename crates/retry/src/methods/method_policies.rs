//! The settings of methods by name.

#[cfg(feature = "http")]
use super::HttpPolicies;
use super::MethodSettings;
use crate::{CodeSet, Compatibility, MethodKind, RetryBudget, RetrySettings};
use std::collections::HashMap;
use std::sync::Arc;

/// The settings of methods by name, and what all of them have in common: the plain data that layers and interceptors are made
/// with, wherever it comes from.
///
/// A method has the settings that stand under its own name, or else under that of its service, or else those for
/// [all](Self::all). They are never mixed. Calls of a method without settings pass through unchanged.
///
/// Settings and an array of codes convert into it, and so does a `RetryTable` of `gax-table`. A clone shares the data.
///
/// # Examples
///
/// ```
/// use gax_retry::{Code, MethodPolicies, MethodSettings, RetrySettings};
/// use std::time::Duration;
///
/// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
/// let books = MethodSettings::new(settings.clone(), [Code::Unavailable]);
/// let loans = MethodSettings::new(settings, [Code::Unavailable, Code::Aborted]);
/// let policies = MethodPolicies::new()
///     .service("library.v1.Library", books)
///     .method("/library.v1.Library/Borrow", loans.clone());
/// assert_eq!(policies.find("library.v1.Library/Borrow"), Some(&loans));
/// assert_eq!(policies.find("archive.v1.Archive/Borrow"), None);
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct MethodPolicies(Arc<Data>);

#[derive(Debug, Clone, Default)]
struct Data {
    entries: Vec<Entry>,
    /// The entries by name: `package.Service/Method`, `package.Service`, or the empty one for all.
    names: HashMap<Box<str>, usize>,
    /// The idempotency of methods, by the same names. `None` under a name hides what a wider one says.
    idempotent: HashMap<Box<str>, Option<bool>>,
    facts: Arc<HashMap<Box<str>, MethodFacts>>,
    compatibility: Compatibility,
    throttling: Option<RetryThrottling>,
    #[cfg(feature = "http")]
    http: Option<Arc<HttpPolicies>>,
}

#[derive(Debug, Clone)]
struct Entry {
    names: Vec<Box<str>>,
    settings: MethodSettings,
}

impl MethodPolicies {
    /// No settings: every call passes through.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the settings of all methods that have none under their own or their service's name.
    pub fn all(self, settings: MethodSettings) -> Self {
        self.entry([""], settings)
    }

    /// Sets the settings of a service's methods, by its full name.
    pub fn service(self, name: &str, settings: MethodSettings) -> Self {
        self.entry([name], settings)
    }

    /// Sets the settings of one method, by its path: `/package.Service/Method`, with or without the first slash.
    pub fn method(self, path: &str, settings: MethodSettings) -> Self {
        self.entry([path], settings)
    }

    /// Sets the same settings under several names, each that of a method, of a service, or empty for all. Where a name has settings
    /// already, these replace them. The methods of one entry share the latencies that hedging by a percentile counts, except for those
    /// that are named.
    pub fn entry<'a>(mut self, names: impl IntoIterator<Item = &'a str>, settings: MethodSettings) -> Self {
        let data = Arc::make_mut(&mut self.0);
        let names: Vec<Box<str>> = names.into_iter().map(bare).collect();
        data.names.extend(names.iter().map(|name| (name.clone(), data.entries.len())));
        data.entries.push(Entry { names, settings });
        self
    }

    /// Sets whether a method, or each method of a service, is idempotent: whether the service may carry out a call more than once.
    /// This overrides what its [facts](Self::facts) say; `None` leaves it to them. The method needs no settings.
    pub fn idempotent(mut self, name: &str, is_idempotent: impl Into<Option<bool>>) -> Self {
        Arc::make_mut(&mut self.0).idempotent.insert(bare(name), is_idempotent.into());
        self
    }

    /// Adds facts of methods, by their paths.
    pub fn facts<P: AsRef<str>>(mut self, facts: impl IntoIterator<Item = (P, MethodFacts)>) -> Self {
        let known = Arc::make_mut(&mut Arc::make_mut(&mut self.0).facts);
        known.extend(facts.into_iter().map(|(path, facts)| (bare(path.as_ref()), facts)));
        self
    }

    /// Sets by whose rules settings become attempts, unless options name others. Default: [`Compatibility::Documented`].
    pub fn compatibility(mut self, compatibility: Compatibility) -> Self {
        Arc::make_mut(&mut self.0).compatibility = compatibility;
        self
    }

    /// Limits the retries of all methods together. Default: `None`, no limit.
    pub fn throttling(mut self, throttling: impl Into<Option<RetryThrottling>>) -> Self {
        Arc::make_mut(&mut self.0).throttling = throttling.into();
        self
    }

    /// Sets what HTTP requests are retried by, instead of the settings for a service's name. Default: `None`.
    #[cfg(feature = "http")]
    pub fn http(mut self, http: impl Into<Option<HttpPolicies>>) -> Self {
        Arc::make_mut(&mut self.0).http = http.into().map(Arc::new);
        self
    }

    /// Returns the settings of the method at that path, of which the last two segments count: those under its own name, its service's, or
    /// those for all. The name of a service has those of the service, or those for all.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&MethodSettings> {
        self.0.entries.get(self.entry_of(path)?).map(|entry| &entry.settings)
    }

    /// Returns the number of the entry with these settings, from 0.
    #[must_use]
    pub fn entry_of(&self, path: &str) -> Option<usize> {
        by_name(&self.0.names, path).copied()
    }

    /// Returns whether that method is idempotent, as far as it was [said](Self::idempotent): under its own name, its service's, or for
    /// all.
    #[must_use]
    pub fn is_idempotent(&self, path: &str) -> Option<bool> {
        by_name(&self.0.idempotent, path).copied().flatten()
    }

    /// Returns the last two segments of a path, the service and the method: an origin may put segments of its own before them.
    #[must_use]
    pub fn service_and_method(path: &str) -> &str {
        let before = path.rmatch_indices('/').nth(1);
        before.and_then(|(slash, _)| path.get(slash + 1..)).unwrap_or(path)
    }

    /// Returns the facts of that method.
    #[must_use]
    pub fn facts_of(&self, path: &str) -> Option<&MethodFacts> {
        // Most policies have none: hashing the path is what it costs.
        if self.0.facts.is_empty() { None } else { self.0.facts.get(Self::service_and_method(path)) }
    }

    /// Returns the names and the settings of each entry, in the order in which they were set.
    pub fn entries(&self) -> impl Iterator<Item = (&[Box<str>], &MethodSettings)> {
        self.0.entries.iter().map(|entry| (&*entry.names, &entry.settings))
    }

    /// Returns each name that has settings or is said to be idempotent or not, in no order: of methods, of services, or empty.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.0.idempotent.keys().filter(|name| !self.0.names.contains_key(*name));
        self.0.names.keys().chain(others).map(|name| &**name)
    }

    gax_text::getters! { self:
        /// Returns by whose rules settings become attempts.
        pub own_compatibility: Compatibility = self.0.compatibility;

        /// Returns the limit on the retries of all methods together.
        pub own_throttling: Option<RetryThrottling> = self.0.throttling;

        /// Returns what HTTP requests are retried by.
        #[cfg(feature = "http")]
        pub own_http: Option<&HttpPolicies> = self.0.http.as_deref();

        /// Returns the paths of the methods that facts are known of, without the leading slash.
        pub described: impl Iterator<Item = &str> = self.0.facts.keys().map(|path| &**path);
    }
}

fn bare(name: &str) -> Box<str> {
    name.strip_prefix('/').unwrap_or(name).into()
}

/// The value under the most specific name.
fn by_name<'a, T>(names: &'a HashMap<Box<str>, T>, path: &str) -> Option<&'a T> {
    if names.is_empty() {
        return None;
    }
    let path = MethodPolicies::service_and_method(path);
    let service = path.split_once('/').map(|(service, _)| service);
    names.get(path).or_else(|| names.get(service?)).or_else(|| names.get(""))
}

/// For all methods.
impl From<MethodSettings> for MethodPolicies {
    fn from(settings: MethodSettings) -> Self {
        Self::new().all(settings)
    }
}

/// Settings of all methods, and the codes that are retried.
impl<C: Into<i32>, const N: usize> From<(RetrySettings, [C; N])> for MethodPolicies {
    fn from((settings, codes): (RetrySettings, [C; N])) -> Self {
        MethodSettings::new(settings, codes).into()
    }
}

/// Settings of all methods, and the codes that are retried.
impl From<(RetrySettings, CodeSet)> for MethodPolicies {
    fn from((settings, codes): (RetrySettings, CodeSet)) -> Self {
        MethodSettings::new(settings, codes).into()
    }
}

/// The numbers of a limit on the retries to one server, for all methods together: a bucket of tokens that failures empty.
///
/// They are plain data. The [`budget`](Self::budget) that is made of them is what operations share.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct RetryThrottling {
    max_tokens: f64,
    token_ratio: f64,
}

impl RetryThrottling {
    /// A bucket of that many tokens, to which each success returns `token_ratio` of a token. See [`RetryBudget::tokens`] for the
    /// numbers that are allowed.
    pub fn new(max_tokens: impl Into<f64>, token_ratio: f64) -> Self {
        Self { max_tokens: max_tokens.into(), token_ratio }
    }

    /// Makes the budget that operations draw on: a new bucket, which is full.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::RetryThrottling;
    /// use std::time::Duration;
    ///
    /// assert!(RetryThrottling::new(10, 0.1).budget().allows(|| Duration::ZERO));
    /// ```
    pub fn budget(&self) -> RetryBudget {
        RetryBudget::tokens(self.max_tokens, self.token_ratio)
    }

    gax_text::getters! {
        /// Returns how many tokens the bucket holds, and has at first. Retries stop at half of it.
        max_tokens: f64;

        /// Returns the tokens that a success puts back; a failure takes one token.
        token_ratio: f64;
    }
}

/// The facts that are known of a method from its descriptor. They don't change with its settings.
///
/// # Examples
///
/// ```
/// use gax_retry::{MethodFacts, MethodKind};
///
/// let get_book = MethodFacts::new(MethodKind::Unary).read_only(true);
/// assert!(get_book.is_idempotent());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct MethodFacts {
    kind: MethodKind,
    is_idempotent: bool,
    is_read_only: bool,
}

impl MethodFacts {
    /// The facts of a method of that kind, which isn't known to be idempotent.
    pub fn new(kind: MethodKind) -> Self {
        Self { kind, is_idempotent: false, is_read_only: false }
    }

    /// Sets whether the service may carry out a call more than once. Default: false.
    pub fn idempotent(self, is_idempotent: bool) -> Self {
        Self { is_idempotent, ..self }
    }

    /// Sets whether a call changes nothing; then it is idempotent too. Default: false.
    pub fn read_only(self, is_read_only: bool) -> Self {
        Self { is_read_only, is_idempotent: self.is_idempotent || is_read_only, ..self }
    }

    gax_text::getters! {
        /// Returns which sides of a call stream.
        kind: MethodKind;

        /// Returns whether the service may carry out a call more than once.
        is_idempotent: bool;

        /// Returns whether a call changes nothing.
        is_read_only: bool;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn attempts(count: u32) -> MethodSettings {
        let settings = RetrySettings::builder().max_attempts(count).build().unwrap();
        MethodSettings::new(settings, Code::Unavailable)
    }

    fn found(policies: &MethodPolicies, path: &str) -> Option<u32> {
        policies.find(path)?.retry_settings().max_attempts()
    }

    #[test]
    fn the_most_specific_name_has_the_settings() {
        let policies = MethodPolicies::new()
            .all(attempts(1))
            .service("a.B", attempts(2))
            .entry(["a.B/C", "/a.B/D"], attempts(3))
            .method("/a.B/D", attempts(4));
        for (path, expected) in [
            ("a.B/C", 3),
            ("/a.B/D", 4),
            ("a.B/E", 2),
            ("a.C/C", 1),
            ("/v1/a.B/C", 3),
            ("a.B", 2),
            ("a.C", 1),
            ("", 1),
        ] {
            assert_eq!(found(&policies, path), Some(expected), "{path}");
        }
        assert_eq!(found(&MethodPolicies::new().method("a.B/C", attempts(1)), "a.B/D"), None);
        assert_eq!(found(&attempts(5).into(), "a.B/D"), Some(5));
    }

    #[test]
    fn nothing_said_under_a_name_hides_a_wider_word() {
        let policies =
            MethodPolicies::new().idempotent("", true).idempotent("a.B", None).idempotent("a.B/C", false);
        for (path, expected) in [("a.B/C", Some(false)), ("a.B/D", None), ("a.C/C", Some(true))] {
            assert_eq!(policies.is_idempotent(path), expected, "{path}");
        }
    }

    #[test]
    fn a_clone_keeps_what_it_has() {
        let policies = MethodPolicies::new().service("a.B", attempts(2));
        let changed = policies.clone().service("a.B", attempts(3));
        assert_eq!((found(&policies, "a.B/C"), found(&changed, "a.B/C")), (Some(2), Some(3)));
    }
}
