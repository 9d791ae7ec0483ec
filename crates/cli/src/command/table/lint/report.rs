//! All that is printed.

use super::place::Files;
use gax_table::{Finding, Severity};

/// Findings, and what was left out.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) findings: &'a [Finding],
    pub(super) files: Files<'a>,
    /// How many findings a `gax.toml` ignores.
    pub(super) ignored: usize,
    /// How many findings the baseline knows.
    pub(super) known: usize,
    /// How many findings of the baseline did not come.
    pub(super) gone: usize,
    /// `true` if only errors are printed.
    pub(super) is_quiet: bool,
}

impl<'a> Report<'a> {
    /// The findings that are printed.
    pub(super) fn printed(&self) -> impl Iterator<Item = &'a Finding> + Clone {
        let is_quiet = self.is_quiet;
        self.findings.iter().filter(move |finding| !is_quiet || finding.severity() == Severity::Error)
    }

    /// How many findings there are of each severity: errors, warnings, notes.
    pub(super) fn counts(&self) -> [usize; 3] {
        [Severity::Error, Severity::Warning, Severity::Note]
            .map(|severity| self.findings.iter().filter(|finding| finding.severity() == severity).count())
    }
}
