//! Configurations for the entries of a retry table, and which of them a method has.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::{Hedging, Policy};
use gax_table::{HedgingPolicy, MethodPolicy, RetryTable};
use std::borrow::Borrow;

/// A retry table with a configuration for each of its entries, made once.
pub struct TableEntries<C> {
    table: RetryTable,
    entries: Vec<Entry<C>>,
    unlisted: Entry<C>,
}

struct Entry<C> {
    own: C,
    /// For those of its methods that are idempotent, where others than the table ask for hedging.
    hedged: Option<C>,
}

impl<C: Borrow<Policy>> TableEntries<C> {
    /// `make` makes a configuration of an entry, or of no entry for methods that the table doesn't name, with that hedging. `hedging` is
    /// for methods whose entries don't have their own: for the idempotent ones, and for all others if it allows that.
    pub fn new(
        table: RetryTable,
        hedging: Option<Hedging>,
        make: impl Fn(Option<MethodPolicy<'_>>, Option<Hedging>) -> C,
    ) -> Self {
        let entry = |policy: Option<MethodPolicy<'_>>| {
            let own = policy.and_then(|policy| policy.hedging().map(HedgingPolicy::to_hedging));
            let hedging = hedging.filter(|_| own.is_none());
            Entry { own: make(policy, own), hedged: hedging.map(|hedging| make(policy, Some(hedging))) }
        };
        let entries = (0..table.entry_count()).filter_map(|index| table.entry(index));
        let entries = entries.map(|policy| entry(Some(policy))).collect();
        let unlisted = entry(None);
        Self { table, entries, unlisted }
    }

    #[must_use]
    pub fn table(&self) -> &RetryTable {
        &self.table
    }

    /// The methods that a table names, as `package.Service/Method`.
    #[must_use]
    pub fn paths(table: &RetryTable) -> Vec<Box<str>> {
        let entries = table.names().filter_map(|name| Some((name.service(), name.method()?)));
        let beside = table.named_beside().into_iter().filter(|(_, method)| !method.is_empty());
        entries.chain(beside).map(|(service, method)| format!("{service}/{method}").into()).collect()
    }

    /// The configuration of a method; `None`: the table has no settings for it. A method is idempotent if the table says so, or else
    /// if it is described so.
    pub fn find(&self, service: &str, method: &str, is_described_idempotent: bool) -> Option<&C> {
        let entry = self.table.lookup(service, method).and_then(|policy| self.entries.get(policy.entry()?));
        let is_idempotent = || {
            let is_described = entry.is_some() && is_described_idempotent;
            self.table.idempotent(service, method).unwrap_or(is_described)
        };
        let is_allowed = |config: &C| {
            entry.is_some() && config.borrow().hedging().is_some_and(Hedging::allows_non_idempotent)
        };
        let hedged = entry.unwrap_or(&self.unlisted).hedged.as_ref();
        let hedged = hedged.filter(|config| is_allowed(config) || is_idempotent());
        hedged.or(entry.map(|entry| &entry.own))
    }

    /// No limits, and nothing retried: what a call of a method that the table doesn't name changes by its own options.
    pub fn unlisted(&self) -> &C {
        &self.unlisted.own
    }

    /// Joins the configurations of each entry with those of an entry with the same names in the table before.
    pub fn join(&mut self, before: &Self, join: impl Fn(&mut C, &C)) {
        let names = |table: &RetryTable, entry| -> Vec<String> {
            table.names_of(entry).map(|name| name.to_string()).collect()
        };
        for (index, (entry, others)) in self.entries.iter_mut().zip(&before.entries).enumerate() {
            if names(&self.table, index) == names(&before.table, index) {
                join(&mut entry.own, &others.own);
                entry.hedged.iter_mut().zip(&others.hedged).for_each(|(hedged, before)| join(hedged, before));
            }
        }
    }
}
