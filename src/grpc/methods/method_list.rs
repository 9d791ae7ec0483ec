//! Which config is for which path.

use crate::grpc::methods::config::MethodConfig;
use crate::grpc::methods::method_map::MethodMap;
use crate::grpc::methods::method_match::MethodMatch;
use crate::grpc::methods::shared_state::SharedState;
#[cfg(feature = "tracing")]
use crate::grpc::methods::unnamed_calls::UnnamedCalls;
use crate::grpc::take_over::TakeOver;
use crate::headers::MethodHeaders;
use gax_driver::__private::{CurrentPolicies, PolicyEntries, ReplayMemory};
use gax_driver::OperationOptions;
use gax_driver::ReplayOptions;
use gax_retry::{Hedging, MethodFacts, MethodKind, MethodPolicies, Policy};
use std::borrow::Borrow;
use std::sync::Arc;

/// Policies made ready for calls: one config an entry, resolved once.
pub(crate) struct Methods {
    entries: PolicyEntries<ByKind>,
    headers: Option<HeaderSource>,
    /// Finds methods without taking their paths apart.
    by_path: MethodMap,
    #[cfg(feature = "tracing")]
    unnamed: UnnamedCalls,
}

/// The headers of methods in addition to those of gRPC, by `package.Service/Method`.
pub(super) type HeaderSource = Arc<dyn Fn(&str) -> Option<MethodHeaders> + Send + Sync>;

/// The options of a layer, in addition to its policies.
#[derive(Clone, Default)]
pub(crate) struct MethodOptions {
    /// The facts of methods in addition to those of the policies.
    pub facts: Vec<(Box<str>, MethodFacts)>,
    pub headers: Option<HeaderSource>,
    /// Who runs the calls of methods whose settings have timeouts of streams.
    pub streams: Option<Arc<dyn TakeOver>>,
    pub operation: OperationOptions,
    pub replay: ReplayOptions,
    /// Of methods that may be hedged, and whose entries don't say how.
    pub hedging: Option<Hedging>,
    /// Shared by the layer's clones, and by the policies that replace each other.
    pub replay_memory: ReplayMemory,
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

    fn config(&self, facts: Option<&MethodFacts>) -> Arc<MethodConfig> {
        let reading = self.reading.as_ref().filter(|_| facts.is_some_and(MethodFacts::is_read_only));
        let [unary, response_stream, request_stream] = reading.unwrap_or(&self.configs);
        Arc::clone(match facts.map(MethodFacts::kind) {
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
    /// The methods of policies, by the layer's options.
    pub(crate) fn new(current: &CurrentPolicies, options: &MethodOptions) -> Self {
        let MethodOptions { facts, headers, streams, operation, replay, hedging, replay_memory } = options;
        let policies = current.policies.clone();
        let policies = if facts.is_empty() {
            policies
        } else {
            policies.facts(facts.iter().map(|(path, facts)| (path, *facts)))
        };
        let compatibility = operation.compatibility.unwrap_or(policies.own_compatibility());
        let names = PolicyEntries::<ByKind>::paths(&policies);
        let described: Vec<Box<str>> = policies.described().map(Box::from).collect();
        let shared = Arc::new(SharedState {
            options: operation.clone(),
            compatibility,
            replay: *replay,
            streams: streams.clone(),
            observers: operation.observers.registering(names.iter().chain(&described)).shared(),
            replay_memory: replay_memory.of(replay, compatibility),
            table_budget: current.budget.clone(),
            version: current.version,
        });
        let entries = PolicyEntries::new(policies, *hedging, |settings| {
            ByKind::of(&MethodConfig::new(settings, MethodKind::Unary, Arc::clone(&shared)))
        });
        let mut methods = Self {
            entries,
            headers: headers.clone(),
            by_path: MethodMap::new(Vec::new()),
            #[cfg(feature = "tracing")]
            unnamed: UnnamedCalls::default(),
        };
        methods.by_path = MethodMap::new(methods.named(names, described));
        methods
    }

    /// The methods of these names, each with the latencies of its calls. Of the methods that are described alone, those are
    /// among them that need that.
    fn named(&self, names: Vec<Box<str>>, described: Vec<Box<str>>) -> Vec<(Box<str>, MethodMatch)> {
        let counts = |path: &str| self.resolve(path).is_some_and(|found| found.config.counts_latencies());
        let described = described.into_iter().filter(|path| counts(path));
        let found = names.into_iter().chain(described).filter_map(|name| {
            let found = self.resolve(&name)?;
            let own = found.config.with_own_latencies();
            let config = Arc::new(own.as_ref().unwrap_or(&found.config).of_one_method());
            Some((name, MethodMatch { config, ..found }))
        });
        found.collect()
    }

    /// Replaces the methods of other policies. If a method is hedged after the same percentile, its latencies are kept; where an
    /// entry has the same names, so are those that its other methods share.
    pub(crate) fn with_latencies_of(mut self, before: &Self) -> Self {
        let counts = |(_, found): &(&str, &mut MethodMatch)| found.config.counts_latencies();
        for (name, found) in self.by_path.named_mut().filter(counts) {
            if let Some(before) = before.by_path.named(name) {
                found.config = Arc::new(MethodConfig::clone(&found.config).with_latencies_of(&before.config));
            }
        }
        #[cfg(feature = "tracing")]
        (self.unnamed = UnnamedCalls::after(&before.unnamed));
        self.entries.join(&before.entries, |config, before| {
            if config.counts_latencies() {
                *config = config.with_latencies_of(before);
            }
        });
        self
    }

    /// The method of a request to that path; `None` if nothing is said about it.
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

    /// The method of a request to a path that is called for the first time, or that nothing is said about.
    #[cold]
    fn called(&self, path: &str) -> Option<MethodMatch> {
        #[cfg(feature = "tracing")]
        self.look_at_name(MethodPolicies::service_and_method(path));
        self.resolve(path)
    }

    /// Warns if a name in the policies is most likely meant to be that of this method. Names of described methods were looked at before.
    #[cfg(feature = "tracing")]
    fn look_at_name(&self, path: &str) {
        let policies = self.entries.policies();
        let is_called =
            |name: &str| self.by_path.named(name).is_some_and(|found| found.config.example().is_some());
        if self.by_path.named(path).is_none() && policies.facts_of(path).is_none() {
            gax_driver::__private::unused_names::warn_of(|| self.unnamed.count(policies, path, is_called));
        }
    }

    fn resolve(&self, path: &str) -> Option<MethodMatch> {
        let headers = self.headers_of(path);
        let own = self.entries.find(path);
        let configs = own.or_else(|| headers.is_some().then(|| self.entries.unlisted()))?;
        Some(self.of_kind(configs, path, headers))
    }

    /// A method that nothing is said about, except by a call's options.
    pub(crate) fn unlisted(&self, path: &str) -> MethodMatch {
        self.of_kind(self.entries.unlisted(), path, self.headers_of(path))
    }

    /// The config for a method, with its headers.
    fn of_kind(&self, configs: &ByKind, path: &str, headers: Option<MethodHeaders>) -> MethodMatch {
        let facts = self.entries.policies().facts_of(path);
        let config = configs.config(facts);
        let config = match headers {
            Some(headers) => Arc::new(MethodConfig::clone(&config).with_own_headers(headers)),
            None => config,
        };
        MethodMatch { config, kind: facts.map(MethodFacts::kind) }
    }

    /// The headers that requests to the method get, whatever is said about it.
    fn headers_of(&self, path: &str) -> Option<MethodHeaders> {
        let headers = self.headers.as_ref()?;
        headers(MethodPolicies::service_and_method(path)).filter(|headers| !headers.is_empty())
    }
}
