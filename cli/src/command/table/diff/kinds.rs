//! Kinds of changes.

use super::behaviour::Behaviour;
use super::{hedged, polled};
use crate::render::Ms;
use gax_retry::CodeSet;

/// By how much the load of an outage has to change to be called another: it is an average of drawn operations.
const NOTICEABLE: f64 = 1.02;

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Added,
    Removed,
    MoreAggressive,
    LessAggressive,
    Slower,
    Faster,
}

impl Kind {
    pub(super) const ALL: [Kind; 6] =
        [Kind::Added, Kind::Removed, Kind::MoreAggressive, Kind::LessAggressive, Kind::Slower, Kind::Faster];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Added => "added",
            Kind::Removed => "removed",
            Kind::MoreAggressive => "more-aggressive",
            Kind::LessAggressive => "less-aggressive",
            Kind::Slower => "slower",
            Kind::Faster => "faster",
        }
    }

    /// What all changes of the kind have in common.
    pub(super) fn summary(self) -> &'static str {
        match self {
            Kind::Added => "a method has a policy, and had none",
            Kind::Removed => "a method no longer has a policy",
            Kind::MoreAggressive => {
                "a service gets more requests in an outage, or sooner, or after more codes"
            }
            Kind::LessAggressive => {
                "a service gets fewer requests in an outage, or later, or after fewer codes"
            }
            Kind::Slower => "a call may take longer",
            Kind::Faster => "a call has less time",
        }
    }
}

/// Which kinds a change is of, with the reasons for each.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reasons(Vec<(Kind, String)>);

impl Reasons {
    pub(super) fn add(&mut self, kind: Kind, reason: impl Into<String>) {
        self.0.push((kind, reason.into()));
    }

    /// Each kind once, with its reasons.
    pub(super) fn by_kind(&self) -> impl Iterator<Item = (Kind, Vec<&str>)> {
        Kind::ALL.into_iter().filter_map(|kind| {
            let reasons: Vec<&str> =
                self.0.iter().filter(|(of, _)| *of == kind).map(|(_, reason)| reason.as_str()).collect();
            (!reasons.is_empty()).then_some((kind, reasons))
        })
    }
}

/// Why a change of a method's behaviour is of which kind.
pub(super) fn reasons(was: &Behaviour, is: &Behaviour) -> Reasons {
    let mut reasons = Reasons::default();
    match (was.has_entry, is.has_entry) {
        (false, true) => reasons.add(Kind::Added, "the table had nothing for it"),
        (true, false) => {
            reasons
                .add(Kind::Removed, "calls go through as they are, without retries and without a deadline");
        }
        (true, true) => {
            of_retries(was, is, &mut reasons);
            hedged::of_hedging(was.hedging.as_ref(), is.hedging.as_ref(), &mut reasons);
        }
        (false, false) => {}
    }
    polled::of_polling(was.polling.as_ref(), is.polling.as_ref(), &mut reasons);
    polled::of_batching(was.batching.as_ref(), is.batching.as_ref(), &mut reasons);
    reasons
}

fn of_retries(was: &Behaviour, is: &Behaviour, reasons: &mut Reasons) {
    let without = |codes: CodeSet, others: CodeSet| -> CodeSet {
        codes.iter().filter(|code| !others.contains(*code)).collect()
    };
    let (more, fewer) = (without(is.codes, was.codes), without(was.codes, is.codes));
    if !more.is_empty() {
        let verb = if is.hedging.is_some() { "no longer ends a call" } else { "is retried" };
        reasons.add(Kind::MoreAggressive, format!("{more} {verb}"));
    }
    if !fewer.is_empty() {
        let verb = if is.hedging.is_some() { "ends a call" } else { "is no longer retried" };
        reasons.add(Kind::LessAggressive, format!("{fewer} {verb}"));
    }
    let load = || format!("an outage makes {:.1} times the usual load, not {:.1} times", is.load, was.load);
    if is.load > was.load * NOTICEABLE {
        reasons.add(Kind::MoreAggressive, load());
    } else if was.load > is.load * NOTICEABLE {
        reasons.add(Kind::LessAggressive, load());
    }
    if let (Some(before), Some(now)) = (was.first_retry, is.first_retry) {
        let sentence = || format!("the first retry comes after {}, not {}", Ms(now), Ms(before));
        if now < before {
            reasons.add(Kind::MoreAggressive, sentence());
        } else if now > before {
            reasons.add(Kind::LessAggressive, sentence());
        }
    }
    match (was.worst_case, is.worst_case) {
        (Some(was), Some(is)) if is > was => {
            reasons.add(Kind::Slower, format!("a call may take {}, not {}", Ms(is), Ms(was)));
        }
        (Some(was), Some(is)) if is < was => {
            reasons.add(Kind::Faster, format!("a call has {}, not {}", Ms(is), Ms(was)));
        }
        (Some(was), None) => {
            reasons.add(Kind::Slower, format!("a call may take any time; it was {}", Ms(was)));
        }
        (None, Some(is)) => reasons.add(Kind::Faster, format!("a call has {}; it had any time", Ms(is))),
        _ => {}
    }
}
