//! A table that replaces another one, as those see it who know their methods.

use crate::live::warning::SettingsWarning;
use crate::{Finding, MethodDescription, MethodPolicy, RetryTable, ServiceDescription};
use gax_retry::MethodKind;
use gax_text::closest;
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt;

/// How many unknown names are compared with known ones: the work grows with the square.
const MAX_COMPARED: usize = 200;

/// A table that replaces another one.
pub(super) struct Replacement<'a> {
    old: &'a RetryTable,
    new: &'a RetryTable,
    known: Vec<ServiceDescription>,
    unknown: Vec<Finding>,
}

impl<'a> Replacement<'a> {
    /// For those who know these methods.
    pub(super) fn new(old: &'a RetryTable, new: &'a RetryTable, known: Vec<ServiceDescription>) -> Self {
        let unknown = unknown_names(new, &known);
        Self { old, new, known, unknown }
    }

    /// An error if the methods are unknown, and a name replaces one in the old table that it is close to.
    fn check_names(&self) -> Result<(), MisspeltError> {
        let mut services: BTreeMap<&str, ServiceDescription> = BTreeMap::new();
        for name in self.old.names() {
            let service = services.remove(name.service());
            let service = service.unwrap_or_else(|| ServiceDescription::new(name.service()));
            let method = name.method().map(|method| MethodDescription::new(method, MethodKind::Unary));
            let service = method.into_iter().fold(service, ServiceDescription::with_method);
            services.insert(name.service(), service);
        }
        let known: Vec<_> = services.into_values().filter(|service| !service.name().is_empty()).collect();
        let unknown = unknown_names(self.new, &known);
        let old = Self { old: self.old, new: self.new, known, unknown: Vec::new() };
        let named = old.named();
        let close: Vec<_> =
            unknown.into_iter().take(MAX_COMPARED).filter(|name| old.is_close(name, &named)).collect();
        if close.is_empty() {
            return Ok(());
        }
        Err(MisspeltError { is_of_clients: false, lost: None, names: close })
    }

    /// The names of the new table.
    fn named(&self) -> HashSet<(&str, Option<&str>)> {
        self.new.names().map(|name| (name.service(), name.method())).collect()
    }

    /// An error if a name is most likely misspelt: it is close to a known one that the table doesn't have, or a known method
    /// loses its retries. Names that the old table has as well are no reason to refuse a new one.
    pub(super) fn check(&self) -> Result<(), MisspeltError> {
        if self.known.is_empty() {
            return self.check_names();
        }
        let before = unknown_names(self.old, &self.known);
        let before: HashSet<_> = before.iter().filter_map(Finding::name).collect();
        let is_new = |finding: &&Finding| finding.name().is_some_and(|name| !before.contains(name));
        let new: Vec<_> = self.unknown.iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        let named = self.named();
        let close = new.iter().take(MAX_COMPARED).filter(|finding| self.is_close(finding, &named));
        let misspelt: Vec<_> = close.map(|finding| Finding::clone(finding)).collect();
        let lost = self.lost().next().map(|(service, method)| format!("{service}/{method}"));
        match lost {
            None if misspelt.is_empty() => Ok(()),
            Some(_) if misspelt.is_empty() => {
                Err(MisspeltError { is_of_clients: true, lost, names: new.into_iter().cloned().collect() })
            }
            _ => Err(MisspeltError { is_of_clients: true, lost, names: misspelt }),
        }
    }

    /// Returns whether a known name, which is not among those that the table has, is close to an unknown one.
    fn is_close(&self, finding: &Finding, named: &HashSet<(&str, Option<&str>)>) -> bool {
        let Some(name) = finding.name() else { return false };
        let (service, method) = name.split_once('/').unwrap_or((name, ""));
        let mut known = self.known.iter().filter(|known| known.name() == service).peekable();
        if known.peek().is_some() {
            let methods = known.flat_map(ServiceDescription::methods).map(MethodDescription::name);
            closest(method, methods.filter(|method| !named.contains(&(service, Some(method))))).is_some()
        } else {
            let is_named = |service: &str| named.iter().any(|(named, _)| *named == service);
            let candidates =
                self.known.iter().map(ServiceDescription::name).filter(|service| !is_named(service));
            closest(service, candidates).is_some()
        }
    }

    /// The known methods that were retried and are not any longer.
    fn lost(&self) -> impl Iterator<Item = (&str, &str)> {
        let methods = self
            .known
            .iter()
            .flat_map(|service| service.methods().iter().map(|method| (service.name(), method.name())));
        methods.filter(|(service, method)| {
            is_retried(self.old.lookup(service, method)) && !is_retried(self.new.lookup(service, method))
        })
    }

    /// The warnings once the table has taken its place. `all_know`: all who follow the handle know their methods, so
    /// that a service which none of them has is unknown.
    pub(super) fn warnings(self, all_know: bool) -> Vec<SettingsWarning> {
        let mut warnings = Vec::new();
        let retries =
            |table: &RetryTable| (0..table.entry_count()).any(|entry| is_retried(table.entry(entry)));
        if retries(self.old) && !retries(self.new) {
            warnings.push(SettingsWarning::NothingRetried { service: None });
        } else {
            let services: HashSet<_> = self.lost().map(|(service, _)| service).collect();
            let is_left = |service: &ServiceDescription| {
                service
                    .methods()
                    .iter()
                    .any(|method| is_retried(self.new.lookup(service.name(), method.name())))
            };
            let mut ended: Vec<_> = self
                .known
                .iter()
                .filter(|service| services.contains(service.name()) && !is_left(service))
                .map(|service| service.name().to_owned())
                .collect();
            ended.sort_unstable();
            ended.dedup();
            warnings.extend(
                ended.into_iter().map(|service| SettingsWarning::NothingRetried { service: Some(service) }),
            );
        }
        let mut names = self.unknown;
        names.retain(|finding| all_know || finding.rule() == "unknown-method");
        if !names.is_empty() {
            warnings.push(SettingsWarning::UnknownNames { names });
        }
        warnings
    }
}

/// Returns whether another attempt may follow a method's first.
fn is_retried(policy: Option<MethodPolicy<'_>>) -> bool {
    policy.is_some_and(|policy| {
        let settings = policy.settings();
        let is_limited = settings.max_attempts().is_some() || settings.total_timeout().is_some();
        let may_retry = is_limited && settings.max_attempts() != Some(1) && !policy.codes().is_empty();
        may_retry || policy.hedging().is_some()
    })
}

/// A table most likely has a name that is misspelt.
#[derive(Debug)]
pub(super) struct MisspeltError {
    /// `true` if the names are compared with those of clients; otherwise with those of the old table.
    is_of_clients: bool,
    /// A method that would not be retried any longer.
    lost: Option<String>,
    names: Vec<Finding>,
}

impl fmt::Display for MisspeltError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lost {
            Some(lost) => write!(
                f,
                "{lost} would lose its retries, while the table has a new name that no client knows; correct the name, or \
                 remove the retries in a separate table"
            )?,
            None if !self.is_of_clients => f.write_str(
                "the table has a new name that is close to one that the old table has and this one lacks; correct the \
                 name, or list both",
            )?,
            None => f.write_str(
                "the table has a new name that no client knows and that is close to one that a client has; correct the name, \
                 or list both",
            )?,
        }
        self.names.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

impl Error for MisspeltError {}

/// The names of a table that none of these services has; of none if no service is known.
fn unknown_names(table: &RetryTable, services: &[ServiceDescription]) -> Vec<Finding> {
    if services.is_empty() { Vec::new() } else { table.unknown_names(services) }
}
