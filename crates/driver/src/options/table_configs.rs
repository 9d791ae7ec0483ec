//! The settings of operations over any transport, by a retry table.

#[cfg(feature = "live")]
use crate::live::SettingsHandle;
#[cfg(feature = "live")]
use crate::live::follower::CurrentTable;
use crate::live::replaceable::{Loaded, Replaceable};
use crate::operation::{Observers, earlier};
use crate::options::{CallOptions, OperationConfig, OperationOptions};
use gax_retry::{CodeSet, Compatibility, Hedging, MethodKind, Policy, RetryBudget, RetrySettings};
use gax_table::{Dialect, HedgingPolicy, RetryTable};
use std::fmt;
use std::sync::Arc;

/// The settings that a retry table has for methods of services, for a transport of one's own: what tonic-gax's `RetryLayer` has
/// for gRPC over tonic.
///
/// # Examples
///
/// ```
/// use gax_driver::protocol::TableConfigs;
/// use gax_driver::{CallOptions, OperationOptions};
/// use gax_retry::MethodKind;
/// use gax_table::RetryTable;
///
/// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "post.Office"}], "timeout": "5s"}]}"#)?;
/// let configs = TableConfigs::new(table, OperationOptions::new(), None);
/// let (kind, call) = (MethodKind::Unary, CallOptions::new());
/// assert!(configs.config("post.Office", "Send", kind, &call).is_some());
/// assert!(configs.config("post.Bank", "Pay", kind, &call).is_none());
/// assert!(configs.config("post.Bank", "Pay", kind, &call.max_attempts(2)).is_some());
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Clone)]
pub struct TableConfigs {
    policies: Replaceable<Policies>,
    options: OperationOptions,
}

/// A table, and the policies of its entries.
struct Policies {
    table: RetryTable,
    entries: Vec<Entry>,
    /// No limits, and nothing retried: what a call of an unlisted method changes by its own options.
    unlisted: Entry,
    compatibility: Compatibility,
    observers: Option<Arc<Observers>>,
}

struct Entry {
    own: Policy,
    /// For those of its methods that are idempotent, where others than the table ask for hedging.
    hedged: Option<Policy>,
}

impl TableConfigs {
    /// The settings of that table, with these options. `hedging` is for methods that the table calls idempotent, where their
    /// entries don't say how they are hedged, and for all others if it is [allowed](Hedging::allow_non_idempotent).
    #[must_use]
    pub fn new(table: RetryTable, options: OperationOptions, hedging: Option<Hedging>) -> Self {
        let budget = table.throttling().map(|throttling| throttling.budget());
        let policies = Policies::new(table, 0, budget, &options, hedging);
        Self { policies: Replaceable::fixed(policies), options }
    }

    /// The settings of the table that the handle has as an operation begins. See [`new`](Self::new).
    #[cfg(feature = "live")]
    #[must_use]
    pub fn with_handle(
        handle: &SettingsHandle,
        mut options: OperationOptions,
        hedging: Option<Hedging>,
    ) -> Self {
        options.observers.follow(handle);
        let made_with = options.clone();
        let make = move |current: &CurrentTable, before: Option<&Policies>| {
            let CurrentTable { table, version, budget } = current;
            let policies = Policies::new(table.clone(), *version, budget.clone(), &made_with, hedging);
            policies.with_latencies_of(before)
        };
        Self { policies: Replaceable::live(handle.follow(make, None)), options }
    }

    /// Whose rules make attempts of the table's settings.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.policies.load().compatibility
    }

    /// The settings of an operation of that method; `None`: neither the table nor the call has anything to say about it. Ask
    /// for each operation, as it begins.
    #[must_use]
    pub fn config(
        &self,
        service: &str,
        method: &str,
        kind: MethodKind,
        call: &CallOptions,
    ) -> Option<OperationConfig> {
        let policies = self.policies.load();
        let own = policies.of(service, method);
        let policy = own.or_else(|| call.changes_settings().then_some(&policies.unlisted.own))?;
        let policy = call.applied_to(policy.clone()).for_kind(kind);
        let config = self.options.config_for(policy, policies.observers.clone());
        let bound = earlier(call.deadline(), config.policy.environment().total_timeout());
        let reports = call.report.unwrap_or_else(|| self.options.wants_reports());
        Some(OperationConfig { bound, reports, ..config })
    }
}

impl Policies {
    fn new(
        table: RetryTable,
        version: u64,
        budget: Option<RetryBudget>,
        options: &OperationOptions,
        hedging: Option<Hedging>,
    ) -> Self {
        let compatibility = options.compatibility.unwrap_or(match table.dialect() {
            Dialect::Grpc => Compatibility::Grpc,
            _ => Compatibility::Documented,
        });
        let entry = |settings: &RetrySettings, codes: CodeSet, own: Option<&HedgingPolicy>| {
            let hedging = hedging.filter(|_| own.is_none());
            let own = Policy::with_compatibility(settings, codes, compatibility)
                .with_hedging(own.map(HedgingPolicy::to_hedging))
                .with_budget(budget.clone())
                .with_version(version);
            Entry { hedged: hedging.map(|hedging| own.clone().with_hedging(hedging)), own }
        };
        let policies = (0..table.entry_count()).filter_map(|index| table.entry(index));
        let entries =
            policies.map(|policy| entry(policy.settings(), policy.codes(), policy.hedging())).collect();
        let unlisted = entry(&RetrySettings::default(), CodeSet::EMPTY, None);
        let names = table.names().filter_map(|name| Some((name.service(), name.method()?)));
        let paths =
            names.chain(table.named_beside()).map(|(service, method)| format!("{service}/{method}").into());
        let observers = options.observers.registering(&paths.collect::<Vec<Box<str>>>()).shared();
        Self { table, entries, unlisted, compatibility, observers }
    }

    /// Where an entry is hedged after the same percentile as before, its latencies go on to count.
    #[cfg(feature = "live")]
    fn with_latencies_of(mut self, before: Option<&Self>) -> Self {
        for (entry, before) in
            self.entries.iter_mut().zip(before.into_iter().flat_map(|before| &before.entries))
        {
            entry.own = entry.own.clone().with_latencies_of(&before.own);
            if let (Some(hedged), Some(before)) = (&mut entry.hedged, &before.hedged) {
                *hedged = hedged.clone().with_latencies_of(before);
            }
        }
        self
    }

    /// The policy of a method; `None`: the table has nothing to say about it.
    fn of(&self, service: &str, method: &str) -> Option<&Policy> {
        let entry = self.table.lookup(service, method).and_then(|policy| self.entries.get(policy.entry()?));
        let is_idempotent = || self.table.idempotent(service, method) == Some(true);
        let is_allowed =
            |policy: &Policy| entry.is_some() && policy.hedging().is_some_and(Hedging::allows_non_idempotent);
        let hedged = entry.unwrap_or(&self.unlisted).hedged.as_ref();
        let hedged = hedged.filter(|policy| is_allowed(policy) || is_idempotent());
        hedged.or(entry.map(|entry| &entry.own))
    }
}

/// Short: its table alone may have hundreds of entries.
impl fmt::Debug for TableConfigs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policies: Loaded<'_, Policies> = self.policies.load();
        f.debug_struct("TableConfigs")
            .field("table", &policies.table)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
