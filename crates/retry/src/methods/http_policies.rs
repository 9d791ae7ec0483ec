//! The settings of HTTP requests, as plain data.

use super::MethodSettings;
use crate::http::{IdempotencyTable, StatusSet, TransportFailures};

/// The settings of HTTP requests: of those that a rule of its own matches, and of all others.
///
/// # Examples
///
/// ```
/// use gax_retry::{CodeSet, HttpPolicies, HttpSettings, MethodPolicies, MethodSettings, RetrySettings};
/// use std::time::Duration;
///
/// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
/// let http = HttpPolicies::new().all(HttpSettings::new(MethodSettings::new(settings, CodeSet::EMPTY)));
/// let policies = MethodPolicies::new().http(http);
/// # drop(policies);
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct HttpPolicies {
    all: Option<HttpSettings>,
    rules: Vec<(Box<str>, HttpSettings)>,
    idempotency: Option<IdempotencyTable>,
}

/// The settings of HTTP requests that belong together.
#[derive(Debug, Clone)]
#[must_use]
pub struct HttpSettings {
    settings: MethodSettings,
    statuses: StatusSet,
    failures: TransportFailures,
    retry_after: Option<bool>,
}

impl HttpPolicies {
    /// No settings.
    pub fn new() -> Self {
        Self::default()
    }

    gax_text::setters! { self:
        /// Sets the settings of requests that match no rule with its own. Default: `None`, those of the service.
        pub all(settings: impl Into<Option<HttpSettings>>) => self.all = settings.into();

        /// Sets the rules that say which requests are safe to retry. Default: `None`, those of HTTP's own methods.
        pub idempotency(table: impl Into<Option<IdempotencyTable>>) => self.idempotency = table.into();
    }

    /// Sets the settings of requests that match the [idempotency](Self::idempotency) rule of that name.
    pub fn rule(mut self, name: &str, settings: HttpSettings) -> Self {
        self.rules.push((name.into(), settings));
        self
    }

    gax_text::getters! { self:
        /// Returns the settings of requests that match no rule with its own.
        pub of_all: Option<&HttpSettings> = self.all.as_ref();

        /// Returns the rules that say which requests are safe to retry.
        pub own_idempotency: Option<&IdempotencyTable> = self.idempotency.as_ref();
    }

    /// Returns the rules that have settings of their own.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &HttpSettings)> {
        self.rules.iter().map(|(name, settings)| (&**name, settings))
    }
}

impl HttpSettings {
    /// Settings in the terms of RPCs, by which [the six](StatusSet::SIX) statuses and [all](TransportFailures::ALL) failures below
    /// HTTP that another attempt may cure are retried.
    pub fn new(settings: MethodSettings) -> Self {
        Self { settings, statuses: StatusSet::SIX, failures: TransportFailures::ALL, retry_after: None }
    }

    gax_text::setters! { self:
        /// Sets the statuses that are retried.
        pub statuses(statuses: StatusSet) => self.statuses = statuses;

        /// Sets the failures below HTTP that are retried.
        pub transport_failures(failures: TransportFailures) => self.failures = failures;

        /// Sets whether `Retry-After` is applied. Default: `None`, as the compatibility says.
        pub retry_after(is_applied: impl Into<Option<bool>>) => self.retry_after = is_applied.into();
    }

    gax_text::getters! { self:
        /// Returns the settings in the terms of RPCs.
        pub method_settings: &MethodSettings = &self.settings;

        /// Returns the statuses that are retried.
        pub own_statuses: StatusSet = self.statuses;

        /// Returns the failures below HTTP that are retried.
        pub own_failures: TransportFailures = self.failures;

        /// Returns whether `Retry-After` is applied.
        pub applies_retry_after: Option<bool> = self.retry_after;
    }
}
