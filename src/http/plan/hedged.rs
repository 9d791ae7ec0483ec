//! The plans of requests that are hedged.

use super::{HttpLimits, HttpPlan};
use crate::settings::CallOptions;
use gax_retry::{Environment, Hedging};
use std::collections::HashMap;
use std::sync::Arc;

/// The plan of requests that are hedged. Where a percentile says when, requests of different rules of the idempotency
/// table have latencies of their own: the rules are to HTTP what methods are to gRPC.
#[derive(Debug, Clone)]
pub(super) struct HedgedPlans {
    /// For all requests, but for the latencies.
    plan: Arc<HttpPlan>,
    /// The same with latencies of their own, by the names of rules; none without a percentile.
    by_rule: Arc<HashMap<Box<str>, Arc<HttpPlan>>>,
    /// Whether `plan` has what one request brings along; the others never do.
    is_of_request: bool,
}

impl HedgedPlans {
    pub(super) fn new(plan: &HttpPlan, hedging: Hedging) -> Self {
        let hedged = || Arc::new(plan.clone().hedged_by(hedging));
        let has_percentile = hedging.percentile_of_latencies().is_some();
        let rules = plan.rules().iter().filter(|_| has_percentile);
        let by_rule = rules.map(|rule| (rule.name().into(), hedged())).collect();
        Self { plan: hedged(), by_rule: Arc::new(by_rule), is_of_request: false }
    }

    /// The plan of requests that this rule is for; `None`: none is.
    pub(super) fn of(&self, rule: Option<&str>) -> Arc<HttpPlan> {
        match rule.and_then(|rule| self.by_rule.get(rule)) {
            None => Arc::clone(&self.plan),
            Some(plan) if !self.is_of_request => Arc::clone(plan),
            Some(plan) => Arc::new(HttpPlan::clone(&self.plan).with_latencies_of(plan)),
        }
    }

    /// Takes in what one request brings along.
    pub(super) fn apply(&mut self, options: &CallOptions) {
        self.change(|plan| plan.apply(options));
    }

    pub(super) fn set_limits(&mut self, limits: HttpLimits) {
        self.change(|plan| plan.set_limits(limits));
    }

    fn change(&mut self, change: impl FnOnce(&mut HttpPlan)) {
        change(Arc::make_mut(&mut self.plan));
        self.is_of_request = true;
    }

    /// The same, with no more time or attempts than operators allow; `None`: they allow one.
    pub(super) fn bounded_by(&self, environment: &Environment) -> Option<Self> {
        let bounded = |plan: &Arc<HttpPlan>| Arc::new(HttpPlan::clone(plan).bounded_by(environment));
        let plan = bounded(&self.plan);
        plan.policy.hedging()?;
        let by_rule = if self.is_of_request {
            Arc::clone(&self.by_rule)
        } else {
            Arc::new(self.by_rule.iter().map(|(rule, plan)| (rule.clone(), bounded(plan))).collect())
        };
        Some(Self { plan, by_rule, is_of_request: self.is_of_request })
    }
}
