//! Collects findings, up to a number that a person could still read.

use super::finding::{Finding, Severity};
use std::cell::{Cell, RefCell};

/// How many findings of one file are kept; what is beyond is counted.
const MOST: usize = 1000;

/// The findings of one file.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: RefCell<Vec<Finding>>,
    dropped: Cell<usize>,
}

impl Findings {
    #[cfg(feature = "json")]
    pub(crate) fn push(&self, finding: Finding) {
        self.push_some_with(|| Some(finding));
    }

    #[cfg(feature = "json")]
    pub(crate) fn extend(&self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Adds a finding that takes work to make: it is not made if it would not be kept.
    #[cfg(feature = "json")]
    pub(crate) fn push_with(&self, finding: impl FnOnce() -> Finding) {
        self.push_some_with(|| Some(finding()));
    }

    /// Like `push_with`, for one that may turn out to be no finding.
    pub(crate) fn push_some_with(&self, finding: impl FnOnce() -> Option<Finding>) {
        if self.kept.borrow().len() < MOST {
            let finding = finding();
            self.kept.borrow_mut().extend(finding);
        } else {
            self.dropped.set(self.dropped.get() + 1);
        }
    }

    pub(crate) fn take(&self) -> Vec<Finding> {
        let mut findings = self.kept.take();
        if let dropped @ 1.. = self.dropped.take() {
            let message = format!("{dropped} more findings are not listed");
            findings.push(Finding::new("too-many-findings", Severity::Warning, message));
        }
        findings
    }
}

#[cfg(test)]
#[cfg(feature = "json")]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_counted() {
        let findings = Findings::default();
        for _ in 0..MOST + 7 {
            findings.push(Finding::new("some-rule", Severity::Note, "x"));
        }
        let findings = findings.take();
        assert_eq!(findings.len(), MOST + 1);
        assert_eq!(findings[MOST].message(), "7 more findings are not listed");
    }
}
