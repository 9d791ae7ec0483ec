//! The config that policies make.

use crate::config::http_config::HttpConfig;
use crate::config::layer_options::LayerOptions;
use gax_driver::__private::unused_names::{missing_service, sentence, warn_of};
use gax_driver::__private::{CurrentPolicies, Follower};
use gax_driver::LivePolicies;
use gax_retry::http::{IdempotencyRule, IdempotencyTable};
use gax_retry::{HttpPolicies, HttpSettings};
use gax_text::closest;
use std::sync::Arc;

impl LayerOptions {
    /// The config by live policies, made again whenever they are replaced.
    pub(super) fn followed(&self, live: &LivePolicies, service: Box<str>) -> Arc<Follower<Arc<HttpConfig>>> {
        let options = self.clone();
        let make = move |current: &CurrentPolicies, before: Option<&Arc<HttpConfig>>| {
            let mut config = options.config_of(current, &service);
            if let Some(before) = before {
                config.go_on_from(before);
            }
            Arc::new(config)
        };
        live.follow(make, None)
    }

    /// The config by policies: for each request the settings of its rule, else those of all HTTP requests, else those of the service.
    pub(super) fn config_of(&self, current: &CurrentPolicies, service: &str) -> HttpConfig {
        let CurrentPolicies { policies, version, budget } = current;
        let compatibility = self.operation.compatibility.unwrap_or(policies.own_compatibility());
        let http = policies.own_http();
        let of_http = |settings: &HttpSettings| {
            let config = HttpConfig::of_settings(settings, compatibility);
            (config, settings.method_settings().own_hedging())
        };
        let finished = |(mut config, hedging): (HttpConfig, _)| {
            if let Some(version) = version {
                config.policy = config.policy.with_version(*version);
            }
            if let Some(rules) = http.and_then(HttpPolicies::own_idempotency) {
                config.table = rules.clone();
            }
            self.finished(config, budget.as_ref(), hedging)
        };
        let of_service = || {
            warn_of(|| missing_service(policies, service));
            let settings = policies.find(service).cloned().unwrap_or_default();
            let config = HttpConfig::new(settings.retry_settings(), settings.codes(), compatibility);
            (config, settings.own_hedging())
        };
        let mut config = finished(http.and_then(HttpPolicies::of_all).map_or_else(of_service, of_http));
        warn_of(|| unknown_rules(http, &config.table));
        let own = http.into_iter().flat_map(HttpPolicies::rules);
        let own = own.map(|(name, settings)| (name.into(), Arc::new(finished(of_http(settings)))));
        config.rules = Arc::new(own.collect());
        config
    }
}

/// The rules with settings of their own that the table doesn't have.
fn unknown_rules(http: Option<&HttpPolicies>, table: &IdempotencyTable) -> Vec<String> {
    let known: Vec<&str> = table.rules().iter().map(IdempotencyRule::name).collect();
    let names = http.into_iter().flat_map(HttpPolicies::rules).map(|(name, _)| name);
    let sentence = |name| {
        let close = closest(name, known.iter().copied()).map(str::to_owned);
        sentence(name, "which is no rule of the idempotency table", close)
    };
    names.filter(|name| !known.contains(name)).map(sentence).collect()
}
