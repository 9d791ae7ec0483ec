//! Configurations for the entries of policies, and which of them a method has.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::options::unused_names::{unknown_names, warn_of};
use gax_retry::{Hedging, MethodFacts, MethodPolicies, MethodSettings, Policy};
use std::borrow::Borrow;

/// The settings of methods with a configuration for each of their entries, made once.
pub struct PolicyEntries<C> {
    policies: MethodPolicies,
    entries: Vec<Entry<C>>,
    unlisted: Entry<C>,
}

struct Entry<C> {
    own: C,
    /// For those of its methods that are idempotent, where others than the entry ask for hedging.
    hedged: Option<C>,
}

impl<C: Borrow<Policy>> PolicyEntries<C> {
    /// `make` makes a configuration of settings. `hedging` is for methods whose entries don't have their own: for the idempotent ones, and
    /// for all others if it allows that.
    pub fn new(
        policies: MethodPolicies,
        hedging: Option<Hedging>,
        make: impl Fn(&MethodSettings) -> C,
    ) -> Self {
        warn_of(|| unknown_names(&policies, policies.described()));
        let entry = |settings: &MethodSettings| {
            let hedging = hedging.filter(|_| settings.own_hedging().is_none());
            let hedged = |hedging| make(&settings.clone().hedging(Some(hedging)));
            Entry { own: make(settings), hedged: hedging.map(hedged) }
        };
        let entries = policies.entries().map(|(_, settings)| entry(settings)).collect();
        let unlisted = entry(&MethodSettings::default());
        Self { policies, entries, unlisted }
    }

    gax_text::getters! { self:
        pub policies: &MethodPolicies = &self.policies;

        /// No limits, and nothing retried: what a call of a method without settings changes by its own options.
        pub unlisted: &C = &self.unlisted.own;
    }

    /// The methods that are named, as `package.Service/Method`.
    #[must_use]
    pub fn paths(policies: &MethodPolicies) -> Vec<Box<str>> {
        policies.names().filter(|name| name.contains('/')).map(Box::from).collect()
    }

    /// The configuration of the method at that path; `None`: there are no settings for it. A method is idempotent if that is said, or
    /// else if its facts say so.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&C> {
        let entry = self.policies.entry_of(path).and_then(|entry| self.entries.get(entry));
        let is_idempotent = || {
            let facts = entry.and_then(|_| self.policies.facts_of(path));
            let is_described = || facts.is_some_and(MethodFacts::is_idempotent);
            self.policies.is_idempotent(path).unwrap_or_else(is_described)
        };
        let is_allowed = |config: &C| {
            entry.is_some() && config.borrow().hedging().is_some_and(Hedging::allows_non_idempotent)
        };
        let hedged = entry.unwrap_or(&self.unlisted).hedged.as_ref();
        let hedged = hedged.filter(|config| is_allowed(config) || is_idempotent());
        hedged.or(entry.map(|entry| &entry.own))
    }

    /// Joins the configurations of each entry with those of an entry with the same names in the policies before.
    pub fn join(&mut self, before: &Self, join: impl Fn(&mut C, &C)) {
        let names = self.policies.entries().zip(before.policies.entries());
        let pairs = self.entries.iter_mut().zip(&before.entries).zip(names);
        for ((entry, others), _) in pairs.filter(|(_, ((own, _), (before, _)))| own == before) {
            join(&mut entry.own, &others.own);
            entry.hedged.iter_mut().zip(&others.hedged).for_each(|(hedged, before)| join(hedged, before));
        }
    }
}
