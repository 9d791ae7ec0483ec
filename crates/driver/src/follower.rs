//! The followers of policies that can be replaced.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::{MethodPolicies, RetryBudget};
use std::sync::{Arc, PoisonError, RwLock};

/// The policies that count, and what all who follow them share.
#[expect(clippy::exhaustive_structs, reason = "our own crates read it")]
pub struct CurrentPolicies {
    pub policies: MethodPolicies,
    /// `None`: they are never replaced.
    pub version: Option<u64>,
    pub budget: Option<RetryBudget>,
}

impl CurrentPolicies {
    /// Policies that are never replaced, with a budget of their own.
    #[must_use]
    pub fn fixed(policies: MethodPolicies) -> Self {
        let budget = policies.own_throttling().map(|throttling| throttling.budget());
        Self { policies, version: None, budget }
    }
}

/// A value that is made of live policies, and made again whenever they are replaced. Its lock is held only while
/// a reference is counted or exchanged.
pub struct Follower<T> {
    current: RwLock<Arc<T>>,
    make: Box<Make<T>>,
    /// The methods that it knows; `None`: it takes whatever is called.
    known: Option<Arc<[Box<str>]>>,
}

/// Makes it of policies, and of what was made of the policies before.
type Make<T> = dyn Fn(&CurrentPolicies, Option<&T>) -> T + Send + Sync;

impl<T> Follower<T> {
    pub(crate) fn new(
        current: &CurrentPolicies,
        make: impl Fn(&CurrentPolicies, Option<&T>) -> T + Send + Sync + 'static,
        known: Option<Arc<[Box<str>]>>,
    ) -> Self {
        let first = Arc::new(make(current, None));
        Self { current: RwLock::new(first), make: Box::new(make), known }
    }

    pub(crate) fn load(&self) -> Arc<T> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A follower as the policies know it.
pub(crate) trait Follow: Send + Sync {
    /// Makes what the policies lead to, and puts it in place once that is called.
    fn prepare(self: Arc<Self>, current: &CurrentPolicies) -> Box<dyn FnOnce()>;

    /// The methods that it knows.
    fn known(&self) -> Option<&Arc<[Box<str>]>>;
}

impl<T: Send + Sync + 'static> Follow for Follower<T> {
    fn prepare(self: Arc<Self>, current: &CurrentPolicies) -> Box<dyn FnOnce()> {
        let next = Arc::new((self.make)(current, Some(&self.load())));
        Box::new(move || {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            let former = std::mem::replace(&mut *current, next);
            drop(current);
            // Outside of the lock, since it may be the last reference.
            drop(former);
        })
    }

    fn known(&self) -> Option<&Arc<[Box<str>]>> {
        self.known.as_ref()
    }
}
