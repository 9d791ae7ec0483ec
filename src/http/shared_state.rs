//! What all calls through a layer share.

use super::failure::Connections;
use super::plan::HttpPlan;
use crate::operation::{JitterSeeds, Observers};
use crate::settings::CallOptions;
use gax_retry::{IdempotencyStrategy, Preset};
use http::Extensions;
use std::sync::Arc;
use std::time::Duration;

/// What all calls through a layer share.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) policy: Arc<HttpPlan>,
    pub(crate) limits: HttpLimits,
    pub(crate) jitter: JitterSeeds,
    /// Who is told of the operations; `None`: nobody.
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) connections: Connections,
}

/// What is kept and heeded of a call, whatever its policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpLimits {
    pub(crate) max_replay_bytes: usize,
    pub(crate) max_response_buffer: usize,
    pub(crate) body_idle_timeout: Option<Duration>,
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
        if preset.is_none() && options.is_none() && strategy.is_none() {
            return Arc::clone(&self.policy);
        }
        let mut policy = match preset {
            None => (*self.policy).clone(),
            Some(preset) => {
                let mut plan = HttpPlan::of_preset(&preset);
                plan.policy = plan.policy.with_budget(self.policy.policy.budget().cloned());
                plan
            }
        };
        if let Some(options) = options {
            policy.apply(&options);
        }
        if let Some(strategy) = strategy {
            policy.strategy = strategy;
        }
        Arc::new(policy)
    }
}
