//! Names in a table that no service has, and entries that those services lack.

use super::known_services::KnownServices;
use super::service::ServiceDescription;
use crate::model::UnusableEntry;
use crate::{Finding, RetryTable, Severity, TableError, TableName};
use std::collections::{HashMap, HashSet};

impl RetryTable {
    /// Names that none of these services has: `unknown-service` and `unknown-method`, each with its place and, if one
    /// is close, a suggestion.
    ///
    /// A name of a service that is mixed in is treated as known. Entries that only have polling, batching or `idempotent` are
    /// checked too.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::MethodKind;
    /// use gax_table::{MethodDescription, RetryTable, ServiceDescription};
    ///
    /// let text = r#"{"methodConfig": [{"name": [{"service": "a.B", "method": "ListThing"}], "timeout": "5s"}]}"#;
    /// let list = MethodDescription::new("ListThings", MethodKind::Paged);
    /// let findings = RetryTable::parse(text)?.unknown_names(&[ServiceDescription::new("a.B").with_method(list)]);
    /// assert_eq!(
    ///     findings[0].to_string(),
    ///     r#"line 1, column 58: warning[unknown-method]: the service a.B has no method "ListThing"; did you mean "ListThings"?"#
    /// );
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn unknown_names(&self, services: &[ServiceDescription]) -> Vec<Finding> {
        let mut known = KnownNames::new(services);
        let all = || self.names().chain(self.names_beside());
        known.named = all().filter_map(|name| Some((name.service(), name.method()?))).collect();
        all().filter_map(|name| known.finding(&name)).collect()
    }

    /// The problems of entries of methods that these services have.
    ///
    /// A method of GAPIC YAML may lack the names of its codes and settings, or have names that the file does not
    /// define. Its entry is skipped, with a finding (`skipped-entry`). This is harmless for a method that is
    /// disabled, no longer exists, or has an entry in another table; for any other method it is an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "yaml")] {
    /// use gax_retry::MethodKind;
    /// use gax_table::{MethodDescription, RetryTable, ServiceDescription};
    ///
    /// let table = RetryTable::parse("
    /// config_schema_version: 1.0.0
    /// interfaces:
    /// - name: a.B
    ///   methods:
    ///   - name: Get
    /// ")?;
    /// let get = MethodDescription::new("Get", MethodKind::Unary);
    /// let errors = table.unusable_entries(&[ServiceDescription::new("a.B").with_method(get)]);
    /// assert_eq!(
    ///     errors[0].to_string(),
    ///     "line 6, column 5: the method Get has no retry_codes_name; add retry_codes_name"
    /// );
    /// # }
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn unusable_entries(&self, services: &[ServiceDescription]) -> Vec<TableError> {
        let methods = services
            .iter()
            .flat_map(|service| service.methods().iter().map(move |method| (service.name(), method.name())));
        let methods: HashSet<(&str, &str)> = methods.collect();
        let is_there = |entry: &UnusableEntry| methods.contains(&(&*entry.service, &*entry.method));
        let has_entry = |entry: &UnusableEntry| {
            self.lookup(&entry.service, &entry.method).is_some_and(|policy| policy.entry().is_some())
        };
        let entries = self.files().iter().flat_map(|file| &file.unusable);
        let harmful = entries.filter(|entry| !entry.is_disabled && is_there(entry) && !has_entry(entry));
        harmful.map(|entry| entry.error.clone()).collect()
    }
}

/// Services and methods, found by their names.
struct KnownNames<'a> {
    known: KnownServices<'a>,
    /// Per service that is mixed into others the methods that are.
    mixed_in: HashMap<&'a str, HashSet<&'a str>>,
    /// The methods that the table names.
    named: HashSet<(&'a str, &'a str)>,
}

impl<'a> KnownNames<'a> {
    fn new(services: &'a [ServiceDescription]) -> Self {
        let mut mixed_in: HashMap<&str, HashSet<&str>> = HashMap::new();
        for method in services.iter().flat_map(ServiceDescription::methods) {
            if let Some(own) = method.own_service() {
                mixed_in.entry(own).or_default().insert(method.name());
            }
        }
        Self { known: KnownServices::new(services), mixed_in, named: HashSet::new() }
    }

    fn finding(&self, name: &TableName<'_>) -> Option<Finding> {
        let (wanted, method) = (name.service(), name.method());
        let is_mixed_in = self
            .mixed_in
            .get(wanted)
            .is_some_and(|methods| method.is_none_or(|method| methods.contains(method)));
        if wanted.is_empty() || is_mixed_in {
            return None;
        }
        let mut place = name.origin();
        let (finding, close) = if let Some(methods) = self.known.methods(wanted) {
            let method = method.filter(|method| !methods.contains(method))?;
            let message = format!("the service {wanted} has no method {method:?}");
            let finding = Finding::new("unknown-method", Severity::Warning, message);
            // A method that the table names as well is not the one that was meant.
            let can_be = |other: &str| !self.named.contains(&(wanted, other));
            (finding, self.known.suggest_method(methods, method, can_be))
        } else {
            place = name.service_origin();
            let message = format!("there is no service {wanted:?}");
            let finding = Finding::new("unknown-service", Severity::Warning, message);
            (finding, self.known.suggest(wanted))
        };
        let finding = match close {
            Some(close) => finding.with_suggestion(close),
            None => finding.with_help("remove the name, or correct it: it has no effect"),
        };
        Some(finding.about(name.to_string()).at(place.cloned()))
    }
}
