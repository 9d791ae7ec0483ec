//! Names in a table that no service has, and entries that those services lack.

use super::service::{MethodDescription, ServiceDescription};
use crate::model::UnusableEntry;
use crate::{Finding, RetryTable, Severity, TableError, TableName};
use gax_retry::__private::closest;
use std::collections::HashSet;

impl RetryTable {
    /// Names that none of these services has: `unknown-service` and `unknown-method`, each with its place
    /// and, where one is close, a suggestion.
    ///
    /// A name of a service that is mixed in counts as known.
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
        self.names().filter_map(|name| unknown_name(&name, services)).collect()
    }

    /// What is wrong with entries of methods that these services have.
    ///
    /// A method of GAPIC YAML may lack the names of its codes and settings, or have names that the file does not
    /// define. Its entry is skipped, with a finding (`skipped-entry`). That is no harm for a method that is
    /// disabled, is not there any more, or has an entry in another table; for any other it is an error.
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
        let is_there =
            |entry: &UnusableEntry| methods.contains(&(entry.service.as_str(), entry.method.as_str()));
        let has_entry = |entry: &UnusableEntry| {
            self.lookup(&entry.service, &entry.method).is_some_and(|policy| policy.entry().is_some())
        };
        let entries = self.files().iter().flat_map(|file| &file.unusable);
        let harmful = entries.filter(|entry| !entry.is_disabled && is_there(entry) && !has_entry(entry));
        harmful.map(|entry| entry.error.clone()).collect()
    }
}

fn unknown_name(name: &TableName<'_>, services: &[ServiceDescription]) -> Option<Finding> {
    let wanted = name.service();
    if wanted.is_empty() || services.iter().any(|service| mixes_in(service, name)) {
        return None;
    }
    let mut place = name.origin();
    let finding = match (services.iter().find(|service| service.name() == wanted), name.method()) {
        (Some(_), None) => return None,
        (Some(service), Some(method)) => {
            let known = || service.methods().iter().map(MethodDescription::name);
            if known().any(|known| known == method) {
                return None;
            }
            let message = format!("the service {wanted} has no method {method:?}");
            with_suggestion(Finding::new("unknown-method", Severity::Warning, message), method, known())
        }
        (None, _) => {
            place = name.service_origin();
            let known = services.iter().map(ServiceDescription::name);
            let message = format!("there is no service {wanted:?}");
            with_suggestion(Finding::new("unknown-service", Severity::Warning, message), wanted, known)
        }
    };
    Some(finding.about(name.to_string()).at(place.cloned()))
}

/// Whether a service has methods mixed in from the service of that name, and the method among them.
fn mixes_in(service: &ServiceDescription, name: &TableName<'_>) -> bool {
    service.methods().iter().any(|method| {
        method.own_service() == Some(name.service())
            && name.method().is_none_or(|wanted| wanted == method.name())
    })
}

fn with_suggestion<'a>(finding: Finding, name: &str, candidates: impl Iterator<Item = &'a str>) -> Finding {
    match closest(name, candidates) {
        Some(candidate) => finding.with_help(format!("did you mean {candidate:?}?")),
        None => finding.with_help("remove the name, or correct it: it has no effect"),
    }
}
