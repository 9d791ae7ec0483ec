//! The config that a table makes.

use crate::config::http_config::HttpConfig;
use crate::config::layer_options::LayerOptions;
use gax_driver::__house::{CurrentTable, Follower, follow_table};
use gax_driver::live::SettingsHandle;
use gax_retry::{CodeSet, RetryBudget, RetrySettings};
use gax_table::{HedgingPolicy, HttpPolicy, HttpRule, HttpTable, RetryTable};
use std::sync::Arc;

impl LayerOptions {
    /// The config by a handle's table, made again for each.
    pub(super) fn followed(
        &self,
        handle: &SettingsHandle,
        service: Box<str>,
    ) -> Arc<Follower<Arc<HttpConfig>>> {
        let options = self.clone();
        let make = move |current: &CurrentTable, before: Option<&Arc<HttpConfig>>| {
            let (table, budget) = (&current.table, current.budget.as_ref());
            let mut config = options.config_of(table, &service, budget, Some(current.version));
            if let Some(before) = before {
                config.go_on_from(before);
            }
            Arc::new(config)
        };
        follow_table(handle, make, None)
    }

    /// The config by a table: for each request the settings of its rule, else those of `[http]`, else those of the service's entry.
    pub(super) fn config_of(
        &self,
        table: &RetryTable,
        service: &str,
        budget: Option<&RetryBudget>,
        version: Option<u64>,
    ) -> HttpConfig {
        let by_dialect = table.dialect().default_compatibility();
        let compatibility = self.operation.compatibility.unwrap_or(by_dialect);
        let of_http =
            |policy: HttpPolicy<'_>| (HttpConfig::of_table(policy, compatibility), policy.hedging());
        let finished = |(mut config, hedging): (HttpConfig, _)| {
            if let Some(version) = version {
                config.policy = config.policy.with_version(version);
            }
            if let Some(rules) = table.idempotency() {
                config.table = rules.clone();
            }
            self.finished(config, budget, hedging)
        };
        let of_entry = || {
            let Some(policy) = table.lookup(service, "") else {
                return (HttpConfig::new(&RetrySettings::default(), Ok(CodeSet::EMPTY), compatibility), None);
            };
            let config = HttpConfig::new(policy.settings(), Ok(policy.codes()), compatibility);
            (config, policy.hedging().map(HedgingPolicy::to_hedging))
        };
        let of_all = table.http().and_then(|http| http.policy_of(None));
        let mut config = finished(of_all.map_or_else(of_entry, of_http));
        let rules = table.http().into_iter().flat_map(HttpTable::rules);
        let own = rules.filter(HttpRule::has_own_policy).filter_map(|rule| {
            let config = finished(of_http(rule.policy()?));
            Some((rule.rule().name().into(), Arc::new(config)))
        });
        config.rules = Arc::new(own.collect());
        config
    }
}
