//! A service whose settings can be replaced.

use crate::follower::CurrentPolicies;
use crate::live_policies::LivePolicies;
use crate::options::unused_names::{missing_service, warn_of};
use crate::replaceable::Replaceable;
use gax_retry::{CodeSet, Compatibility, Policy, RetryBudget, RetrySettings};

/// A service, by whichever policies count.
#[derive(Clone)]
pub(super) struct LiveService {
    entry: Replaceable<Entry>,
}

/// The entry that some policies have for it.
struct Entry {
    /// `None`: the policies leave the service out, so that nothing is retried.
    settings: Option<RetrySettings>,
    compatibility: Compatibility,
    version: u64,
    budget: Option<RetryBudget>,
}

impl LiveService {
    pub(super) fn new(live: &LivePolicies, service: Box<str>) -> Self {
        let make = move |current: &CurrentPolicies, _: Option<&Entry>| {
            warn_of(|| missing_service(&current.policies, &service));
            Entry {
                settings: current.policies.find(&service).map(|settings| settings.retry_settings().clone()),
                compatibility: current.policies.own_compatibility(),
                version: current.version.unwrap_or_default(),
                budget: current.budget.clone(),
            }
        };
        Self { entry: Replaceable::live(live.follow(make, None)) }
    }

    pub(super) fn policy(&self, codes: CodeSet, compatibility: Option<Compatibility>) -> Policy {
        let entry = self.entry.load();
        let compatibility = compatibility.unwrap_or(entry.compatibility);
        let policy = match &entry.settings {
            Some(settings) => Policy::with_compatibility(settings, codes, compatibility),
            None => Policy::with_compatibility(&RetrySettings::default(), CodeSet::EMPTY, compatibility),
        };
        policy.with_version(entry.version).with_budget(entry.budget.clone())
    }
}

gax_text::short_debug! {
    self: LiveService { version: self.entry.load().version, settings: self.entry.load().settings }
}
