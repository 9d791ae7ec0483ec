//! Changes for programs.

use super::change::{Change, Changed};
use super::compare::Difference;
use super::kinds::Kind;
use crate::render::Ordered;
use serde::Serialize;
use serde_json::{Value, json};
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
    /// The kinds of changes that they are, why, and whether that is denied.
    kinds: Vec<Ordered<&'static str, Value>>,
    changes: &'a [Change],
}

pub(super) fn document(difference: &Difference) -> Document<'_> {
    let method = |changed| method(changed, difference);
    Document {
        methods: difference.methods.iter().map(method).collect(),
        counts: Kind::ALL.iter().copied().map(|kind| (kind.as_str(), difference.count(kind))).collect(),
        changed: difference.methods.len(),
        unchanged: difference.unchanged,
        denied: difference.has_denied(),
    }
}

fn method<'a>(changed: &'a Changed, difference: &Difference) -> Method<'a> {
    let kinds = changed.reasons.by_kind().map(|(kind, reasons)| {
        let denied = difference.is_denied(kind);
        Ordered(vec![("kind", json!(kind.as_str())), ("reasons", json!(reasons)), ("denied", json!(denied))])
    });
    Method {
        name: &changed.name,
        was: changed.old_name.as_deref(),
        kinds: kinds.collect(),
        changes: &changed.changes,
    }
}
