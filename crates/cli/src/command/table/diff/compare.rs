//! The methods that have changed.

use super::args::Denied;
use super::change::{Change, Changed, WhatChanged, changes};
use super::fact::Fact;
use super::http;
use super::kinds::{Kind, Reasons, reasons};
use super::rename::{Name, Renames};
use super::side::Side;
use crate::command::table::by_policy::{ByPolicy, key_of};
use crate::command::table::source::Api;
use crate::command::table::view::{MethodView, full_name, methods};
use gax_retry::plan::Impact;
use gax_table::RetryThrottling;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The methods that are not as they were, and how many are.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) methods: Vec<Changed>,
    pub(super) unchanged: usize,
    denied: Vec<Denied>,
}

impl Difference {
    pub(super) fn new(
        old: &Side,
        new: &Side,
        api: Option<&Api>,
        renames: Renames<'_>,
        denied: &[Denied],
    ) -> Self {
        let (before, now) = (methods(&old.table, api), methods(&new.table, api));
        let before = before.iter().map(|row| renames.now(row.service, row.method));
        let now = now.iter().map(|row| (row.service.into(), row.method.into()));
        let mut seen: HashSet<Name<'_>> = HashSet::new();
        let mut comparison =
            Comparison { old, new, renames, by_entries: HashMap::new(), impacts: ByPolicy::new() };
        let mut methods: Vec<Changed> = throttling(old, new).into_iter().collect();
        let mut unchanged = 0;
        for name in before.chain(now).filter(|name| seen.insert(name.clone())) {
            match comparison.changed(&name.0, &name.1) {
                Some(changed) => methods.push(changed),
                None => unchanged += 1,
            }
        }
        let tables = [&old.table, &new.table];
        let (requests, as_before) = http::changed(tables, &mut comparison.impacts);
        methods.extend(requests);
        unchanged += as_before;
        Self { methods, unchanged, denied: denied.to_vec() }
    }

    pub(super) fn is_denied(&self, kind: Kind) -> bool {
        self.denied.iter().any(|denied| denied.covers(kind))
    }

    /// Returns whether some change may not be.
    pub(super) fn has_denied(&self) -> bool {
        let is_denied = |method: &Changed| {
            self.denied.contains(&Denied::Any)
                || method.reasons.by_kind().any(|(kind, _)| self.is_denied(kind))
        };
        self.methods.iter().any(is_denied)
    }

    /// How many methods have a change of that kind.
    pub(super) fn count(&self, kind: Kind) -> usize {
        let has = |method: &&Changed| method.reasons.by_kind().any(|(of, _)| of == kind);
        self.methods.iter().filter(has).count()
    }
}

/// Two tables on their way to a difference.
struct Comparison<'a> {
    old: &'a Side,
    new: &'a Side,
    renames: Renames<'a>,
    /// The changes between two entries, if there are any.
    by_entries: HashMap<Entries, Option<Rc<WhatChanged>>>,
    /// Of policies that are not the same in both tables.
    impacts: ByPolicy<Impact>,
}

/// The number of an entry in the old table, and of one in the new.
type Entries = (Option<usize>, Option<usize>);

impl Comparison<'_> {
    /// A method, by its name in the new table, if it is not as it was.
    fn changed(&mut self, service: &str, method: &str) -> Option<Changed> {
        let (old_service, old_method) = self.renames.before(service, method);
        let what = self.what_changed([(&old_service, &old_method), (service, method)])?;
        let (name, old_name) = (full_name(service, method), full_name(&old_service, &old_method));
        Some(Changed { old_name: (old_name != name).then_some(old_name), name, what })
    }

    fn what_changed(&mut self, [before, now]: [(&str, &str); 2]) -> Option<Rc<WhatChanged>> {
        let was = MethodView::new(&self.old.table, before.0, before.1);
        let is = MethodView::new(&self.new.table, now.0, now.1);
        let (entries, has_more) = ((was.entry(), is.entry()), was.has_more() || is.has_more());
        let impacts = &mut self.impacts;
        let compare = || compared([was, is], impacts);
        if has_more { compare() } else { self.by_entries.entry(entries).or_insert_with(compare).clone() }
    }
}

/// The method by both tables.
fn compared(both: [MethodView<'_>; 2], impacts: &mut ByPolicy<Impact>) -> Option<Rc<WhatChanged>> {
    let [was, is] = both.each_ref().map(|view| view.policy.map(key_of));
    // Equal policies have the same impact.
    let [was, is] = if was == is { both } else { both.map(|view| view.estimated(impacts)) };
    let changes = changes(&was, &is);
    (!changes.is_empty()).then(|| {
        let [place, old_place] = [&is, &was].map(|view| view.origin().cloned());
        Rc::new(WhatChanged { changes, reasons: reasons(&was, &is), place, old_place })
    })
}

/// The throttle that all calls share.
fn throttling(old: &Side, new: &Side) -> Option<Changed> {
    let both = [old.table.throttling(), new.table.throttling()];
    let numbers = |throttle: RetryThrottling| [throttle.max_tokens(), throttle.token_ratio()];
    let change = Change::between(both.map(|throttle| {
        let value = throttle.map(|throttle| {
            let [max_tokens, token_ratio] = numbers(throttle);
            json!({ "max_tokens": max_tokens, "token_ratio": token_ratio })
        });
        let words = throttle.map_or_else(
            || "none".to_owned(),
            |throttle| format!("{} tokens, {} back a success", throttle.max_tokens(), throttle.token_ratio()),
        );
        Fact::new("retry_throttling", "retry throttling", json!(value), words, None)
    }))?;
    let mut reasons = Reasons::default();
    match both {
        [Some(_), None] => reasons.add(Kind::MoreAggressive, "retries are no longer throttled"),
        [None, Some(_)] => reasons.add(Kind::LessAggressive, "retries are throttled"),
        [Some(was), Some(is)] => {
            let [less, more] =
                ["the throttle lets fewer retries through", "the throttle lets more retries through"];
            for (is, was) in numbers(is).into_iter().zip(numbers(was)) {
                let both = [(Kind::LessAggressive, less), (Kind::MoreAggressive, more)];
                reasons.compare(&[is.total_cmp(&was)], both);
            }
        }
        [None, None] => {}
    }
    Some(Changed::of("*".to_owned(), vec![change], reasons, [None, None]))
}
