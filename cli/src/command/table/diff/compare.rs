//! The methods that have changed.

use super::args::Denied;
use super::behaviour::Behaviour;
use super::changes::{Change, Changes, changes};
use super::kinds::{Kind, Reasons, reasons};
use super::rename::{Name, Renames};
use super::side::Side;
use crate::command::table::by_policy::ByPolicy;
use crate::command::table::methods::{MethodRow, methods};
use crate::command::table::source::Api;
use gax_retry::plan::Impact;
use gax_table::{RetryTable, RetryThrottling, SourceLocation};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::rc::Rc;

/// What is different, and how much is not.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) methods: Vec<Changed>,
    pub(super) unchanged: usize,
    denied: Vec<Denied>,
}

/// A method that is not as it was.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) name: String,
    /// What it was called, if that was another name.
    pub(super) old_name: Option<String>,
    what: Rc<WhatChanged>,
}

/// What is not as it was. Methods whose entries are the same in both tables share it.
#[derive(Debug)]
pub(super) struct WhatChanged {
    pub(super) changes: Vec<Change>,
    pub(super) reasons: Reasons,
    /// Where the new table says so, or else the old one.
    pub(super) place: Option<SourceLocation>,
    pub(super) old_place: Option<SourceLocation>,
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
        Self { methods, unchanged, denied: denied.to_vec() }
    }

    pub(super) fn is_denied(&self, kind: Kind) -> bool {
        self.denied.iter().any(|denied| denied.covers(kind))
    }

    /// Whether some change may not be.
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

impl Deref for Changed {
    type Target = WhatChanged;

    fn deref(&self) -> &WhatChanged {
        &self.what
    }
}

/// Two tables on their way to a difference.
struct Comparison<'a> {
    old: &'a Side,
    new: &'a Side,
    renames: Renames<'a>,
    /// What changed between two entries, if anything.
    by_entries: HashMap<Entries, Option<Rc<WhatChanged>>>,
    /// What policies that are not the same in both tables lead to.
    impacts: ByPolicy<Impact>,
}

/// The number of an entry in the old table, and of one in the new.
type Entries = (Option<usize>, Option<usize>);

impl Comparison<'_> {
    /// A method, by its name in the new table, if it is not as it was.
    fn changed(&mut self, service: &str, method: &str) -> Option<Changed> {
        let (old_service, old_method) = self.renames.before(service, method);
        let what = self.what_changed([(&old_service, &old_method), (service, method)])?;
        let name = |service: &str, method: &str| MethodRow { service, method, policy: None }.name();
        let (name, old_name) = (name(service, method), name(&old_service, &old_method));
        Some(Changed { old_name: (old_name != name).then_some(old_name), name, what })
    }

    fn what_changed(&mut self, [before, now]: [(&str, &str); 2]) -> Option<Rc<WhatChanged>> {
        let (old, new) = (&self.old.table, &self.new.table);
        let impacts = &mut self.impacts;
        let mut compare = || {
            let [was, is] = Behaviour::of_both([old, new], [before, now], impacts);
            let changes = changes(&was, &is);
            (!changes.is_empty()).then(|| {
                let reasons = reasons(&was, &is);
                Rc::new(WhatChanged { changes, reasons, place: is.places.entry, old_place: was.places.entry })
            })
        };
        let says_more = |table: &RetryTable, (service, method): (&str, &str)| {
            table.polling(service, method).is_some()
                || table.batching(service, method).is_some()
                || table.idempotent(service, method).is_some()
        };
        if says_more(old, before) || says_more(new, now) {
            return compare();
        }
        let entry =
            |table: &RetryTable, (service, method): (&str, &str)| table.lookup(service, method)?.entry();
        let entries = (entry(old, before), entry(new, now));
        self.by_entries.entry(entries).or_insert_with(compare).clone()
    }
}

/// The throttle that all calls share.
fn throttling(old: &Side, new: &Side) -> Option<Changed> {
    let both = [old.table.throttling(), new.table.throttling()];
    let numbers = |throttle: RetryThrottling| [throttle.max_tokens(), throttle.token_ratio()];
    let values = both.map(|throttle| {
        throttle.map_or(Value::Null, |throttle| {
            let [max_tokens, token_ratio] = numbers(throttle);
            json!({ "max_tokens": max_tokens, "token_ratio": token_ratio })
        })
    });
    let [old, new] = both.map(|throttle| {
        throttle.map_or_else(
            || "none".to_owned(),
            |throttle| format!("{} tokens, {} back a success", throttle.max_tokens(), throttle.token_ratio()),
        )
    });
    let mut changes = Changes::default();
    changes.add("retry_throttling", values, ["retry throttling", &old, &new], [&None, &None]);
    let mut reasons = Reasons::default();
    match both {
        [Some(_), None] => reasons.add(Kind::MoreAggressive, "retries are no longer throttled"),
        [None, Some(_)] => reasons.add(Kind::LessAggressive, "retries are throttled"),
        [Some(was), Some(is)] => {
            let compared = numbers(is).into_iter().zip(numbers(was));
            for (is, was) in compared {
                if is > was {
                    reasons.add(Kind::MoreAggressive, "the throttle lets more retries through");
                } else if is < was {
                    reasons.add(Kind::LessAggressive, "the throttle lets fewer retries through");
                }
            }
        }
        [None, None] => {}
    }
    let changes = changes.into_vec();
    (!changes.is_empty()).then(|| Changed {
        name: "*".to_owned(),
        old_name: None,
        what: Rc::new(WhatChanged { changes, reasons, place: None, old_place: None }),
    })
}
