//! What a layer is set to.

use super::http_plan::{HttpLimits, HttpPlan};
use super::plans::Plans;
use crate::live::Replaceable;
#[cfg(feature = "live")]
use crate::live::{CurrentTable, SettingsHandle};
#[cfg(feature = "live")]
use crate::settings::CallSettings;
use gax_retry::http::{IdempotencyStrategy, IdempotencyTable, Preset, StatusSet};
use gax_retry::settings::Override;
use gax_retry::{CodeSet, Compatibility, Environment, Hedging, ParseCodeError, RetryBudget, RetrySettings};
#[cfg(feature = "live")]
use gax_table::Dialect;
use std::time::Duration;

/// What a layer is set to; see its setters.
#[derive(Debug, Clone)]
pub(crate) struct LayerOptions {
    pub(in crate::http) basis: Basis,
    pub(in crate::http) compatibility: Option<Compatibility>,
    pub(in crate::http) table: Option<IdempotencyTable>,
    pub(in crate::http) strategy: Option<IdempotencyStrategy>,
    pub(in crate::http) statuses: Option<StatusSet>,
    pub(in crate::http) server_delays: Option<bool>,
    /// In place of the table's, where there is one.
    pub(in crate::http) budget: Override<RetryBudget>,
    /// In place of what the table says, where there is one.
    pub(in crate::http) hedging: Override<Hedging>,
    pub(in crate::http) attempt_timeout: Option<Duration>,
    pub(in crate::http) limits: HttpLimits,
    pub(in crate::http) reports: bool,
    pub(in crate::http) retries_enabled: bool,
    pub(in crate::http) nested_retries: bool,
    pub(in crate::http) environment: Environment,
}

/// What plans are made of.
#[derive(Debug, Clone)]
pub(crate) enum Basis {
    Settings(RetrySettings, Result<CodeSet, ParseCodeError>),
    Preset(Box<Preset>),
    /// A handle's table, and the name of the service in it.
    #[cfg(feature = "live")]
    Handle(SettingsHandle, Box<str>),
}

impl LayerOptions {
    pub(in crate::http) fn new(basis: Basis) -> Self {
        Self {
            basis,
            compatibility: None,
            table: None,
            strategy: None,
            statuses: None,
            server_delays: None,
            budget: Override::Unset,
            hedging: Override::Unset,
            attempt_timeout: None,
            limits: HttpLimits::default(),
            reports: false,
            retries_enabled: true,
            nested_retries: true,
            environment: Environment::default(),
        }
    }

    /// The plans of requests, made anew for each table of a handle.
    pub(in crate::http) fn plans(&self) -> Replaceable<Plans> {
        let compatibility = self.compatibility.unwrap_or_default();
        let plan = match &self.basis {
            Basis::Settings(settings, codes) => HttpPlan::new(settings, codes.clone(), compatibility),
            Basis::Preset(preset) => HttpPlan::of_preset(preset),
            #[cfg(feature = "live")]
            Basis::Handle(handle, service) => {
                let (options, service) = (self.clone(), service.clone());
                let make = move |current: &CurrentTable, before: Option<&Plans>| {
                    options.plan_by(current, &service, before)
                };
                return Replaceable::live(handle.follow(make, None));
            }
        };
        Replaceable::fixed(Plans::new(self.finished(plan, None, None), &self.environment))
    }

    /// The plan by a handle's table.
    #[cfg(feature = "live")]
    fn plan_by(&self, current: &CurrentTable, service: &str, before: Option<&Plans>) -> Plans {
        let call = match current.table.lookup(service, "") {
            Some(policy) => CallSettings::of_policy(policy),
            None => CallSettings::new(RetrySettings::default(), CodeSet::EMPTY),
        };
        let by_dialect = match current.table.dialect() {
            Dialect::Grpc => Compatibility::Grpc,
            _ => Compatibility::default(),
        };
        let compatibility = self.compatibility.unwrap_or(by_dialect);
        let mut plan = HttpPlan::new(call.retry_settings(), Ok(call.retryable_codes()), compatibility);
        plan.policy = plan.policy.with_version(current.version);
        if let Some(rules) = current.table.idempotency() {
            plan.set_table(rules.clone());
        }
        let mut plan = self.finished(plan, current.budget.as_ref(), call.hedging().copied());
        if let Some(before) = before {
            plan.go_on_from(&before.unbounded);
        }
        Plans::new(plan, &self.environment)
    }

    /// The plan with what is set on the layer; else with this budget and this hedging.
    fn finished(
        &self,
        mut policy: HttpPlan,
        budget: Option<&RetryBudget>,
        hedging: Option<Hedging>,
    ) -> HttpPlan {
        if let Some(table) = &self.table {
            policy.set_table(table.clone());
        }
        if let Some(strategy) = self.strategy {
            policy.strategy = strategy;
        }
        if let Some(statuses) = self.statuses {
            policy.set_statuses(statuses);
        }
        if let Some(timeout) = self.attempt_timeout {
            policy.policy = policy.policy.with_attempt_timeout(timeout);
        }
        let budget = self.budget.clone().over(budget.cloned());
        policy.policy = policy.policy.with_budget(budget).with_nested_retries(self.nested_retries);
        if let Some(heeded) = self.server_delays {
            policy.policy = policy.policy.with_server_delays(heeded);
        }
        policy.limits = self.limits;
        policy.reports = self.reports;
        if !self.retries_enabled {
            policy.policy = policy.policy.without_retries();
        } else if let Some(hedging) = self.hedging.over(hedging) {
            policy.set_hedging(hedging);
        }
        policy
    }
}
