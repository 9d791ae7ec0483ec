//! One budget for each server.

use crate::locked::Locked;
use gax_retry::RetryBudget;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One [`RetryBudget`] for each server, by the server's name: what gRFC A6 means by throttling "per server name".
///
/// With it, clients of one server share the server's budget even if they are made in different places with different
/// settings. Names are compared as they are written; the program chooses them. Clones are the same registry.
///
/// It is only used when a client or layer is created, not by calls.
///
/// # Examples
///
/// ```
/// use gax_driver::{RetryBudget, RetryBudgets};
/// use std::time::Duration;
///
/// let budgets = RetryBudgets::new();
/// let tokens = || RetryBudget::tokens(4, 0.1);
/// let (one, same, other) = (
///     budgets.of("library.example.com", tokens),
///     budgets.of("library.example.com", tokens),
///     budgets.of("archive.example.com", tokens),
/// );
/// one.failed();
/// one.failed();
/// let allowed = [one, same, other].map(|budget| budget.allows(|| Duration::ZERO));
/// assert_eq!(allowed, [false, false, true]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct RetryBudgets {
    servers: Arc<Locked<BTreeMap<Box<str>, RetryBudget>>>,
}

impl RetryBudgets {
    /// A registry without servers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The budget of that server; `new` makes it if the server has none yet.
    ///
    /// If clients of one server have different budgets, the first client's budget applies.
    pub fn of(&self, server: &str, new: impl FnOnce() -> RetryBudget) -> RetryBudget {
        self.with(|servers| servers.entry(server.into()).or_insert_with(new).clone())
    }

    /// The budget of that server, if it has one.
    #[must_use]
    pub fn get(&self, server: &str) -> Option<RetryBudget> {
        self.with(|servers| servers.get(server).cloned())
    }

    /// The budget of a client of that server that would have this one by itself: the server's, which `own` becomes if
    /// it has none yet. `None`: neither has any.
    #[must_use]
    pub fn share(&self, server: &str, own: impl Into<Option<RetryBudget>>) -> Option<RetryBudget> {
        match own.into() {
            Some(own) => Some(self.of(server, || own)),
            None => self.get(server),
        }
    }

    fn with<R>(&self, change: impl FnOnce(&mut BTreeMap<Box<str>, RetryBudget>) -> R) -> R {
        // A map of handles is whole at any time.
        self.servers.change(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Returns whether the budget that this names is drained by it.
    fn drains(one: &RetryBudget, other: &RetryBudget) -> bool {
        one.failed();
        one.failed();
        !other.allows(|| Duration::ZERO)
    }

    fn tokens() -> RetryBudget {
        RetryBudget::tokens(4, 0.1)
    }

    #[test]
    fn the_first_to_come_brings_the_budget() {
        let budgets = RetryBudgets::new();
        assert!(budgets.get("a").is_none());
        assert!(budgets.share("a", None).is_none());
        let own = tokens();
        let of_a = budgets.share("a", own.clone()).unwrap();
        assert!(drains(&own, &of_a));
        assert!(!budgets.share("a", RetryBudget::ratio(0.5)).unwrap().allows(|| Duration::ZERO));
        // Who brings none has the server's all the same.
        assert!(!budgets.clone().share("a", None).unwrap().allows(|| Duration::ZERO));
    }

    #[test]
    fn servers_have_nothing_to_do_with_each_other() {
        let budgets = RetryBudgets::new();
        let (a, b) = (budgets.of("a", tokens), budgets.of("a:443", tokens));
        assert!(!drains(&a, &b));
    }
}
