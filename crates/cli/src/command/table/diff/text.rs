//! Changes for people.

use super::change::{Change, Changed};
use super::compare::Difference;
use super::kinds::Kind;
use crate::command::table::view::short_place;
use crate::render::{Count, DIM, ERROR, HEAD, grouped};
use gax_text::Escaped;
use std::fmt::Write as _;

pub(super) fn render(difference: &Difference) -> String {
    let mut text = String::new();
    for (body, methods) in grouped(difference.methods.iter().map(|method| (body(method, difference), method)))
    {
        for method in methods {
            let name = Escaped(&method.name);
            let was = method.old_name.as_ref().map(|old| format!(", which was {old}")).unwrap_or_default();
            let _infallible = writeln!(text, "{HEAD}{name}{HEAD:#}{}", Escaped(was));
        }
        let _infallible = writeln!(text, "{body}");
    }
    let counts = Kind::ALL.iter().copied().map(|kind| (difference.count(kind), kind.as_str()));
    let counts: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    let (changed, unchanged) = (difference.methods.len() as u64, difference.unchanged as u64);
    let _infallible = writeln!(text, "{} changed{counts}, {} as before", Count(changed), Count(unchanged));
    text
}

/// The lines under a method's name.
fn body(method: &Changed, difference: &Difference) -> String {
    let mut text = String::new();
    let place = |place: &Option<_>| place.as_ref().map(short_place);
    if let Some(place) = arrow(place(&method.old_place), place(&method.place)) {
        let _infallible = writeln!(text, "  {DIM}{}{DIM:#}", Escaped(place));
    }
    for change in &method.changes {
        let _infallible = writeln!(text, "  {}", Escaped(sentence(change)));
    }
    for (kind, reasons) in method.reasons.by_kind() {
        let style = if difference.is_denied(kind) { ERROR } else { HEAD };
        let reasons = Escaped(reasons.join("; "));
        let _infallible = writeln!(text, "  {style}{}{style:#}: {reasons}", kind.as_str());
    }
    text
}

/// `first retry: 100 ms -> none`
fn sentence(change: &Change) -> String {
    let [name, old, new] = &change.words;
    let places = arrow(change.old_place.clone(), change.new_place.clone())
        .map(|places| format!(" ({places})"))
        .unwrap_or_default();
    format!("{name}: {old} -> {new}{places}")
}

/// `old.json:5 -> new.json:7`
fn arrow(old: Option<String>, new: Option<String>) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) if old == new => Some(old),
        (Some(old), Some(new)) => Some(format!("{old} -> {new}")),
        (old, new) => old.or(new),
    }
}
