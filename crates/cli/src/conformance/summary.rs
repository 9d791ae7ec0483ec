//! Counts of what passed and what did not.

use super::compare::Difference;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The results of all cases run so far.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(super) categories: BTreeMap<(String, String), CategoryCounts>,
    /// Every difference and every case that could not be run, in the order of the lines. A case can
    /// have two.
    pub(crate) failures: Vec<CaseFailure>,
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

/// One case that did not pass, and the first thing that differs; nothing does if it could not be run.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CaseFailure {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) category: String,
    /// The line it is on; the first is 1.
    pub(crate) line: usize,
    pub(crate) place: Option<String>,
    expected: Option<String>,
    got: Option<String>,
    /// Names the case, the place in the record, what is recorded there and what came out.
    pub(crate) message: String,
}

impl CaseFailure {
    /// A failure without a difference, of the case with that name and place.
    pub(super) fn new([id, kind, category]: [&str; 3], line: usize, message: String) -> Self {
        let [id, kind, category] = [id, kind, category].map(str::to_owned);
        Self { id, kind, category, line, place: None, expected: None, got: None, message }
    }

    pub(super) fn with(self, Difference { place, expected, got }: Difference) -> Self {
        Self { place: Some(place), expected: Some(expected), got: Some(got), ..self }
    }
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
