//! The settings of operations over any transport.

use crate::operation::{JitterSeeds, Observers, Start, is_nested_retry, time_left};
use crate::options::operation_options::OperationOptions;
use gax_retry::Policy;
use std::sync::Arc;
use std::time::Duration;

/// A policy and options, for operations over a transport without its own settings.
#[derive(Debug)]
pub struct OperationConfig {
    pub(crate) policy: Policy,
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) jitter: JitterSeeds,
    /// The time that a call brings along for all its attempts, or that operators allow it.
    pub(crate) bound: Option<Duration>,
    pub(crate) reports: bool,
}

impl OperationOptions {
    /// The settings of an operation by that policy, with these options. The compatibility is the policy's.
    ///
    /// Make one for each operation: whether it may retry at all can depend on the request that is being served
    /// ([`nested_retries`](Self::nested_retries)).
    #[must_use]
    pub fn config(&self, policy: Policy) -> OperationConfig {
        self.config_for(policy, self.observers.shared())
    }

    /// The settings of such an operation, with those observers.
    pub(crate) fn config_for(&self, policy: Policy, observers: Option<Arc<Observers>>) -> OperationConfig {
        let policy = self.applied_to(policy);
        let policy = if self.retries_are_enabled() { policy } else { policy.without_retries() };
        let policy = policy.with_environment(&self.caps());
        let policy = if is_nested_retry(&policy) { policy.inside_retry() } else { policy };
        OperationConfig {
            policy,
            observers,
            jitter: self.jitter.clone(),
            bound: None,
            reports: self.wants_reports(),
        }
    }
}

impl OperationConfig {
    /// The start of such an operation, bounded by the deadline of the request that this task serves.
    #[inline]
    #[must_use]
    pub fn start(&self) -> Start<'_> {
        Start::new(self.observers.as_deref(), &self.jitter).within(time_left()).within(self.bound)
    }

    /// Returns whether the report of a success is wanted even where one attempt was enough: for
    /// [`Driver::reporting`](crate::operation::Driver::reporting).
    #[must_use]
    pub fn reports(&self) -> bool {
        self.reports
    }
}

impl AsRef<Policy> for OperationConfig {
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}
