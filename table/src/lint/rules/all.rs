//! All rules together.

use super::{
    backoff, codes, coverage, entries, limits, load, names, reader_rules, siblings, suppressions, writes,
};
use crate::lint::report::Report;
use crate::lint::rule::Rule;
use crate::lint::subject::Subject;

/// Every rule, those of the readers included.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let groups: [&[Rule]; 11] = [
        &reader_rules::RULES,
        &names::RULES,
        &entries::RULES,
        &limits::RULES,
        &backoff::RULES,
        &load::RULES,
        &codes::RULES,
        &writes::RULES,
        &coverage::RULES,
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
        backoff::check,
        load::check,
        codes::check,
        writes::check,
        coverage::check,
    ] {
        check(subject, report);
    }
}
