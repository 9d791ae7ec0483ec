//! Counts of what passed and what did not.

use super::compare::Difference;
use super::fault::Fault;
use gax_text::Escaped;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The results of all cases run so far.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    categories: BTreeMap<(String, String), CategoryCounts>,
    failures: Vec<CaseFailure>,
}

impl Summary {
    /// The counts by kind and category, such as `("unary", "sub_ms")`, in the order of their names.
    pub(crate) fn categories(&self) -> impl Iterator<Item = ((&str, &str), CategoryCounts)> {
        self.categories.iter().map(|((kind, category), counts)| ((kind.as_str(), category.as_str()), *counts))
    }

    /// The counts of all categories together.
    pub(crate) fn total(&self) -> CategoryCounts {
        self.categories.values().fold(CategoryCounts::default(), |sum, counts| CategoryCounts {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
            unreadable: sum.unreadable + counts.unreadable,
            compared: sum.compared + counts.compared,
            traced: sum.traced + counts.traced,
        })
    }

    /// Returns whether there were cases and all of them passed.
    pub(crate) fn is_success(&self) -> bool {
        let total = self.total();
        total.failed == 0 && total.passed > 0
    }

    /// Every difference and every case that could not be run, in the order of the lines. A case can
    /// have two.
    pub(crate) fn failures(&self) -> &[CaseFailure] {
        &self.failures
    }

    pub(super) fn category(&mut self, kind: &str, category: &str) -> &mut CategoryCounts {
        self.categories.entry((kind.to_owned(), category.to_owned())).or_default()
    }

    pub(super) fn add(&mut self, failure: CaseFailure) {
        self.failures.push(failure);
    }
}

/// How many cases of one category passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CategoryCounts {
    /// Cases whose result is the recorded one.
    pub(crate) passed: usize,
    /// Cases with another result than the recorded one, or that could not be run.
    pub(crate) failed: usize,
    /// Those of the failed cases that could not be run: an unknown kind, a field that is unknown,
    /// missing or of the wrong type.
    pub(crate) unreadable: usize,
    /// Recorded outcomes that were compared. A unary case has up to two.
    pub(crate) compared: usize,
    /// Those of them whose record of tracer calls was compared with what observers get.
    pub(crate) traced: usize,
}

impl CategoryCounts {
    pub(super) fn count(&mut self, passed: bool, compared: usize, traced: usize) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        self.compared += compared;
        self.traced += traced;
    }

    pub(super) fn count_unreadable(&mut self) {
        self.failed += 1;
        self.unreadable += 1;
    }
}

/// One case that did not pass, and the first thing that differs.
///
/// Its text names the case, the place in the record, what is recorded there and what came out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CaseFailure {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) category: String,
    pub(super) file: Option<String>,
    /// The line it is on; the first is 1.
    pub(crate) line: usize,
    pub(super) problem: Problem,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Different(Difference),
    Unreadable(Fault),
}

impl CaseFailure {
    /// The difference; `None`: the case could not be run.
    pub(crate) fn difference(&self) -> Option<&Difference> {
        match &self.problem {
            Problem::Different(difference) => Some(difference),
            Problem::Unreadable(_) => None,
        }
    }
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{} ({}:{}): ", Escaped(&self.id), Escaped(file), self.line)?,
            None => write!(f, "{} (line {}): ", Escaped(&self.id), self.line)?,
        }
        match &self.problem {
            Problem::Different(Difference { place, expected, got }) => {
                let expected = Escaped(expected);
                write!(f, "{place} is {expected} in the record, but {got} here")
            }
            Problem::Unreadable(Fault(reason)) => write!(f, "{}", Escaped(reason)),
        }
    }
}
