//! What all calls through a layer share.

use super::failure::Connections;
use super::options::HttpCallOptions;
use super::plan::HttpPlan;
use crate::operation::{JitterSeeds, Observers};
use crate::settings::CallOptions;
use gax_retry::{IdempotencyStrategy, Preset};
use http::Extensions;
use std::sync::Arc;

/// What all calls through a layer share.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) policy: Arc<HttpPlan>,
    /// Whether anything is retried; calls don't change that.
    pub(crate) retries_enabled: bool,
    pub(crate) jitter: JitterSeeds,
    /// Who is told of the operations; `None`: nobody.
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) connections: Connections,
}

impl SharedState {
    /// The policy of one call: the layer's, unless the call brings something along.
    pub(super) fn plan_for(&self, extensions: &mut Extensions) -> Arc<HttpPlan> {
        if extensions.is_empty() {
            return Arc::clone(&self.policy);
        }
        let preset = extensions.remove::<Preset>();
        let options = extensions.remove::<CallOptions>();
        let strategy = extensions.remove::<IdempotencyStrategy>();
        let limits = extensions.remove::<HttpCallOptions>();
        if preset.is_none() && options.is_none() && strategy.is_none() && limits.is_none() {
            return Arc::clone(&self.policy);
        }
        let mut plan = (*self.policy).clone();
        if let Some(preset) = preset {
            plan = HttpPlan::of_preset(&preset);
            plan.policy = plan.policy.with_budget(self.policy.policy.budget().cloned());
            (plan.limits, plan.reports) = (self.policy.limits, self.policy.reports);
        }
        if let Some(options) = options {
            plan.apply(&options);
        }
        if let Some(strategy) = strategy {
            plan.strategy = strategy;
        }
        if let Some(options) = limits {
            plan.limits = options.over(plan.limits);
        }
        if !self.retries_enabled {
            plan.policy = plan.policy.without_retries();
        }
        Arc::new(plan)
    }
}
