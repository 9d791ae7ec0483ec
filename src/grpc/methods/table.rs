//! Which plan is for which path.

use super::plan::MethodPlan;
use super::replay_memory::ReplayMemory;
use crate::operation::{JitterSeeds, Observers};
use crate::settings::{BufferLimits, CallSettings};
use gax_retry::{CodeSet, Compatibility, MethodKind, RetryBudget, RetrySettings};
use gax_table::{Dialect, RetryTable};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A retry table made ready for calls: one plan an entry, resolved once.
#[derive(Debug)]
pub(crate) struct Methods {
    table: RetryTable,
    plans: Vec<Plans>,
    /// No limits, and nothing retried: what a call of an unlisted method changes by its own options.
    unlisted: Plans,
    kinds: Kinds,
    /// What the table names, by path without the leading slash.
    named: HashMap<Box<str>, Named, BuildHasherDefault<PathHasher>>,
}

/// What a layer is set to, besides its table.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodOptions {
    pub(crate) kinds: Kinds,
    /// `None`: as the table's dialect has it.
    pub(crate) compatibility: Option<Compatibility>,
    pub(crate) limits: BufferLimits,
    pub(crate) jitter: JitterSeeds,
    pub(crate) observers: Observers,
    /// Shared by the layer's clones, and by the tables that replace each other.
    pub(crate) replay_memory: ReplayMemory,
}

/// What one entry means for RPCs of different kinds.
#[derive(Debug)]
struct Plans {
    usual: Arc<MethodPlan>,
    /// For RPCs with a stream on either side.
    stream: Arc<MethodPlan>,
}

impl Plans {
    fn of(plan: MethodPlan) -> Self {
        Self { stream: Arc::new(plan.for_stream()), usual: Arc::new(plan) }
    }

    fn for_kind(&self, kind: Option<MethodKind>) -> &Arc<MethodPlan> {
        match kind {
            Some(kind) if !kind.is_unary() => &self.stream,
            _ => &self.usual,
        }
    }
}

/// A method that the table names, found without taking its path apart.
#[derive(Debug)]
struct Named {
    plan: Arc<MethodPlan>,
    kind: Option<MethodKind>,
}

/// The kinds of the methods that descriptors were given for, by path without the leading slash.
pub(crate) type Kinds = HashMap<Box<str>, MethodKind>;

/// What is known of a method.
pub(crate) struct Found<'a> {
    pub(crate) plan: &'a Arc<MethodPlan>,
    pub(crate) kind: Option<MethodKind>,
}

impl Methods {
    /// A table's methods by what the layer is set to. The version is that of a table that can be replaced.
    pub(crate) fn new(
        table: RetryTable,
        version: Option<u64>,
        budget: Option<&RetryBudget>,
        options: &MethodOptions,
    ) -> Self {
        let MethodOptions { kinds, limits, jitter, observers, replay_memory, .. } = options;
        let compatibility = options.compatibility.unwrap_or(match table.dialect() {
            Dialect::Grpc => Compatibility::Grpc,
            _ => Compatibility::Documented,
        });
        let observers = observers.registering(method_names(&table).iter().chain(kinds.keys())).shared();
        let plan = |settings| {
            let plan = MethodPlan::new(&settings, compatibility, *limits, jitter, budget);
            let plan = plan.observed_by(observers.clone()).of_version(version);
            Plans::of(plan.replaying(replay_memory.of(limits, compatibility)))
        };
        let plans: Vec<_> = (0..table.entry_count())
            .filter_map(|index| table.entry(index))
            .map(CallSettings::of_policy)
            .map(plan)
            .collect();
        let unlisted = plan(CallSettings::new(RetrySettings::default(), CodeSet::EMPTY));
        let kinds = kinds.clone();
        let mut methods = Self { table, plans, unlisted, kinds, named: HashMap::default() };
        for name in method_names(&methods.table) {
            if let Some(Found { plan, kind }) = methods.resolve(&name) {
                let entry = Named { plan: Arc::clone(plan), kind };
                methods.named.insert(name, entry);
            }
        }
        methods
    }

    /// The method of a path; `None` if the table has nothing to say about it.
    ///
    /// The last two segments are the service and the method: an origin may put segments of its own before
    /// them.
    pub(crate) fn find(&self, path: &str) -> Option<Found<'_>> {
        match self.named.get(path.strip_prefix('/').unwrap_or(path)) {
            Some(Named { plan, kind }) => Some(Found { plan, kind: *kind }),
            None => self.resolve(path),
        }
    }

    fn resolve(&self, path: &str) -> Option<Found<'_>> {
        let (service, method) = names(path)?;
        let plans = self.plans.get(self.table.lookup(service, method)?.entry()?)?;
        let kind = self.kind(path, service, method);
        Some(Found { plan: plans.for_kind(kind), kind })
    }

    /// A method that the table has nothing to say about, but a call's options have.
    pub(crate) fn unlisted(&self, path: &str) -> Found<'_> {
        let kind = names(path).and_then(|(service, method)| self.kind(path, service, method));
        Found { plan: self.unlisted.for_kind(kind), kind }
    }

    fn kind(&self, path: &str, service: &str, method: &str) -> Option<MethodKind> {
        if self.kinds.is_empty() {
            return None;
        }
        let tail = path.len().checked_sub(service.len() + 1 + method.len())?;
        self.kinds.get(path.get(tail..)?).copied()
    }
}

/// The methods that a table names, as `package.Service/Method`.
fn method_names(table: &RetryTable) -> Vec<Box<str>> {
    let names = table.names();
    names.filter_map(|name| Some(format!("{}/{}", name.service(), name.method()?).into())).collect()
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
