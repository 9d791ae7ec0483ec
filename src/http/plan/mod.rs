//! Which requests are retried, how, and whether it is safe.

mod by_rule;
mod http_plan;
mod layer_options;
mod plans;

pub(crate) use http_plan::{HttpLimits, HttpPlan};
pub(crate) use layer_options::{ConfigSource, LayerOptions};
pub(crate) use plans::Plans;
