//! Kinds of changes, and the reasons for them.

use std::cmp::Ordering;

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::command::table::diff) enum Kind {
    Added,
    Removed,
    MoreAggressive,
    LessAggressive,
    Slower,
    Faster,
}

gax_text::names! {
    pub(in crate::command::table::diff) const ALL;
    pub(in crate::command::table::diff) fn as_str for Kind {
        Added = "added",
        Removed = "removed",
        MoreAggressive = "more-aggressive",
        LessAggressive = "less-aggressive",
        Slower = "slower",
        Faster = "faster",
    }
}

impl Kind {
    /// A sentence about all changes of the kind.
    pub(in crate::command::table::diff) fn summary(self) -> &'static str {
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
pub(in crate::command::table::diff) struct Reasons(Vec<(Kind, String)>);

impl Reasons {
    pub(in crate::command::table::diff) fn add(&mut self, kind: Kind, reason: impl Into<String>) {
        self.0.push((kind, reason.into()));
    }

    /// Adds the reason that something is less, or that it is more, by how values now compare with those before; both if some of
    /// several are.
    pub(in crate::command::table::diff) fn compare<S: Into<String>>(
        &mut self,
        values: &[Ordering],
        [less, more]: [(Kind, S); 2],
    ) {
        for (order, (kind, reason)) in [(Ordering::Less, less), (Ordering::Greater, more)] {
            if values.contains(&order) {
                self.add(kind, reason);
            }
        }
    }

    pub(in crate::command::table::diff) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Each kind once, with its reasons.
    pub(in crate::command::table::diff) fn by_kind(&self) -> impl Iterator<Item = (Kind, Vec<&str>)> {
        Kind::ALL.iter().copied().filter_map(|kind| {
            let reasons: Vec<&str> =
                self.0.iter().filter(|(of, _)| *of == kind).map(|(_, reason)| reason.as_str()).collect();
            (!reasons.is_empty()).then_some((kind, reasons))
        })
    }
}
