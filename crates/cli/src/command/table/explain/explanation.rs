//! The explanation of a method, as programs read it.

use super::reader::Reader;
use crate::command::table::bounds::Bounds;
use crate::command::table::view::{
    Members, MethodView, batching_members, code_names, most_attempts, polling_members,
};
use crate::render::{Ms, Timeline};
use gax_retry::plan::Impact;
use gax_retry::{AttemptPlan, NoJitter, Policy, RetrySettings};
use serde::Serialize;

/// The load and the times that a policy leads to.
#[derive(Debug, Serialize)]
pub(super) struct PolicyImpact {
    pub(super) attempts_at_most: Option<u32>,
    worst_case_ms: Option<Ms>,
    load: f64,
    load_capped: bool,
    throttled_load: Option<f64>,
    pub(super) refused: Timeline,
    hanging: Timeline,
}

impl PolicyImpact {
    pub(super) fn new(attempts_at_most: Option<u32>, policy: &Policy, impact: &Impact) -> Self {
        Self {
            attempts_at_most,
            worst_case_ms: impact.worst_case().map(Ms),
            load: impact.load(),
            load_capped: impact.is_load_capped(),
            throttled_load: impact.throttled_load(),
            refused: Timeline::from(&AttemptPlan::refused(policy, &mut NoJitter)),
            hanging: Timeline::from(&AttemptPlan::new(policy, &[], &mut NoJitter)),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    pub(super) method: String,
    dialect: &'static str,
    environment: Option<Members>,
    codes: Vec<&'static str>,
    #[serde(flatten)]
    pub(super) impact: PolicyImpact,
    polling: Option<Members>,
    batching: Option<Members>,
    idempotent: Option<bool>,
    pub(super) dialects: Vec<Reader>,
}

impl Explanation {
    /// Of a method that runs by a policy, which the environment may have lowered, and leads to that.
    pub(super) fn new(view: &MethodView<'_>, policy: &Policy, impact: &Impact, bounds: Bounds) -> Self {
        Self {
            method: view.name(),
            dialect: view.table.dialect().as_str(),
            environment: bounds.json(),
            codes: code_names(view.codes()),
            impact: PolicyImpact::new(bounds.attempts(attempts_at_most(view, impact)).0, policy, impact),
            polling: view.polling().map(polling_members),
            batching: view.batching().map(batching_members),
            idempotent: view.idempotent(),
            dialects: Vec::new(),
        }
    }
}

fn attempts_at_most(view: &MethodView<'_>, impact: &Impact) -> Option<u32> {
    if view.hedging().is_some() {
        return Some(most_attempts(impact));
    }
    let most = view.settings().and_then(RetrySettings::max_attempts);
    let is_limited = most.is_some() || view.settings().and_then(RetrySettings::total_timeout).is_some();
    if view.codes().is_empty() || !is_limited { Some(1) } else { most }
}
