//! The state that all calls through a layer share, and the client below it.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::config::HttpConfig;
use crate::failure::Connections;
use crate::options::HttpCallOptions;
use gax_driver::__private::{Observers, Replaceable, is_nested_retry};
use gax_driver::protocol::Start;
use gax_driver::{CallOptions, OperationOptions};
use gax_retry::http::{IdempotencyStrategy, Preset};
use gax_wire::__private::SharedService;
use http::request::Parts;
use std::sync::Arc;

/// The client below the layer, and what the layer knows.
#[derive(Clone)]
pub struct LayeredClient<S> {
    pub service: S,
    spare: SharedService<S>,
    pub shared: Arc<SharedState>,
}

impl<S: Clone> LayeredClient<S> {
    pub(super) fn new(service: S, shared: Arc<SharedState>) -> Self {
        Self { spare: SharedService::of(&service), service, shared }
    }

    /// The service has failed: it is neither called nor asked again.
    pub(super) fn renew(&mut self) {
        self.service = self.spare.copy();
    }
}

/// The state that all calls through a layer share.
pub struct SharedState {
    pub(crate) config: Replaceable<Arc<HttpConfig>>,
    pub(crate) options: OperationOptions,
    /// The observers of the operations; `None`: there are none.
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) connections: Connections,
}

impl SharedState {
    /// The start of each operation: its observers, and the source of its jitter.
    #[inline]
    pub(crate) fn start(&self) -> Start<'_> {
        Start::new(self.observers.as_deref(), &self.options.jitter)
    }

    /// The policy of one call: the layer's, or that of the request's rule, unless the call brings something along.
    pub fn config_for(&self, parts: &mut Parts) -> Arc<HttpConfig> {
        let loaded = self.config.load();
        let own = HttpConfig::of_rule(&loaded, parts);
        let extensions = &mut parts.extensions;
        let is_nested = is_nested_retry(&own.policy);
        if extensions.is_empty() && !is_nested {
            return Arc::clone(own);
        }
        let preset = extensions.remove::<Preset>();
        let options = extensions.remove::<CallOptions>();
        let strategy = extensions.remove::<IdempotencyStrategy>();
        let limits = extensions.remove::<HttpCallOptions>();
        let is_plain = preset.is_none() && options.is_none() && strategy.is_none() && limits.is_none();
        if is_plain && !is_nested {
            return Arc::clone(own);
        }
        let mut config = HttpConfig::clone(own);
        if let Some(preset) = preset {
            config = HttpConfig::of_preset(&preset);
            config.policy = config
                .policy
                .with_budget(own.policy.budget().cloned())
                .with_nested_retries(!own.policy.refuses_nested_retries())
                .with_version(own.policy.version().unwrap_or_default());
            (config.limits, config.reports) = (own.limits, own.reports);
        }
        if let Some(options) = options {
            config.apply(&options);
        }
        if let Some(strategy) = strategy {
            config.strategy = strategy;
        }
        if let Some(options) = limits {
            config.set_limits(options.over(config.limits));
        }
        if is_nested {
            config.set_inside_retry();
        }
        if !self.options.retries_are_enabled() {
            config.policy = config.policy.without_retries();
        }
        Arc::new(config.bounded_by(&self.options.caps()))
    }
}
