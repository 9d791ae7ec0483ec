//! Configs of their own for the requests of different rules.

use std::collections::HashMap;
use std::sync::Arc;

/// Configs by the names of rules.
pub(super) type Rules<P> = Arc<HashMap<Box<str>, Arc<P>>>;

/// A config for all requests, and one of their own for those that match a rule of the idempotency table: the rules are to HTTP
/// what methods are to gRPC.
#[derive(Clone)]
pub(super) struct ByRule<P> {
    config: Arc<P>,
    own: Rules<P>,
    /// `true` if `config` has what one request has; the others never do.
    is_of_request: bool,
}

impl<P: Clone> ByRule<P> {
    /// Makes a config for these rules each, and one for all other requests.
    pub(super) fn new<'a>(rules: impl Iterator<Item = &'a str>, make: impl Fn() -> P) -> Self {
        let own = rules.map(|rule| (rule.into(), Arc::new(make()))).collect();
        Self { config: Arc::new(make()), own: Arc::new(own), is_of_request: false }
    }

    /// The config of requests that match this rule; `None`: they match none. The closure makes one of a request's own config and
    /// the rule's.
    pub(super) fn of(&self, rule: Option<&str>, join: impl FnOnce(P, &P) -> P) -> Arc<P> {
        match rule.and_then(|rule| self.own.get(rule)) {
            None => Arc::clone(&self.config),
            Some(own) if !self.is_of_request => Arc::clone(own),
            Some(own) => Arc::new(join(P::clone(&self.config), own)),
        }
    }

    /// These configs, each joined: made of its own and of the other's for the same rule.
    pub(super) fn joined(&self, other: &Self, join: impl Fn(P, &P) -> P) -> Self {
        let joined = |config: &Arc<P>, other: &P| Arc::new(join(P::clone(config), other));
        let own = self.own.iter().map(|(rule, config)| {
            let config =
                other.own.get(rule).map_or_else(|| Arc::clone(config), |other| joined(config, other));
            (rule.clone(), config)
        });
        Self { config: joined(&self.config, &other.config), own: Arc::new(own.collect()), ..*self }
    }

    /// The config of other requests.
    pub(super) fn any(&self) -> &P {
        &self.config
    }

    /// Takes in what one request has.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut P)) {
        change(Arc::make_mut(&mut self.config));
        self.is_of_request = true;
    }

    /// These configs, each changed.
    pub(super) fn map(&self, change: impl Fn(P) -> P) -> Self {
        let changed = |config: &Arc<P>| Arc::new(change(P::clone(config)));
        let own = if self.is_of_request {
            Arc::clone(&self.own)
        } else {
            Arc::new(self.own.iter().map(|(rule, config)| (rule.clone(), changed(config))).collect())
        };
        Self { config: changed(&self.config), own, is_of_request: self.is_of_request }
    }
}
