//! The state that all calls through a layer share.

use crate::http::failure::Connections;
use crate::http::options::HttpCallOptions;
use crate::http::plan::{HttpPlan, Plans};
use crate::live::Replaceable;
use crate::operation::{Observers, is_nested_retry};
use crate::settings::{CallOptions, OperationOptions};
use gax_retry::{IdempotencyStrategy, Preset};
use http::Extensions;
use std::fmt;
use std::sync::Arc;

/// The state that all calls through a layer share.
pub(crate) struct SharedState {
    pub(crate) plan: Replaceable<Plans>,
    pub(crate) options: OperationOptions,
    /// The observers of the operations; `None`: there are none.
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) connections: Connections,
}

impl SharedState {
    /// The policy of one call: the layer's, unless the call brings something along.
    pub(super) fn plan_for(&self, extensions: &mut Extensions) -> Arc<HttpPlan> {
        let plans = self.plan.load();
        let is_nested = is_nested_retry(&plans.bounded.policy);
        if extensions.is_empty() && !is_nested {
            return Arc::clone(&plans.bounded);
        }
        let preset = extensions.remove::<Preset>();
        let options = extensions.remove::<CallOptions>();
        let strategy = extensions.remove::<IdempotencyStrategy>();
        let limits = extensions.remove::<HttpCallOptions>();
        let is_plain = preset.is_none() && options.is_none() && strategy.is_none() && limits.is_none();
        if is_plain && !is_nested {
            return Arc::clone(&plans.bounded);
        }
        let own = &plans.unbounded;
        let mut plan = HttpPlan::clone(own);
        if let Some(preset) = preset {
            plan = HttpPlan::of_preset(&preset);
            plan.policy = plan
                .policy
                .with_budget(own.policy.budget().cloned())
                .with_nested_retries(!own.policy.refuses_nested_retries())
                .with_version(own.policy.version().unwrap_or_default());
            (plan.limits, plan.reports) = (own.limits, own.reports);
        }
        if let Some(options) = options {
            plan.apply(&options);
        }
        if let Some(strategy) = strategy {
            plan.strategy = strategy;
        }
        if let Some(options) = limits {
            plan.set_limits(options.over(plan.limits));
        }
        if is_nested {
            plan.set_inside_retry();
        }
        if !self.options.retries_are_enabled() {
            plan.policy = plan.policy.without_retries();
        }
        Arc::new(plan.bounded_by(&self.options.caps()))
    }
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState").field("plans", &*self.plan.load()).finish_non_exhaustive()
    }
}
