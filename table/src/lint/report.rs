//! Findings as they come up.

use super::rule::Rule;
use crate::{Finding, SourceLocation};

/// What the rules have found.
#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
}

impl Report {
    /// Adds a finding: what is the matter, and what to do.
    pub(super) fn add(
        &mut self,
        rule: &Rule,
        origin: Option<&SourceLocation>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let finding = Finding::new(rule.id(), rule.severity(), message);
        self.findings.push(finding.with_help(help).at(origin.cloned()));
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}
