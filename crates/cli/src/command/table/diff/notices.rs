//! Changes for services that review code.

use super::change::Changed;
use super::compare::Difference;
use super::kinds::Kind;
use super::side::Side;
use crate::render::{Notice, NoticePlace, NoticeRule};
use gax_table::Severity;

/// Where the kinds are explained.
const PAGE: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/src/reference/command.md#comparing-tables");

/// A remark for each kind that a method's change is of, at the line of the new table, or else of the old one.
pub(super) fn notices<'a>(difference: &'a Difference, old: &'a Side, new: &'a Side) -> Vec<Notice<'a>> {
    let of_method = |method: &'a Changed| {
        let place = place(method, old, new);
        method.reasons.by_kind().map(move |(kind, reasons)| Notice {
            rule: kind.as_str(),
            severity: if difference.is_denied(kind) { Severity::Error } else { severity(kind) },
            text: format!("{}: {}", method.name, reasons.join("; ")),
            place,
            name: Some(&method.name),
        })
    };
    difference.methods.iter().flat_map(of_method).collect()
}

pub(super) fn rules() -> Vec<NoticeRule<'static>> {
    let rule = |kind: Kind| NoticeRule {
        id: kind.as_str(),
        severity: severity(kind),
        summary: kind.summary(),
        help: "Check that the change is meant.",
        page: PAGE.to_owned(),
    };
    Kind::ALL.iter().copied().map(rule).collect()
}

fn place<'a>(method: &'a Changed, old: &'a Side, new: &'a Side) -> Option<NoticePlace<'a>> {
    let sides = [(&method.place, new), (&method.old_place, old)];
    sides.into_iter().find_map(|(place, side)| {
        let place = place.as_ref()?;
        let file = side.path_in_tree(place.file()?)?;
        Some(NoticePlace { file, start: (place.line(), place.column()), end: None })
    })
}

fn severity(kind: Kind) -> Severity {
    match kind {
        Kind::Removed | Kind::MoreAggressive => Severity::Warning,
        _ => Severity::Note,
    }
}
