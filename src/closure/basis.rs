//! What the policies of closures are made of.

#[cfg(feature = "live")]
use super::live_service::LiveService;
use gax_retry::{CodeSet, Compatibility, Policy, RetrySettings};

/// What the policies of closures are made of.
#[derive(Debug, Clone)]
pub(super) enum Basis {
    Settings(RetrySettings, Compatibility),
    Policy(Box<Policy>),
    /// A service of a handle's table, by whichever table the handle has.
    #[cfg(feature = "live")]
    Live(LiveService, Option<Compatibility>),
}

impl Basis {
    /// By whose rules settings become attempts. A policy has rules of its own.
    pub(super) fn set_compatibility(&mut self, compatibility: Compatibility) {
        match self {
            Self::Settings(_, known) => *known = compatibility,
            Self::Policy(_) => {}
            #[cfg(feature = "live")]
            Self::Live(_, known) => *known = Some(compatibility),
        }
    }

    /// The policy that an operation begins with now, which retries these codes.
    pub(super) fn policy(&self, codes: CodeSet) -> Policy {
        match self {
            Self::Settings(settings, compatibility) => {
                Policy::with_compatibility(settings, codes, *compatibility)
            }
            Self::Policy(policy) => Policy::clone(policy).with_retryable_codes(codes),
            #[cfg(feature = "live")]
            Self::Live(service, compatibility) => service.policy(codes, *compatibility),
        }
    }
}
