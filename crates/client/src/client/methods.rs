//! The methods of a generated client.

use crate::client::method::Method;
use crate::google::ClientHeaders;
use crate::settings::{CallSettings, ClientConfig, Codec, MethodInfo};
use gax_driver::__private::{CurrentPolicies, Loaded, Observers, Replaceable, ReplayMemory};
use gax_driver::LivePolicies;
use gax_retry::RetryBudget;
use http::Uri;
use std::ops::Deref;
use std::sync::Arc;
use tonic::GrpcMethod;
use tonic_gax::__private::{ExampleRequest, MethodConfig, SharedState};

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
