//! What a form can't express.

use super::gather::gather;
use crate::model::shown_name;
use crate::model::written::{MethodConfig, Name};
use crate::{Dialect, Finding, RetryTable, Severity, SourceLocation};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Collects what is lost on the way to a format.
#[derive(Debug)]
pub(super) struct Losses<'a> {
    format: &'static str,
    table: &'a RetryTable,
    /// The last place of each name.
    places: HashMap<(&'a str, &'a str), Option<&'a SourceLocation>>,
    findings: Vec<Finding>,
}

/// Of whom something is said, and where.
#[derive(Debug)]
pub(super) struct Whom {
    shown: String,
    origin: Option<SourceLocation>,
}

impl Whom {
    /// Nobody in particular.
    pub(super) fn every_call() -> Self {
        Self { shown: "every call".to_owned(), origin: None }
    }

    /// The file as a whole.
    fn file() -> Self {
        Self { shown: "the file".to_owned(), origin: None }
    }
}

impl<'a> Losses<'a> {
    pub(super) fn new(format: &'static str, table: &'a RetryTable) -> Self {
        let names = table.names();
        let places =
            names.map(|name| ((name.service(), name.method().unwrap_or("")), name.origin())).collect();
        Self { format, table, places, findings: Vec::new() }
    }

    /// A method, all methods of a service, or everything: the place is that of the last entry which names
    /// it, else of the entry that counts for it.
    pub(super) fn whom(&self, service: &str, method: &str) -> Whom {
        let own = self.places.get(&(service, method)).copied().flatten();
        let origin = own.or_else(|| self.table.lookup(service, method)?.origin());
        Whom { shown: shown(service, method), origin: origin.cloned() }
    }

    /// All that an entry names.
    fn entry(&self, method: &MethodConfig) -> Whom {
        let Some(Name { service, method: name, .. }) = method.names.first() else {
            return Whom { shown: "an entry without names".to_owned(), origin: None };
        };
        let mut whom = self.whom(service, name);
        if method.names.len() > 1 {
            let _infallible = write!(whom.shown, " and {} more", method.names.len() - 1);
        }
        whom
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.table.dialect()
    }

    /// Notes that a part of an entry is lost.
    pub(super) fn lose(&mut self, method: &MethodConfig, part: &str, help: &str) {
        self.lose_of(&self.entry(method), part, help);
    }

    /// Notes that an entry comes close, but is not the same.
    pub(super) fn approximate_entry(&mut self, method: &MethodConfig, message: &str, help: &str) {
        self.approximate(&self.entry(method), message, help);
    }

    /// Notes that a part of what is said about somebody is lost.
    pub(super) fn lose_of(&mut self, whom: &Whom, part: &str, help: &str) {
        let message = format!("{part} of {} can't be said in {}", whom.shown, self.format);
        let finding = Finding::new("not-expressible", Severity::Warning, message);
        self.findings.push(finding.with_help(help).at(whom.origin.clone()));
    }

    /// Notes that something comes close, but is not the same.
    pub(super) fn approximate(&mut self, whom: &Whom, message: &str, help: &str) {
        let message = format!("{message} for {} in {}", whom.shown, self.format);
        let finding = Finding::new("approximated", Severity::Note, message);
        self.findings.push(finding.with_help(help).at(whom.origin.clone()));
    }

    /// Notes that the limit on retries to one server is lost, where there is one.
    pub(super) fn lose_throttling(&mut self, help: &str) {
        if self.table.throttling().is_some() {
            self.lose_of(&Whom::every_call(), "retry throttling", help);
        }
    }

    /// Notes that the findings that the table allows are lost.
    pub(super) fn lose_suppressions(&mut self) {
        if self.table.suppressions().next().is_some() {
            self.lose_of(&Whom::file(), "allow", "only TOML has a place for it");
        }
    }

    /// Notes that polling and batching are lost, but for the polling of methods for which it is written.
    pub(super) fn lose_extras(&mut self, writes_polling: impl Fn(&Name) -> bool) {
        let config = gather(self.table);
        for method in config.methods.iter().chain(&config.beside) {
            if method.own.polling.is_some() && !method.names.iter().all(&writes_polling) {
                self.lose(method, "polling", "keep it in GAPIC YAML, or in TOML");
            }
            if method.own.batching.is_some() {
                self.lose(method, "batching", "keep it in GAPIC YAML, or in TOML");
            }
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// A name in the form that people know.
fn shown(service: &str, method: &str) -> String {
    if service.is_empty() && method.is_empty() {
        "everything".to_owned()
    } else {
        shown_name(service, method)
    }
}
