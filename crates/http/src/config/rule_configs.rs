//! Configs of the rules of a table that have their own settings.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Configs by the names of rules. Rules without their own settings have none.
#[derive(Clone)]
pub(super) struct RuleConfigs<P>(HashMap<Box<str>, Arc<P>>);

/// Short: an API has dozens of rules.
impl<P> fmt::Debug for RuleConfigs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleConfigs").field("rules", &self.0.len()).finish_non_exhaustive()
    }
}

impl<P: Clone> RuleConfigs<P> {
    pub(super) fn get(&self, rule: &str) -> Option<&Arc<P>> {
        self.0.get(rule)
    }
}

#[cfg(feature = "tables")]
impl<P: Clone> RuleConfigs<P> {
    pub(super) fn new<'a>(configs: impl Iterator<Item = (&'a str, P)>) -> Self {
        Self(configs.map(|(rule, config)| (rule.into(), Arc::new(config))).collect())
    }

    /// Gives each config what it takes over from the one of the same rule before.
    pub(super) fn joined(&mut self, before: &Self, join: impl Fn(&mut P, &P)) {
        for (rule, config) in &mut self.0 {
            if let Some(before) = before.get(rule) {
                join(Arc::make_mut(config), before);
            }
        }
    }
}
