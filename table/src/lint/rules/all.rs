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
    let groups = [
        &reader_rules::RULES[..],
        &names::RULES,
        &entries::RULES,
        &limits::RULES,
        &beside::RULES,
        &backoff::RULES,
        &load::RULES,
        &codes::RULES,
        &writes::RULES,
        &coverage::RULES,
        #[cfg(feature = "http")]
        &http::RULES,
        &siblings::RULES,
        &suppressions::RULES,
    ];
    groups.into_iter().flatten()
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
