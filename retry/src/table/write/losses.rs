//! What a form can't express.

use crate::table::service_config::MethodConfig;
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
        let message = format!("{} of {} can't be said in {}", part, whom(method), self.format);
        self.findings.push(Finding::new("not-expressible", Severity::Warning, message).with_help(help));
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// Whom an entry is for, by its first name.
fn whom(method: &MethodConfig) -> String {
    let first = method.names.first().map(|name| match (name.service.as_str(), name.method.as_str()) {
        ("", "") => "everything".to_owned(),
        (service, "") => service.to_owned(),
        (service, method) => format!("{service}/{method}"),
    });
    match (first, method.names.len()) {
        (None, _) => "an entry without names".to_owned(),
        (Some(first), 1) => first,
        (Some(first), count) => format!("{first} and {} more", count - 1),
    }
}
