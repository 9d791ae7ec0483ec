//! The methods that have changed.

use super::args::Denied;
use super::behaviour::Behaviour;
use super::kinds::{Kind, Reasons, reasons};
use super::rename::{Name, Renames};
use super::side::Side;
use crate::command::table::beside::{Batching, Polling};
use crate::command::table::hedged::Hedged;
use crate::command::table::methods::{MethodRow, codes_text, methods, short_place};
use crate::command::table::source::Api;
use crate::render::Ms;
use gax_retry::{Code, CodeSet};
use gax_table::{RetryTable, RetryThrottling, SourceLocation};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;

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

/// A value that is not as it was.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) what: &'static str,
    pub(super) old: Value,
    pub(super) new: Value,
    /// The same for people.
    pub(super) words: [String; 3],
    pub(super) places: [Option<String>; 2],
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
        let mut comparison = Comparison { old, new, renames, by_entries: HashMap::new() };
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
        let compare = || {
            let was = Behaviour::of(old, before.0, before.1);
            let is = Behaviour::of(new, now.0, now.1);
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

/// The changes, one value after the other.
struct Changes(Vec<Change>);

impl Changes {
    fn add(
        &mut self,
        what: &'static str,
        values: [Value; 2],
        words: [&str; 3],
        places: [&Option<SourceLocation>; 2],
    ) {
        let [old, new] = values;
        if old != new {
            let places = places.map(|place| place.as_ref().map(short_place));
            self.0.push(Change { what, old, new, words: words.map(str::to_owned), places });
        }
    }
}

fn changes(was: &Behaviour, is: &Behaviour) -> Vec<Change> {
    let mut changes = Changes(Vec::new());
    let both = [was, is];
    let places = [&was.places, &is.places];
    let nowhere = [&None, &None];
    let entry = both.map(|side| if side.has_entry { "yes" } else { "none" });
    let [old, new] = entry;
    changes.add(
        "entry",
        both.map(|side| side.has_entry.into()),
        ["policy", old, new],
        places.map(|p| &p.entry),
    );
    let [old, new] = both.map(|side| codes_text(side.codes));
    let codes = both.map(|side| names(side.codes));
    changes.add("codes", codes, ["retryable codes", &old, &new], places.map(|p| &p.codes));
    let mut time = |what, name, none: &str, value: fn(&Behaviour) -> Option<Duration>, places| {
        let [old, new] =
            both.map(|side| value(side).map_or_else(|| none.to_owned(), |t| format!("{}", Ms(t))));
        let values = both.map(|side| json!(value(side).map(Ms)));
        changes.add(what, values, [name, &old, &new], places);
    };
    time(
        "total_timeout_ms",
        "total timeout",
        "none",
        |side| side.total_timeout,
        places.map(|p| &p.total_timeout),
    );
    time("first_retry_ms", "first retry", "none", |side| side.first_retry, nowhere);
    time("worst_case_ms", "worst case", "unbounded", |side| side.worst_case, nowhere);
    let attempts =
        |side: &Behaviour| side.max_attempts.map_or_else(|| "no limit".to_owned(), |n| n.to_string());
    let [old, new] = both.map(attempts);
    let counts = both.map(|side| side.max_attempts.into());
    changes.add("attempts", counts, ["attempts", &old, &new], places.map(|p| &p.max_attempts));
    let [old, new] = both.map(|side| format!("{:.1} attempts", side.load));
    changes.add("load", both.map(|side| side.load.into()), ["in an outage", &old, &new], nowhere);
    let hedging = both.map(|side| side.hedging.as_ref().map(Hedged::from));
    let [old, new] = hedging.each_ref().map(|h| h.as_ref().map_or("none", Hedged::words));
    let words = ["hedging", old, new];
    changes.add("hedging", hedging.each_ref().map(|h| json!(h)), words, places.map(|p| &p.hedging));
    let [old, new] = both.map(|side| match side.idempotent {
        None => "not said",
        Some(true) => "yes",
        Some(false) => "no",
    });
    let values = both.map(|side| json!(side.idempotent));
    changes.add("idempotent", values, ["idempotent", old, new], places.map(|p| &p.idempotent));
    let polling = both.map(|side| side.polling.as_ref().map(Polling::from));
    let [old, new] = polling.each_ref().map(|p| p.as_ref().map_or_else(|| "none".to_owned(), Polling::words));
    changes.add("polling", polling.map(|p| json!(p)), ["polling", &old, &new], nowhere);
    let batching = both.map(|side| side.batching.as_ref().map(Batching::from));
    let [old, new] =
        batching.each_ref().map(|b| b.as_ref().map_or_else(|| "none".to_owned(), Batching::words));
    changes.add("batching", batching.map(|b| json!(b)), ["batching", &old, &new], nowhere);
    changes.0
}

fn names(codes: CodeSet) -> Value {
    json!(codes.iter().map(Code::name).collect::<Vec<_>>())
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
    let mut changes = Changes(Vec::new());
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
    (!changes.0.is_empty()).then(|| Changed {
        name: "*".to_owned(),
        old_name: None,
        what: Rc::new(WhatChanged { changes: changes.0, reasons, place: None, old_place: None }),
    })
}
