//! Which plan is for which path.

use super::called::Called;
use super::descriptors::{Described, Descriptions};
use super::found::Found;
use super::learned::Learned;
use super::plan::MethodPlan;
use super::replay_memory::ReplayMemory;
use crate::settings::{BufferLimits, CallSettings, OperationOptions};
use gax_retry::{CodeSet, Compatibility, Hedging, MethodKind, RetryBudget, RetrySettings};
use gax_table::{Dialect, RetryTable};
use http::Uri;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};
use std::sync::Arc;

type Hash = BuildHasherDefault<PathHasher>;

/// A retry table made ready for calls: one plan an entry, resolved once.
#[derive(Debug)]
pub(crate) struct Methods {
    table: RetryTable,
    plans: Vec<Plans>,
    /// No limits, and nothing retried: what a call of an unlisted method changes by its own options.
    unlisted: Plans,
    described: Descriptions,
    /// What the table names, by path without the leading slash: found without taking that apart.
    named: HashMap<Box<str>, Found, Hash>,
    learned: Learned,
    called: Called,
}

/// What a layer is set to, besides its table.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodOptions {
    pub(crate) described: Descriptions,
    pub(crate) operation: OperationOptions,
    pub(crate) limits: BufferLimits,
    /// Of methods that may be hedged, and whose entries don't say how.
    pub(crate) hedging: Option<Hedging>,
    /// Shared by the layer's clones, and by the tables that replace each other.
    pub(crate) replay_memory: ReplayMemory,
}

/// What one entry means for its methods.
#[derive(Debug)]
struct Plans {
    own: ByKind,
    /// For those of its methods that may be hedged, where the layer hedges.
    hedged: Option<ByKind>,
}

/// A plan for RPCs of different kinds.
#[derive(Debug)]
struct ByKind {
    /// For a unary RPC, a stream of responses, and a stream of requests.
    plans: [Arc<MethodPlan>; 3],
    /// The same for hedged RPCs that change nothing.
    reading: Option<[Arc<MethodPlan>; 3]>,
}

impl ByKind {
    fn of(plan: &MethodPlan) -> Self {
        let kinds = [MethodKind::Unary, MethodKind::ServerStreaming, MethodKind::BidiStreaming];
        let plans = kinds.map(|kind| Arc::new(plan.for_kind(kind)));
        let is_hedged = plan.policy.hedging().is_some();
        let reading =
            is_hedged.then(|| plans.each_ref().map(|plan| Arc::new((**plan).clone().reading(true))));
        Self { plans, reading }
    }

    fn plan(&self, described: Option<Described>) -> Arc<MethodPlan> {
        let reading = self.reading.as_ref().filter(|_| described.is_some_and(|method| method.is_read_only));
        let [unary, response_stream, request_stream] = reading.unwrap_or(&self.plans);
        Arc::clone(match described.map(|method| method.kind) {
            Some(kind) if kind.streams_requests() => request_stream,
            Some(MethodKind::ServerStreaming) => response_stream,
            _ => unary,
        })
    }

    #[cfg(feature = "live")]
    fn with_latencies_of(&self, before: &Self) -> Self {
        // They share the latencies of one method, or of an entry.
        let [before, ..] = &before.plans;
        let joined = |plans: &[Arc<MethodPlan>; 3]| {
            plans.each_ref().map(|plan| Arc::new(MethodPlan::clone(plan).with_latencies_of(before)))
        };
        Self { plans: joined(&self.plans), reading: self.reading.as_ref().map(joined) }
    }

    #[cfg(feature = "live")]
    fn counts_latencies(&self) -> bool {
        self.plans.iter().any(|plan| plan.counts_latencies())
    }
}

#[cfg(feature = "live")]
impl Plans {
    fn count_latencies(&self) -> bool {
        self.own.counts_latencies() || self.hedged.as_ref().is_some_and(ByKind::counts_latencies)
    }

    /// Those of the same entry in the table before.
    fn go_on_from(&mut self, before: &Self) {
        self.own = self.own.with_latencies_of(&before.own);
        if let (Some(hedged), Some(before)) = (&mut self.hedged, &before.hedged) {
            *hedged = hedged.with_latencies_of(before);
        }
    }
}

impl Methods {
    /// A table's methods by what the layer is set to. The version is that of a table that can be replaced.
    pub(crate) fn new(
        table: RetryTable,
        version: Option<u64>,
        budget: Option<&RetryBudget>,
        options: &MethodOptions,
    ) -> Self {
        let MethodOptions { described, operation, limits, hedging, replay_memory } = options;
        let compatibility = operation.compatibility.unwrap_or(match table.dialect() {
            Dialect::Grpc => Compatibility::Grpc,
            _ => Compatibility::Documented,
        });
        let names = method_names(&table);
        let observers = operation.observers.registering(names.iter().chain(described.keys())).shared();
        let plan = |settings: &CallSettings| {
            let plan = MethodPlan::new(settings, compatibility, *limits, operation, budget);
            let plan = plan.observed_by(observers.clone()).of_version(version);
            ByKind::of(&plan.replaying(replay_memory.of(limits, compatibility)))
        };
        let plans = |settings: CallSettings| {
            let hedging = hedging.filter(|_| settings.hedging().is_none());
            let own = plan(&settings);
            Plans { own, hedged: hedging.map(|hedging| plan(&settings.with_hedging(Some(hedging)))) }
        };
        let entries = (0..table.entry_count()).filter_map(|index| table.entry(index));
        let entries: Vec<_> = entries.map(CallSettings::of_policy).map(plans).collect();
        let unlisted = plans(CallSettings::new(RetrySettings::default(), CodeSet::EMPTY));
        let described = described.clone();
        let mut methods = Self {
            table,
            plans: entries,
            unlisted,
            described,
            named: HashMap::default(),
            learned: Learned::default(),
            called: Called::default(),
        };
        methods.keep(names);
        methods
    }

    /// Keeps the methods of these names to be found at once. Each has the latencies of its own calls; of the methods that
    /// descriptors alone know, those are kept that need that.
    fn keep(&mut self, names: Vec<Box<str>>) {
        let described = self
            .described
            .keys()
            .filter(|path| self.resolve(path).is_some_and(|found| found.plan.counts_latencies()));
        let described: Vec<_> = described.cloned().collect();
        for name in names.into_iter().chain(described) {
            if let Some(found) = self.resolve(&name) {
                let own = found.plan.with_own_latencies();
                let plan = own.as_ref().unwrap_or(&found.plan).of_one_method();
                self.named.insert(name, Found { plan: Arc::new(plan), ..found });
            }
        }
    }

    /// The same in place of another table's. Where a method is hedged after the same percentile, its latencies go on to count;
    /// where an entry has the same names, those that its other methods share.
    #[cfg(feature = "live")]
    pub(crate) fn with_latencies_of(mut self, before: &Self) -> Self {
        for (name, found) in self.named.iter_mut().filter(|(_, found)| found.plan.counts_latencies()) {
            if let Some(before) = before.named.get(name) {
                found.plan = Arc::new(MethodPlan::clone(&found.plan).with_latencies_of(&before.plan));
            }
        }
        let table = &self.table;
        let names = |table: &RetryTable, entry| -> Vec<String> {
            table.names_of(entry).map(|name| name.to_string()).collect()
        };
        for (entry, (plans, others)) in self.plans.iter_mut().zip(&before.plans).enumerate() {
            if plans.count_latencies() && names(table, entry) == names(&before.table, entry) {
                plans.go_on_from(others);
            }
        }
        self
    }

    /// The method of a request to that URI, if it goes where requests to the method usually go, and was called before.
    #[inline]
    pub(crate) fn find_called(&self, uri: &Uri) -> Option<Found> {
        self.called.find(uri)
    }

    /// The method of a request to that URI; `None` if the table has nothing to say about it.
    ///
    /// The last two segments of its path are the service and the method: an origin may put segments of its own before
    /// them.
    #[cold]
    pub(crate) fn find(&self, uri: &Uri) -> Option<Found> {
        let found = self.named(uri.path())?;
        self.called.keep(uri, &found);
        Some(found)
    }

    fn named(&self, path: &str) -> Option<Found> {
        let name = path.strip_prefix('/').unwrap_or(path);
        match self.named.get(name) {
            Some(found) => Some(found.clone()),
            None => self.learned.find(name, self.named.hasher().hash_one(name), || self.resolve(path)),
        }
    }

    fn resolve(&self, path: &str) -> Option<Found> {
        let (service, method) = names(path)?;
        let entry = self.table.lookup(service, method).and_then(|policy| policy.entry());
        let plans = match entry {
            Some(entry) => self.plans.get(entry)?,
            None => &self.unlisted,
        };
        let described = self.described(path, service, method);
        let hedged = plans.hedged.as_ref().filter(|hedged| {
            let is_allowed = entry.is_some() && hedged.plans[0].hedges_non_idempotent();
            let is_described = entry.is_some() && described.is_some_and(|method| method.is_idempotent);
            is_allowed || self.table.idempotent(service, method).unwrap_or(is_described)
        });
        if entry.is_none() && hedged.is_none() {
            return None;
        }
        let kind = described.map(|method| method.kind);
        Some(Found { plan: hedged.unwrap_or(&plans.own).plan(described), kind })
    }

    /// A method that the table has nothing to say about, but a call's options have.
    pub(crate) fn unlisted(&self, path: &str) -> Found {
        let described = names(path).and_then(|(service, method)| self.described(path, service, method));
        let kind = described.map(|method| method.kind);
        Found { plan: self.unlisted.own.plan(described), kind }
    }

    fn described(&self, path: &str, service: &str, method: &str) -> Option<Described> {
        if self.described.is_empty() {
            return None;
        }
        let tail = path.len().checked_sub(service.len() + 1 + method.len())?;
        self.described.get(path.get(tail..)?).copied()
    }
}

/// The methods that a table names, as `package.Service/Method`.
fn method_names(table: &RetryTable) -> Vec<Box<str>> {
    let entries = table.names().filter_map(|name| Some((name.service(), name.method()?)));
    let beside = table.named_beside().into_iter().filter(|(_, method)| !method.is_empty());
    entries.chain(beside).map(|(service, method)| format!("{service}/{method}").into()).collect()
}

/// The service and the method of a path.
fn names(path: &str) -> Option<(&str, &str)> {
    let (rest, method) = path.rsplit_once('/')?;
    Some((rest.rsplit('/').next()?, method))
}

/// A quick hash for paths: of their length and their end, where methods differ. They are the program's own:
/// nobody outside can choose ones that collide.
#[derive(Debug, Default)]
struct PathHasher(u64);

impl PathHasher {
    fn mix(&mut self, word: u64) {
        // FxHash's.
        const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for PathHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.mix(bytes.len() as u64);
        let (_, end) = bytes.as_rchunks();
        match end.last_chunk::<2>() {
            Some(two) => two.iter().for_each(|word| self.mix(u64::from_le_bytes(*word))),
            None => bytes.iter().for_each(|byte| self.mix(u64::from(*byte))),
        }
    }

    /// What ends a string is the same for all.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
