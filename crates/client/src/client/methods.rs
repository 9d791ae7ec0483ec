//! The methods of a generated client.

use crate::client::codec::Codec;
use crate::google::ClientHeaders;
use crate::settings::{CallSettings, ClientConfig, MethodInfo};
use gax_driver::__private::{CurrentPolicies, Loaded, Observers, Replaceable, ReplayMemory};
use gax_driver::LivePolicies;
use gax_retry::{MethodKind, RetryBudget};
use gax_streams::resumption::Resumption;
use http::Uri;
use http::uri::PathAndQuery;
use std::ops::Deref;
use std::sync::Arc;
use tonic::GrpcMethod;
use tonic_gax::__private::{ExampleRequest, MethodConfig, SharedState};
use tonic_gax::note;

/// A method as all its calls share it. Resolved once, when the client is made.
#[derive(Debug, Clone)]
pub(super) struct Method {
    pub(super) path: PathAndQuery,
    pub(super) kind: MethodKind,
    /// With the request that all to the method are like.
    pub(super) config: Arc<MethodConfig>,
    /// How messages are written and read.
    pub(super) codec: Arc<Codec>,
    pub(super) resumption: Option<Resumption>,
}

impl Method {
    /// Returns whether its streams resume, or their callers are watched.
    pub(super) fn streams_by_itself(&self) -> bool {
        self.resumption.is_some() || !self.config.stream.is_empty()
    }

    /// Puts the method at an origin.
    pub(super) fn set_origin(&mut self, origin: &Uri) {
        let mut parts = origin.clone().into_parts();
        let prefix = origin.path().trim_end_matches('/');
        let path =
            if prefix.is_empty() { Ok(self.path.clone()) } else { format!("{prefix}{}", self.path).parse() };
        parts.path_and_query = path.ok();
        let uri = Uri::from_parts(parts).unwrap_or_else(|_| origin.clone());
        let description = self.config.example().and_then(|example| example.description.clone());
        self.config = Arc::new(MethodConfig::clone(&self.config).like(ExampleRequest { uri, description }));
    }

    /// Changes how messages are written and read.
    pub(super) fn set_codec(&mut self, change: impl FnOnce(&mut Codec)) {
        let mut codec = Codec::clone(&self.codec);
        change(&mut codec);
        self.config = Arc::new(codec.buffering(MethodConfig::clone(&self.config)));
        self.codec = Arc::new(codec);
    }
}

impl Codec {
    /// The config for a client that decodes messages itself: one that is longer than its longest response could not be decoded anyway.
    pub(super) fn buffering(&self, config: MethodConfig) -> MethodConfig {
        config.buffering(self.longest_response(), note::MESSAGE_ABOVE_DECODING_LIMIT)
    }
}

/// The methods of a client, by their index. If its settings follow a handle, they are made again for each table.
#[derive(Clone)]
pub(super) struct Methods {
    list: Replaceable<List>,
}

pub(super) struct List {
    methods: Box<[Method]>,
    configs: Arc<Configs>,
}

impl Deref for List {
    type Target = [Method];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.methods
    }
}

impl Methods {
    pub(super) fn new(settings: ClientConfig) -> Self {
        let observers = settings.options.observers.shared();
        let configs = Configs {
            observers,
            headers: settings.headers(),
            settings,
            replay_memory: ReplayMemory::default(),
        };
        let methods = configs.methods();
        Self { list: Arc::new(configs).list(methods) }
    }

    #[inline]
    pub(super) fn load(&self) -> Loaded<'_, List> {
        self.list.load()
    }

    /// Changes each method, whatever its settings are.
    pub(super) fn changed(self, change: impl Fn(&mut Method)) -> Self {
        let changed = |method: &Method| {
            let mut method = method.clone();
            change(&mut method);
            method
        };
        let list = self.list.load();
        let methods = list.iter().map(changed).collect();
        Self { list: list.configs.list(methods) }
    }
}

/// Makes the configs of a client's methods.
struct Configs {
    settings: ClientConfig,
    observers: Option<Arc<Observers>>,
    headers: ClientHeaders,
    replay_memory: ReplayMemory,
}

impl Configs {
    /// By the client's own settings.
    fn methods(&self) -> Box<[Method]> {
        let shared = self.shared(None, self.settings.table_budget.clone());
        let is_described = self.settings.method_extension;
        let method = |(info, call): (&'static MethodInfo, &CallSettings)| {
            let example = ExampleRequest {
                uri: Uri::from(info.path_and_query()),
                description: is_described.then(|| GrpcMethod::new(info.service(), info.name())),
            };
            let codec = Codec::default();
            let config = Arc::new(codec.buffering(self.config(info, call, &shared)).like(example));
            let resumption = call.resumption.clone();
            Method {
                path: info.path_and_query(),
                kind: info.kind(),
                config,
                codec: Arc::new(codec),
                resumption,
            }
        };
        self.settings.stub.calls().map(method).collect()
    }

    fn shared(&self, version: Option<u64>, table_budget: Option<RetryBudget>) -> Arc<SharedState> {
        let ClientConfig { options, replay, .. } = &self.settings;
        let compatibility = options.compatibility.unwrap_or_default();
        Arc::new(SharedState {
            options: options.clone(),
            compatibility,
            replay: *replay,
            streams: None,
            observers: self.observers.clone(),
            replay_memory: self.replay_memory.of(replay, compatibility),
            table_budget,
            version,
        })
    }

    /// These methods, by whichever policies count, if they follow any.
    fn list(self: &Arc<Self>, methods: Box<[Method]>) -> Replaceable<List> {
        match &self.settings.followed {
            Some(followed) => self.follow(&followed.live, methods),
            None => Replaceable::fixed(List { methods, configs: Arc::clone(self) }),
        }
    }

    fn follow(self: &Arc<Self>, live: &LivePolicies, methods: Box<[Method]>) -> Replaceable<List> {
        let configs = Arc::clone(self);
        let make = move |current: &CurrentPolicies, before: Option<&List>| -> List {
            let stub = &configs.settings.stub;
            let shared = configs.shared(current.version, current.budget.clone());
            let calls = stub.calls().zip(stub.calls_by(&current.policies));
            let method =
                |(method, ((info, _), call)): (&Method, ((&'static MethodInfo, _), CallSettings))| {
                    let config = method.codec.buffering(configs.config(info, &call, &shared));
                    let resumption = call.resumption.clone();
                    let config = Arc::new(config.like_those_of(&method.config));
                    Method { config, resumption, ..method.clone() }
                };
            let mut methods: Box<[_]> = methods.iter().zip(calls).map(method).collect();
            for (method, before) in methods.iter_mut().zip(before.iter().flat_map(|before| before.iter())) {
                method.config =
                    Arc::new(MethodConfig::clone(&method.config).with_latencies_of(&before.config));
            }
            List { methods, configs: Arc::clone(&configs) }
        };
        let known = self.settings.stub.paths().map(String::into_boxed_str).collect();
        Replaceable::live(live.follow(make, Some(known)))
    }

    fn config(&self, info: &MethodInfo, call: &CallSettings, shared: &Arc<SharedState>) -> MethodConfig {
        let config = MethodConfig::new(&call.method, info.kind(), Arc::clone(shared));
        config.reading(info.is_read_only()).with_own_headers(self.headers.of_method(info.annotations()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{Compatibility, MethodSettings};

    fn method() -> Method {
        let shared = Arc::new(SharedState::new(Compatibility::Documented));
        let path = PathAndQuery::from_static("/pkg.Service/Method");
        let config = Arc::new(MethodConfig::new(&MethodSettings::default(), MethodKind::Unary, shared));
        Method { path, kind: MethodKind::Unary, config, codec: Arc::default(), resumption: None }
    }

    fn uri(origin: &'static str) -> String {
        let mut method = method();
        method.set_origin(&Uri::from_static(origin));
        method.config.example().unwrap().uri.to_string()
    }

    #[test]
    fn an_origin_may_have_a_path() {
        assert_eq!(uri("http://host:1"), "http://host:1/pkg.Service/Method");
        assert_eq!(uri("http://host/prefix"), "http://host/prefix/pkg.Service/Method");
        assert_eq!(uri("http://host/prefix/"), "http://host/prefix/pkg.Service/Method");
    }

    #[test]
    fn as_much_is_held_back_as_may_be_read() {
        let mut method = method();
        method.set_codec(|codec| codec.max_decoding = Some(10));
        assert_eq!(method.config.max_response_buffer, 15);
    }
}
