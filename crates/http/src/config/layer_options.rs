//! The options of a layer.

use crate::config::http_config::{HttpConfig, HttpLimits};
use gax_driver::__private::{CurrentPolicies, Replaceable};
use gax_driver::{LivePolicies, OperationOptions};
use gax_retry::http::{IdempotencyStrategy, IdempotencyTable, Preset, StatusSet};
use gax_retry::settings::Override;
use gax_retry::{CodeSet, Hedging, MethodPolicies, ParseCodeError, RetryBudget, RetrySettings};
use std::sync::Arc;
use std::time::Duration;

/// The options of a layer; see its setters.
#[derive(Debug, Clone)]
pub(crate) struct LayerOptions {
    source: ConfigSource,
    pub(crate) operation: OperationOptions,
    pub(crate) table: Option<IdempotencyTable>,
    pub(crate) strategy: Option<IdempotencyStrategy>,
    pub(crate) statuses: Option<StatusSet>,
    /// In place of what the policies say, if there are any.
    pub(crate) hedging: Override<Hedging>,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) limits: HttpLimits,
}

/// Where the configuration of requests comes from.
#[derive(Debug, Clone)]
pub(crate) enum ConfigSource {
    Settings(RetrySettings, Result<CodeSet, ParseCodeError>),
    Preset(Box<Preset>),
    Policies(MethodPolicies),
    /// Live policies, and the name of the service in them.
    Live(LivePolicies, Box<str>),
}

impl LayerOptions {
    pub(crate) fn new(source: ConfigSource) -> Self {
        Self {
            source,
            operation: OperationOptions::default(),
            table: None,
            strategy: None,
            statuses: None,
            hedging: Override::Unset,
            attempt_timeout: None,
            limits: HttpLimits::default(),
        }
    }

    /// The config of requests that bring nothing along, made again whenever live policies are replaced.
    pub(crate) fn config(&self) -> Replaceable<Arc<HttpConfig>> {
        let compatibility = self.operation.compatibility.unwrap_or_default();
        let config = match &self.source {
            ConfigSource::Settings(settings, codes) => {
                HttpConfig::new(settings, codes.clone(), compatibility)
            }
            ConfigSource::Preset(preset) => HttpConfig::of_preset(preset),
            ConfigSource::Policies(policies) => {
                let current = CurrentPolicies::fixed(policies.clone());
                return Replaceable::fixed(Arc::new(self.config_of(&current, "")));
            }
            ConfigSource::Live(live, service) => {
                return Replaceable::live(self.followed(live, service.clone()));
            }
        };
        Replaceable::fixed(Arc::new(self.finished(config, None, None)))
    }

    /// The config with what is set on the layer; else with this budget and this hedging.
    pub(super) fn finished(
        &self,
        mut policy: HttpConfig,
        budget: Option<&RetryBudget>,
        hedging: Option<Hedging>,
    ) -> HttpConfig {
        if let Some(table) = &self.table {
            policy.table = table.clone();
        }
        policy.strategy = self.strategy.unwrap_or(policy.strategy);
        policy.statuses = self.statuses.or(policy.statuses);
        if let Some(timeout) = self.attempt_timeout {
            policy.policy = policy.policy.with_attempt_timeout(timeout);
        }
        policy.policy = self.operation.applied_to(policy.policy.with_budget(budget.cloned()));
        policy.limits = self.limits;
        policy.reports = self.operation.wants_reports();
        if !self.operation.retries_are_enabled() {
            policy.policy = policy.policy.without_retries();
        } else if let Some(hedging) = self.hedging.over(hedging) {
            policy.set_hedging(hedging);
        }
        policy.bounded_by(&self.operation.caps())
    }
}
