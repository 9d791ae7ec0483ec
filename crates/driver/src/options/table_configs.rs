//! The settings of operations over any transport, by a retry table.

use crate::live::follower::CurrentTable;
use crate::live::handle::{SettingsHandle, follow_table, know_methods};
use crate::live::known_methods::KnownMethods;
use crate::operation::{Observers, earlier};
use crate::options::table_entries::TableEntries;
use crate::options::{CallOptions, OperationConfig, OperationOptions};
use crate::replaceable::Replaceable;
use gax_retry::{CodeSet, Compatibility, Hedging, MethodKind, Policy, RetryBudget, RetrySettings};
use gax_table::{MethodDescription, RetryTable, ServiceDescription};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The settings that a retry table has for methods of services, for your own transport, as tonic-gax's `RetryLayer` has them
/// for gRPC over tonic. Methods are named as in the path of a request, without the leading slash.
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
/// let configs = TableConfigs::new(table, OperationOptions::new(), None, &[]);
/// let (kind, call) = (MethodKind::Unary, CallOptions::new());
/// assert!(configs.config("post.Office/Send", kind, &call).is_some());
/// assert!(configs.config("post.Bank/Pay", kind, &call).is_none());
/// assert!(configs.config("post.Bank/Pay", kind, &call.max_attempts(2)).is_some());
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Clone)]
pub struct TableConfigs {
    policies: Replaceable<Policies>,
    inputs: Inputs,
}

/// The inputs besides the table.
#[derive(Clone)]
struct Inputs {
    options: OperationOptions,
    hedging: Option<Hedging>,
    /// The methods that are described, by path.
    described: Arc<HashMap<Box<str>, MethodDescription>>,
}

/// The policies of a table's entries.
struct Policies {
    entries: TableEntries<Policy>,
    /// The policies of methods with latencies of their own.
    by_path: HashMap<Box<str>, Policy>,
    compatibility: Compatibility,
    observers: Option<Arc<Observers>>,
}

impl TableConfigs {
    /// The settings of that table, with these options. `hedging` is for idempotent methods whose entries don't say how they are
    /// hedged, and for all others if it is [allowed](Hedging::allow_non_idempotent). A method is idempotent if the table says so,
    /// or else its description among `services`, which may be empty.
    #[must_use]
    pub fn new(
        table: RetryTable,
        options: OperationOptions,
        hedging: Option<Hedging>,
        services: &[ServiceDescription],
    ) -> Self {
        let inputs = Inputs::new(options, hedging, services);
        let budget = table.throttling().map(|throttling| throttling.budget());
        Self { policies: Replaceable::fixed(Policies::new(table, 0, budget.as_ref(), &inputs)), inputs }
    }

    /// The settings of the table that the handle has as an operation begins. See [`new`](Self::new).
    #[must_use]
    pub fn with_handle(
        handle: &SettingsHandle,
        mut options: OperationOptions,
        hedging: Option<Hedging>,
        services: &[ServiceDescription],
    ) -> Self {
        options.observers.follow(handle);
        let inputs = Inputs::new(options, hedging, services);
        let made_with = inputs.clone();
        let make = move |current: &CurrentTable, before: Option<&Policies>| {
            let CurrentTable { table, version, budget } = current;
            let policies = Policies::new(table.clone(), *version, budget.as_ref(), &made_with);
            policies.with_latencies_of(before)
        };
        let known = || know_methods(handle, KnownMethods::of_descriptors(services.to_vec(), false));
        let known = (!services.is_empty()).then(known);
        Self { policies: Replaceable::live(follow_table(handle, make, known)), inputs }
    }

    /// The compatibility by whose rules attempts follow from the table's settings.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.policies.load().compatibility
    }

    /// The description of the method at that path, if there is one.
    #[must_use]
    pub fn description(&self, path: &str) -> Option<&MethodDescription> {
        self.inputs.described.get(path)
    }

    /// The settings of an operation of the method at that path; `None`: neither the table nor the call has settings for it. Ask
    /// for each operation, as it begins.
    #[must_use]
    pub fn config(&self, path: &str, kind: MethodKind, call: &CallOptions) -> Option<OperationConfig> {
        let policies = self.policies.load();
        let described = self.description(path);
        let own = policies.by_path.get(path).or_else(|| policies.of(path, described));
        let policy = own.or_else(|| call.changes_settings().then(|| policies.entries.unlisted()))?;
        let policy = call.applied_to(policy.clone()).for_kind(kind);
        let options = &self.inputs.options;
        let config = options.config_for(policy, policies.observers.clone());
        let bound = earlier(call.deadline(), config.policy.environment().total_timeout());
        let reports = call.report.unwrap_or_else(|| options.wants_reports());
        Some(OperationConfig { bound, reports, ..config })
    }
}

impl Inputs {
    fn new(options: OperationOptions, hedging: Option<Hedging>, services: &[ServiceDescription]) -> Self {
        let described = services.iter().flat_map(|service| {
            let path = |method: &MethodDescription| format!("{}/{}", service.name(), method.name());
            service.methods().iter().map(move |method| (path(method).into_boxed_str(), method.clone()))
        });
        Self { options, hedging, described: Arc::new(described.collect()) }
    }
}

impl Policies {
    fn new(table: RetryTable, version: u64, budget: Option<&RetryBudget>, inputs: &Inputs) -> Self {
        let Inputs { options, hedging, described } = inputs;
        let compatibility = options.compatibility.unwrap_or(table.dialect().default_compatibility());
        let named = TableEntries::<Policy>::paths(&table).into_iter();
        let paths: Vec<Box<str>> = named.chain(described.keys().cloned()).collect();
        let observers = options.observers.registering(&paths).shared();
        let entries = TableEntries::new(table, *hedging, |entry, hedging| {
            let policy = match entry {
                Some(entry) => Policy::with_compatibility(entry.settings(), entry.codes(), compatibility),
                None => Policy::with_compatibility(&RetrySettings::default(), CodeSet::EMPTY, compatibility),
            };
            policy.with_hedging(hedging).with_budget(budget.cloned()).with_version(version)
        });
        let mut policies = Self { entries, by_path: HashMap::new(), compatibility, observers };
        let own = |path: Box<str>| {
            let policy = policies.of(&path, described.get(&path))?.with_own_latencies()?;
            Some((path, policy))
        };
        policies.by_path = paths.into_iter().filter_map(own).collect();
        policies
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

    /// The policy of the method at that path; `None`: the table has no settings for it.
    fn of(&self, path: &str, described: Option<&MethodDescription>) -> Option<&Policy> {
        let (service, method) = path.rsplit_once('/')?;
        self.entries.find(service, method, described.is_some_and(MethodDescription::is_idempotent))
    }
}

/// Short: its table alone may have hundreds of entries.
impl fmt::Debug for TableConfigs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableConfigs")
            .field("table", self.policies.load().entries.table())
            .field("options", &self.inputs.options)
            .finish_non_exhaustive()
    }
}
