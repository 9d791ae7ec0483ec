//! The settings of a table, as the plain data that layers and clients are made with.

use crate::{HedgingPolicy, MethodPolicy, RetryTable, TableName};
use gax_retry::{MethodPolicies, MethodSettings};

/// A segment that no service and no method is called: what a table says of it, it says of all that it doesn't name.
const UNNAMED: &str = "/";

impl From<RetryTable> for MethodPolicies {
    fn from(table: RetryTable) -> Self {
        Self::from(&table)
    }
}

/// The settings by which the table is read in its dialect.
impl From<&RetryTable> for MethodPolicies {
    fn from(table: &RetryTable) -> Self {
        let mut policies =
            Self::new().compatibility(table.dialect().default_compatibility()).throttling(table.throttling());
        for (index, entry) in (0..table.entry_count()).filter_map(|index| Some((index, table.entry(index)?)))
        {
            // Of several entries with a name one applies, and the table knows which.
            let applies = |name: &TableName<'_>| {
                is_name(name.service(), name.method()) && entry_of(table, name) == Some(index)
            };
            let names: Vec<String> = table
                .names_of(index)
                .filter(applies)
                .map(|name| path(name.service(), name.method()))
                .collect();
            policies = policies.entry(names.iter().map(|name| &**name), entry.method_settings());
        }
        let names = table.names().map(|name| (name.service(), name.method()));
        let beside = table.named_beside().into_iter();
        let beside =
            beside.map(|(service, method)| (service, Some(method).filter(|method| !method.is_empty())));
        for (service, method) in names.chain(beside).filter(|(service, method)| is_name(service, *method)) {
            // The word for a service is that for those of its methods that the table doesn't name.
            let of_service = if service.is_empty() { UNNAMED } else { service };
            let word = table.idempotent(of_service, method.unwrap_or(UNNAMED));
            policies = policies.idempotent(&path(service, method), word);
        }
        #[cfg(feature = "http")]
        let policies = policies.http(http(table));
        policies
    }
}

/// The entry from which the methods of a name have their settings.
fn entry_of(table: &RetryTable, name: &TableName<'_>) -> Option<usize> {
    let service = if name.service().is_empty() { UNNAMED } else { name.service() };
    table.lookup(service, name.method().unwrap_or(UNNAMED))?.entry()
}

/// A method without a service is none.
fn is_name(service: &str, method: Option<&str>) -> bool {
    !service.is_empty() || method.is_none()
}

fn path(service: &str, method: Option<&str>) -> String {
    method.map_or_else(|| service.to_owned(), |method| format!("{service}/{method}"))
}

impl MethodPolicy<'_> {
    /// These settings as plain data.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::RetryTable;
    /// use std::time::Duration;
    ///
    /// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "5s"}]}"#)?;
    /// let settings = table.lookup("a.B", "C").ok_or("no entry")?.method_settings();
    /// assert_eq!(settings.retry_settings().total_timeout(), Some(Duration::from_secs(5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn method_settings(&self) -> MethodSettings {
        MethodSettings::new(self.settings().clone(), self.codes())
            .hedging(self.hedging().map(HedgingPolicy::to_hedging))
            .wait_for_ready(self.wait_for_ready())
            .stream_timeouts(self.wait_timeout(), self.idle_timeout())
    }
}

/// The part of the table that is about HTTP requests; `None`: there is none.
#[cfg(feature = "http")]
fn http(table: &RetryTable) -> Option<gax_retry::HttpPolicies> {
    use gax_retry::{HttpPolicies, HttpSettings};

    let http = table.http()?;
    let settings = |policy: crate::HttpPolicy<'_>| {
        HttpSettings::new(policy.policy().method_settings().hedging(policy.hedging()))
            .statuses(policy.statuses())
            .transport_failures(policy.transport_failures())
            .retry_after(policy.applies_retry_after())
    };
    let policies =
        HttpPolicies::new().all(http.policy_of(None).map(settings)).idempotency(table.idempotency().cloned());
    let own = http.rules().filter(crate::HttpRule::has_own_policy);
    let own = own.filter_map(|rule| Some((rule.rule().name(), rule.policy()?)));
    Some(own.fold(policies, |policies, (name, policy)| policies.rule(name, settings(policy))))
}
