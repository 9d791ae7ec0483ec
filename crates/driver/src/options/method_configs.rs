//! The settings of operations over any transport, by their methods.

use crate::follower::CurrentPolicies;
use crate::live_policies::LivePolicies;
use crate::operation::{Observers, earlier};
use crate::options::policy_entries::PolicyEntries;
use crate::options::{CallOptions, OperationConfig, OperationOptions};
use crate::replaceable::Replaceable;
use gax_retry::{Compatibility, Hedging, MethodFacts, MethodKind, MethodPolicies, Policy};
use std::collections::HashMap;
use std::sync::Arc;

/// The settings that policies have for methods of services, for your own transport, as tonic-gax's `RetryLayer` has them
/// for gRPC over tonic. Methods are named as in the path of a request; the last two segments count.
///
/// # Examples
///
/// ```
/// use gax_driver::protocol::MethodConfigs;
/// use gax_driver::{CallOptions, Code, MethodPolicies, MethodSettings, OperationOptions, RetrySettings};
/// use gax_retry::MethodKind;
///
/// let settings = MethodSettings::new(RetrySettings::builder().max_attempts(3).build()?, [Code::Unavailable]);
/// let policies = MethodPolicies::new().service("post.Office", settings);
/// let configs = MethodConfigs::new(policies, OperationOptions::new(), None);
/// let (kind, call) = (MethodKind::Unary, CallOptions::new());
/// assert!(configs.config("post.Office/Send", kind, &call).is_some());
/// assert!(configs.config("post.Bank/Pay", kind, &call).is_none());
/// assert!(configs.config("post.Bank/Pay", kind, &call.max_attempts(2)).is_some());
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Clone)]
pub struct MethodConfigs {
    policies: Replaceable<Policies>,
    inputs: Inputs,
}

/// The inputs besides the policies.
#[derive(Clone)]
struct Inputs {
    options: OperationOptions,
    hedging: Option<Hedging>,
    /// The facts of methods, by path, of policies that can be replaced.
    facts: Arc<[(Box<str>, MethodFacts)]>,
}

/// Policies made ready.
struct Policies {
    entries: PolicyEntries<Policy>,
    /// The policies of methods with latencies of their own.
    by_path: HashMap<Box<str>, Policy>,
    compatibility: Compatibility,
    observers: Option<Arc<Observers>>,
}

impl MethodConfigs {
    /// The settings of those policies, with these options. `hedging` is for idempotent methods whose settings don't say how they are
    /// hedged, and for all others if it is [allowed](Hedging::allow_non_idempotent). A method is idempotent if the policies say so,
    /// or else their facts of it.
    #[must_use]
    pub fn new(
        policies: impl Into<MethodPolicies>,
        options: OperationOptions,
        hedging: Option<Hedging>,
    ) -> Self {
        let inputs = Inputs { options, hedging, facts: Arc::default() };
        let current = CurrentPolicies::fixed(policies.into());
        Self { policies: Replaceable::fixed(Policies::new(&current, &inputs)), inputs }
    }

    /// The settings of the policies that count as an operation begins, with these facts of methods by path. See [`new`](Self::new).
    #[must_use]
    pub fn live(
        live: impl AsRef<LivePolicies>,
        mut options: OperationOptions,
        hedging: Option<Hedging>,
        facts: impl IntoIterator<Item = (Box<str>, MethodFacts)>,
    ) -> Self {
        let live = live.as_ref();
        options.observers.follow(live);
        let inputs = Inputs { options, hedging, facts: facts.into_iter().collect() };
        let known: Arc<[Box<str>]> = inputs.facts.iter().map(|(path, _)| path.clone()).collect();
        let made_with = inputs.clone();
        let make = move |current: &CurrentPolicies, before: Option<&Policies>| {
            Policies::new(current, &made_with).with_latencies_of(before)
        };
        let follower = live.follow(make, (!known.is_empty()).then_some(known));
        Self { policies: Replaceable::live(follower), inputs }
    }

    /// The compatibility by whose rules attempts follow from the settings.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.policies.load().compatibility
    }

    /// The facts of the method at that path, if there are any.
    #[must_use]
    pub fn facts(&self, path: &str) -> Option<MethodFacts> {
        self.policies.load().entries.policies().facts_of(path).copied()
    }

    /// The settings of an operation of the method at that path; `None`: neither the policies nor the call have settings for it. Ask
    /// for each operation, as it begins.
    #[must_use]
    pub fn config(&self, path: &str, kind: MethodKind, call: &CallOptions) -> Option<OperationConfig> {
        let policies = self.policies.load();
        let own = policies.by_path.get(path).or_else(|| policies.entries.find(path));
        let policy = own.or_else(|| call.changes_settings().then(|| policies.entries.unlisted()))?;
        let policy = call.applied_to(policy.clone()).for_kind(kind);
        let options = &self.inputs.options;
        let config = options.config_for(policy, policies.observers.clone());
        let bound = earlier(call.deadline(), config.policy.environment().total_timeout());
        let reports = call.report.unwrap_or_else(|| options.wants_reports());
        Some(OperationConfig { bound, reports, ..config })
    }
}

impl Policies {
    fn new(current: &CurrentPolicies, inputs: &Inputs) -> Self {
        let Inputs { options, hedging, facts } = inputs;
        let policies = current.policies.clone();
        let policies = if facts.is_empty() {
            policies
        } else {
            policies.facts(facts.iter().map(|(path, facts)| (path, *facts)))
        };
        let compatibility = options.compatibility.unwrap_or(policies.own_compatibility());
        let mut paths = PolicyEntries::<Policy>::paths(&policies);
        paths.extend(policies.described().map(Box::from));
        let observers = options.observers.registering(&paths).shared();
        let entries = PolicyEntries::new(policies, *hedging, |settings| {
            let policy = settings.to_policy(compatibility).with_budget(current.budget.clone());
            policy.with_version(current.version.unwrap_or_default())
        });
        let own = |path: Box<str>| {
            let policy = entries.find(&path)?.with_own_latencies()?;
            Some((path, policy))
        };
        let by_path = paths.into_iter().filter_map(own).collect();
        Self { entries, by_path, compatibility, observers }
    }

    /// The policies in place of others. A method that is hedged after the same percentile as before keeps the latencies that were
    /// counted, and so does an entry with the same names.
    fn with_latencies_of(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        let join = |policy: &mut Policy, before: &Policy| {
            *policy = policy.clone().with_latencies_of(before);
        };
        for (path, policy) in &mut self.by_path {
            if let Some(before) = before.by_path.get(path) {
                join(policy, before);
            }
        }
        self.entries.join(&before.entries, join);
        self
    }
}

// Short: there may be hundreds of methods.
gax_text::short_debug! { self: MethodConfigs { options: self.inputs.options } }
