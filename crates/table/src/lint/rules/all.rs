//! All rules together.

#[cfg(feature = "http")]
use super::http;
use super::numbers::{backoff, limits, load};
use super::{beside, codes, coverage, entries, names, reader_rules, siblings, suppressions, writes};
use crate::lint::report::Report;
use crate::lint::rule::Rule;
use crate::lint::subject::Subject;

/// Every rule, those of the readers included.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    groups().into_iter().flat_map(|(_, rules)| rules)
}

/// The page of the guide that explains this rule, such as `reference/lint-tables.md`.
#[must_use]
pub fn page(rule: &Rule) -> &'static str {
    groups().into_iter().find(|(_, rules)| rules.contains(rule)).map_or("lint.md", |(page, _)| page)
}

/// The rules, with the page of each group.
fn groups() -> impl IntoIterator<Item = (&'static str, &'static [Rule])> {
    [
        ("reference/lint-tables.md", reader_rules::RULES),
        ("reference/lint-tables.md", names::RULES),
        ("reference/lint-tables.md", entries::RULES),
        ("reference/lint-numbers.md", limits::RULES),
        ("reference/lint-numbers.md", beside::RULES),
        ("reference/lint-numbers.md", backoff::RULES),
        ("reference/lint-numbers.md", load::RULES),
        ("reference/lint-safety.md", codes::RULES),
        ("reference/lint-safety.md", writes::RULES),
        ("reference/lint-tables.md", coverage::RULES),
        #[cfg(feature = "http")]
        ("reference/lint-safety.md", http::RULES),
        ("reference/lint-tables.md", siblings::RULES),
        ("lint.md", suppressions::RULES),
    ]
}

/// Applies the rules that look at one table.
pub(in crate::lint) fn check(subject: &Subject<'_>, report: &mut Report) {
    for check in [
        names::check,
        entries::check,
        limits::check,
        beside::check,
        backoff::check,
        load::check,
        codes::check,
        writes::check,
        coverage::check,
        #[cfg(feature = "http")]
        http::check,
    ] {
        check(subject, report);
    }
}
