//! What a form can't express.

use crate::table::service_config::{MethodConfig, Name};
use crate::table::{Finding, Severity};

/// Collects what is lost on the way to a format.
#[derive(Debug)]
pub(super) struct Losses {
    format: &'static str,
    findings: Vec<Finding>,
}

impl Losses {
    pub(super) fn new(format: &'static str) -> Self {
        Self { format, findings: Vec::new() }
    }

    /// Notes that a part of an entry is lost.
    pub(super) fn lose(&mut self, method: &MethodConfig, part: &str, help: &str) {
        self.lose_of(&whom(method), part, help);
    }

    /// Notes that a part of what is said about somebody is lost.
    pub(super) fn lose_of(&mut self, whom: &str, part: &str, help: &str) {
        let message = format!("{part} of {whom} can't be said in {}", self.format);
        self.findings.push(Finding::new("not-expressible", Severity::Warning, message).with_help(help));
    }

    /// Notes that something comes close, but is not the same.
    pub(super) fn approximate(&mut self, whom: &str, message: &str, help: &str) {
        let message = format!("{message} for {whom} in {}", self.format);
        self.findings.push(Finding::new("approximated", Severity::Note, message).with_help(help));
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// A name in the form that people know.
pub(super) fn shown(service: &str, method: &str) -> String {
    match (service, method) {
        ("", "") => "everything".to_owned(),
        (service, "") => service.to_owned(),
        (service, method) => format!("{service}/{method}"),
    }
}

/// Whom an entry is for, by its first name.
fn whom(method: &MethodConfig) -> String {
    let first = method.names.first().map(|Name { service, method, .. }| shown(service, method));
    match (first, method.names.len()) {
        (None, _) => "an entry without names".to_owned(),
        (Some(first), 1) => first,
        (Some(first), count) => format!("{first} and {} more", count - 1),
    }
}
