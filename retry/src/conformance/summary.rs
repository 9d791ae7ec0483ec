//! Counts of what passed and what did not.

use super::compare::Difference;
use super::fields::Fault;
use crate::text::Escaped;
use std::collections::BTreeMap;
use std::fmt;

/// The results of all cases run so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    categories: BTreeMap<(String, String), CategoryCounts>,
    failures: Vec<CaseFailure>,
}

impl Summary {
    /// The counts by kind and category, such as `("unary", "sub_ms")`, in the order of their names.
    pub fn categories(&self) -> impl Iterator<Item = ((&str, &str), CategoryCounts)> {
        self.categories.iter().map(|((kind, category), counts)| ((kind.as_str(), category.as_str()), *counts))
    }

    /// Cases whose result is the recorded one.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.total().passed
    }

    /// Cases with another result than the recorded one, or that could not be run.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.total().failed
    }

    /// The counts of all categories together.
    #[must_use]
    pub fn total(&self) -> CategoryCounts {
        self.categories.values().fold(CategoryCounts::default(), |sum, counts| CategoryCounts {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
            unreadable: sum.unreadable + counts.unreadable,
            compared: sum.compared + counts.compared,
            traced: sum.traced + counts.traced,
        })
    }

    /// Whether there were cases and all of them passed.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failed() == 0 && self.passed() > 0
    }

    /// Every difference and every case that could not be run, in the order of the lines. A case can
    /// have two.
    #[must_use]
    pub fn failures(&self) -> &[CaseFailure] {
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CategoryCounts {
    passed: usize,
    failed: usize,
    unreadable: usize,
    compared: usize,
    traced: usize,
}

impl CategoryCounts {
    /// Cases whose result is the recorded one.
    #[must_use]
    pub fn passed(self) -> usize {
        self.passed
    }

    /// Cases with another result than the recorded one, or that could not be run.
    #[must_use]
    pub fn failed(self) -> usize {
        self.failed
    }

    /// Those of the failed cases that could not be run: an unknown kind, a field that is unknown,
    /// missing or of the wrong type.
    #[must_use]
    pub fn unreadable(self) -> usize {
        self.unreadable
    }

    /// Recorded outcomes that were compared. A unary case has up to two.
    #[must_use]
    pub fn compared(self) -> usize {
        self.compared
    }

    /// Those of them whose record of tracer calls was compared with what observers are told.
    #[must_use]
    pub fn traced(self) -> usize {
        self.traced
    }

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFailure {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) category: String,
    pub(super) file: Option<String>,
    pub(super) line: usize,
    pub(super) problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    Different(Difference),
    Unreadable(Fault),
}

impl CaseFailure {
    /// The case's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The case's kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The case's category.
    #[must_use]
    pub fn category(&self) -> &str {
        &self.category
    }

    /// The line it is on; the first is 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The place in the case that differs, such as `expected.attempts[1].end_us`.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.difference().map(|difference| difference.place.as_str())
    }

    /// What is recorded at that place.
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.difference().map(|difference| difference.expected.as_str())
    }

    /// What came out instead.
    #[must_use]
    pub fn got(&self) -> Option<&str> {
        self.difference().map(|difference| difference.got.as_str())
    }

    fn difference(&self) -> Option<&Difference> {
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
