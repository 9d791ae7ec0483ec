//! Where the policies of closures come from.

use gax_retry::{CodeSet, Compatibility, Policy, RetrySettings};

/// Where the policies of closures come from.
#[derive(Debug, Clone)]
pub(super) enum ConfigSource {
    Settings(RetrySettings),
    Policy(Box<Policy>),
    /// A service, by whichever policies count.
    Live(crate::closure::live_service::LiveService),
}

impl ConfigSource {
    /// The policy that an operation begins with now, which retries these codes by those rules. A policy has its own rules.
    pub(super) fn policy(&self, codes: CodeSet, compatibility: Option<Compatibility>) -> Policy {
        match self {
            Self::Settings(settings) => {
                Policy::with_compatibility(settings, codes, compatibility.unwrap_or_default())
            }
            Self::Policy(policy) => Policy::clone(policy).with_retryable_codes(codes),
            Self::Live(service) => service.policy(codes, compatibility),
        }
    }
}
