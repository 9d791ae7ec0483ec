//! Changes for programs.

use super::changes::Change;
use super::compare::{Changed, Difference};
use super::kinds::Kind;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    methods: Vec<Method<'a>>,
    counts: BTreeMap<&'static str, usize>,
    changed: usize,
    unchanged: usize,
    denied: bool,
}

#[derive(Debug, Serialize)]
struct Method<'a> {
    #[serde(rename = "method")]
    name: &'a str,
    #[serde(rename = "old_method")]
    was: Option<&'a str>,
    kinds: Vec<OneKind<'a>>,
    changes: Vec<Row<'a>>,
}

#[derive(Debug, Serialize)]
struct OneKind<'a> {
    kind: &'static str,
    reasons: Vec<&'a str>,
    denied: bool,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    what: &'static str,
    old: &'a Value,
    new: &'a Value,
    old_place: Option<&'a str>,
    new_place: Option<&'a str>,
}

pub(super) fn document(difference: &Difference) -> Document<'_> {
    let method = |changed| method(changed, difference);
    Document {
        methods: difference.methods.iter().map(method).collect(),
        counts: Kind::ALL.into_iter().map(|kind| (kind.as_str(), difference.count(kind))).collect(),
        changed: difference.methods.len(),
        unchanged: difference.unchanged,
        denied: difference.has_denied(),
    }
}

fn method<'a>(changed: &'a Changed, difference: &Difference) -> Method<'a> {
    let kinds = changed.reasons.by_kind().map(|(kind, reasons)| OneKind {
        kind: kind.as_str(),
        reasons,
        denied: difference.is_denied(kind),
    });
    Method {
        name: &changed.name,
        was: changed.old_name.as_deref(),
        kinds: kinds.collect(),
        changes: changed.changes.iter().map(Row::from).collect(),
    }
}

impl<'a> From<&'a Change> for Row<'a> {
    fn from(change: &'a Change) -> Self {
        let [old_place, new_place] = &change.places;
        Self {
            what: change.what,
            old: &change.old,
            new: &change.new,
            old_place: old_place.as_deref(),
            new_place: new_place.as_deref(),
        }
    }
}
