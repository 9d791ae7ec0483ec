//! Which config is for which path.

use crate::google::{ClientHeaders, GoogleHeaders};
use crate::grpc::methods::config::MethodConfig;
use crate::grpc::methods::descriptors::{Described, Descriptions};
use crate::grpc::methods::method_map::MethodMap;
use crate::grpc::methods::method_match::MethodMatch;
use crate::grpc::methods::shared_state::SharedState;
#[cfg(feature = "tracing")]
use crate::grpc::methods::unnamed_calls::UnnamedCalls;
use crate::settings::CallSettings;
use gax_driver::__house::{BufferLimits, ReplayMemory, TableEntries};
use gax_driver::OperationOptions;
use gax_retry::{CodeSet, Hedging, MethodKind, Policy, RetryBudget, RetrySettings};
use gax_table::RetryTable;
use std::borrow::Borrow;
use std::sync::Arc;

/// A retry table made ready for calls: one config an entry, resolved once.
pub(crate) struct Methods {
    entries: TableEntries<ByKind>,
    described: Descriptions,
    /// The headers for Google's servers, if they are asked for.
    headers: Option<ClientHeaders>,
    /// Finds methods without taking their paths apart.
    by_path: MethodMap,
    #[cfg(feature = "tracing")]
    unnamed: UnnamedCalls,
}

/// The options of a layer, in addition to its table.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodOptions {
    pub(crate) described: Descriptions,
    pub(crate) google: Option<GoogleHeaders>,
    pub(crate) operation: OperationOptions,
    pub(crate) limits: BufferLimits,
    /// Of methods that may be hedged, and whose entries don't say how.
    pub(crate) hedging: Option<Hedging>,
    /// Shared by the layer's clones, and by the tables that replace each other.
    pub(crate) replay_memory: ReplayMemory,
}

/// A config for RPCs of different kinds.
#[derive(Debug)]
struct ByKind {
    /// For a unary RPC, a stream of responses, and a stream of requests.
    configs: [Arc<MethodConfig>; 3],
    /// Those for hedged RPCs that change nothing.
    reading: Option<[Arc<MethodConfig>; 3]>,
}

impl ByKind {
    fn of(config: &MethodConfig) -> Self {
        let kinds = [MethodKind::Unary, MethodKind::ServerStreaming, MethodKind::BidiStreaming];
        let configs = kinds.map(|kind| Arc::new(config.for_kind(kind)));
        let is_hedged = config.policy.hedging().is_some();
        let reading =
            is_hedged.then(|| configs.each_ref().map(|config| Arc::new((**config).clone().reading(true))));
        Self { configs, reading }
    }

    fn config(&self, described: Option<&Described>) -> Arc<MethodConfig> {
        let reading = self.reading.as_ref().filter(|_| described.is_some_and(|method| method.is_read_only));
        let [unary, response_stream, request_stream] = reading.unwrap_or(&self.configs);
        Arc::clone(match described.map(|method| method.kind) {
            Some(kind) if kind.streams_requests() => request_stream,
            Some(MethodKind::ServerStreaming) => response_stream,
            _ => unary,
        })
    }

    fn with_latencies_of(&self, before: &Self) -> Self {
        // They share the latencies of one method, or of an entry.
        let [before, ..] = &before.configs;
        let joined = |configs: &[Arc<MethodConfig>; 3]| {
            configs.each_ref().map(|config| Arc::new(MethodConfig::clone(config).with_latencies_of(before)))
        };
        Self { configs: joined(&self.configs), reading: self.reading.as_ref().map(joined) }
    }

    fn counts_latencies(&self) -> bool {
        self.configs.iter().any(|config| config.counts_latencies())
    }
}

impl Borrow<Policy> for ByKind {
    fn borrow(&self) -> &Policy {
        let [unary, ..] = &self.configs;
        &unary.policy
    }
}

impl Methods {
    /// A table's methods by the layer's options. The version is that of a table that can be replaced.
    pub(crate) fn new(
        table: RetryTable,
        version: Option<u64>,
        budget: Option<&RetryBudget>,
        options: &MethodOptions,
    ) -> Self {
        let MethodOptions { described, google, operation, limits, hedging, replay_memory } = options;
        let headers = google.as_ref().map(|google| ClientHeaders::new(google, None));
        let compatibility = operation.compatibility.unwrap_or(table.dialect().default_compatibility());
        let names = TableEntries::<ByKind>::paths(&table);
        let shared = Arc::new(SharedState {
            options: operation.clone(),
            compatibility,
            limits: *limits,
            headers: headers.clone().unwrap_or_default(),
            observers: operation.observers.registering(names.iter().chain(described.keys())).shared(),
            replay_memory: replay_memory.of(limits, compatibility),
            table_budget: budget.cloned(),
            version,
        });
        let entries = TableEntries::new(table, *hedging, |policy, hedging| {
            let settings = match policy {
                Some(policy) => CallSettings::of_policy(policy),
                None => CallSettings::new(RetrySettings::default(), CodeSet::EMPTY),
            };
            let settings = settings.with_hedging(hedging);
            ByKind::of(&MethodConfig::new(&settings, MethodKind::Unary, Arc::clone(&shared)))
        });
        let mut methods = Self {
            entries,
            described: described.clone(),
            headers,
            by_path: MethodMap::new(Vec::new()),
            #[cfg(feature = "tracing")]
            unnamed: UnnamedCalls::default(),
        };
        methods.by_path = MethodMap::new(methods.named(names));
        methods
    }

    /// The methods of these names, each with the latencies of its calls. Of the methods that descriptors alone know, those are
    /// among them that need that.
    fn named(&self, names: Vec<Box<str>>) -> Vec<(Box<str>, MethodMatch)> {
        let counts = |path: &str| self.resolve(path).is_some_and(|found| found.config.counts_latencies());
        let described = self.described.keys().filter(|path| counts(path)).cloned();
        let found = names.into_iter().chain(described).filter_map(|name| {
            let found = self.resolve(&name)?;
            let own = found.config.with_own_latencies();
            let config = Arc::new(own.as_ref().unwrap_or(&found.config).of_one_method());
            Some((name, MethodMatch { config, ..found }))
        });
        found.collect()
    }

    /// Replaces another table's methods. If a method is hedged after the same percentile, its latencies are kept; where an
    /// entry has the same names, so are those that its other methods share.
    pub(crate) fn with_latencies_of(mut self, before: &Self) -> Self {
        let counts = |(_, found): &(&str, &mut MethodMatch)| found.config.counts_latencies();
        for (name, found) in self.by_path.named_mut().filter(counts) {
            if let Some(before) = before.by_path.named(name) {
                found.config = Arc::new(MethodConfig::clone(&found.config).with_latencies_of(&before.config));
            }
        }
        self.entries.join(&before.entries, |config, before| {
            if config.counts_latencies() {
                *config = config.with_latencies_of(before);
            }
        });
        self
    }

    /// The method of a request to that path; `None` if the table has nothing to say about it.
    ///
    /// The last two segments of the path are the service and the method: an origin may put segments of its own before them.
    #[inline]
    pub(crate) fn find(&self, path: &str) -> Option<MethodMatch> {
        let found = self.by_path.find(path.strip_prefix('/').unwrap_or(path), || self.called(path));
        #[cfg(feature = "tracing")]
        if found.is_some() {
            self.unnamed.settle();
        }
        found
    }

    /// The method of a request to a path that is called for the first time, or that the table has nothing to say about.
    #[cold]
    fn called(&self, path: &str) -> Option<MethodMatch> {
        #[cfg(feature = "tracing")]
        if let Some((service, method)) = names(path)
            && self.entries.table().lookup(service, method).is_none_or(|policy| policy.entry().is_none())
            && let Some(problem) = self.unnamed.count(self.entries.table(), service, method)
        {
            tracing::warn!("{problem}");
        }
        self.resolve(path)
    }

    fn resolve(&self, path: &str) -> Option<MethodMatch> {
        let (service, method) = names(path)?;
        let described = self.described(path, service, method);
        let is_described = described.is_some_and(|method| method.is_idempotent);
        let own = self.entries.find(service, method, is_described);
        let configs = own.or_else(|| self.adds_headers(described).then(|| self.entries.unlisted()))?;
        Some(self.of_kind(configs, described))
    }

    /// A method that the table has nothing to say about, but a call's options have.
    pub(crate) fn unlisted(&self, path: &str) -> MethodMatch {
        let described = names(path).and_then(|(service, method)| self.described(path, service, method));
        self.of_kind(self.entries.unlisted(), described)
    }

    /// The config for a method, with the headers that its annotations lead to.
    fn of_kind(&self, configs: &ByKind, described: Option<&Described>) -> MethodMatch {
        let config = configs.config(described);
        let annotations = described.filter(|_| self.headers.is_some());
        let config = match annotations.and_then(|described| described.annotations.as_ref()) {
            Some(annotations) => Arc::new(MethodConfig::clone(&config).annotated(annotations)),
            None => config,
        };
        MethodMatch { config, kind: described.map(|method| method.kind) }
    }

    /// Whether requests to the method get headers, whatever the table says.
    fn adds_headers(&self, described: Option<&Described>) -> bool {
        let annotations = described.and_then(|described| described.annotations.as_deref());
        self.headers.as_ref().is_some_and(|headers| !headers.of_method(annotations).is_empty())
    }

    fn described(&self, path: &str, service: &str, method: &str) -> Option<&Described> {
        if self.described.is_empty() {
            return None;
        }
        let tail = path.len().checked_sub(service.len() + 1 + method.len())?;
        self.described.get(path.get(tail..)?)
    }
}

/// The service and the method of a path.
fn names(path: &str) -> Option<(&str, &str)> {
    let (rest, method) = path.rsplit_once('/')?;
    Some((rest.rsplit('/').next()?, method))
}
