//! A service of a table that can be replaced.

use crate::live::SettingsHandle;
use crate::live::follower::CurrentTable;
use crate::live::handle::follow_table;
use crate::replaceable::Replaceable;
use gax_retry::{CodeSet, Compatibility, Policy, RetryBudget, RetrySettings};
use std::fmt;

/// A service of a handle's table, by whichever table the handle has.
#[derive(Clone)]
pub(super) struct LiveService {
    entry: Replaceable<Entry>,
}

/// The entry that one table has for it.
struct Entry {
    /// `None`: the table leaves the service out, so that nothing is retried.
    settings: Option<RetrySettings>,
    by_dialect: Compatibility,
    version: u64,
    budget: Option<RetryBudget>,
}

impl LiveService {
    pub(super) fn new(handle: &SettingsHandle, service: Box<str>) -> Self {
        let make = move |current: &CurrentTable, _: Option<&Entry>| Entry {
            settings: current.table.lookup(&service, "").map(|policy| policy.settings().clone()),
            by_dialect: current.table.dialect().default_compatibility(),
            version: current.version,
            budget: current.budget.clone(),
        };
        Self { entry: Replaceable::live(follow_table(handle, make, None)) }
    }

    pub(super) fn policy(&self, codes: CodeSet, compatibility: Option<Compatibility>) -> Policy {
        let entry = self.entry.load();
        let compatibility = compatibility.unwrap_or(entry.by_dialect);
        let policy = match &entry.settings {
            Some(settings) => Policy::with_compatibility(settings, codes, compatibility),
            None => Policy::with_compatibility(&RetrySettings::default(), CodeSet::EMPTY, compatibility),
        };
        policy.with_version(entry.version).with_budget(entry.budget.clone())
    }
}

impl fmt::Debug for LiveService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = self.entry.load();
        f.debug_struct("LiveService")
            .field("version", &entry.version)
            .field("settings", &entry.settings)
            .finish_non_exhaustive()
    }
}
