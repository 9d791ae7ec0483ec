//! Which form a table was written in.

use crate::document::Node;
use std::time::Duration;

/// The names that a form has for things, for messages about them.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) initial_delay: &'static str,
    pub(super) max_delay: &'static str,
    pub(super) delay_multiplier: &'static str,
    pub(super) max_attempts: &'static str,
    pub(super) hedging_delay: &'static str,
    pub(super) no_codes: &'static str,
    pub(super) no_limits: &'static str,
    pub(super) no_attempts: &'static str,
    pub(super) retries: PolicyWords,
    pub(super) hedging: PolicyWords,
}

/// Findings about a policy's number of attempts.
#[derive(Debug)]
pub(super) struct PolicyWords {
    pub(super) unlimited: &'static str,
    pub(super) single: &'static str,
    pub(super) remedy: &'static str,
    /// The advice for a number that is absent, and that for a file that gRPC may read.
    pub(super) number: &'static str,
    pub(super) number_of_grpc: &'static str,
}

const SERVICE_CONFIG: Words = Words {
    initial_delay: "initialBackoff",
    max_delay: "maxBackoff",
    delay_multiplier: "backoffMultiplier",
    max_attempts: "maxAttempts",
    hedging_delay: "hedgingDelay",
    no_codes: "the retry policy retries no code",
    no_limits: "with neither a timeout nor maxAttempts nothing is retried",
    no_attempts: "maxAttempts 0 is treated as absent",
    retries: PolicyWords {
        unlimited: "the retry policy has no maxAttempts, so only the timeout ends it",
        single: "with maxAttempts 1 nothing is retried",
        remedy: "write 2 or more, or remove the retry policy",
        number: "write one from 2 to 5, and delays that together last as long as an outage",
        number_of_grpc: "write one from 2 to 5 (gRPC itself rejects the whole file), and delays that together last \
                         as long as an outage",
    },
    hedging: PolicyWords {
        unlimited: "the hedging policy has no maxAttempts, so there is one hedge",
        single: "with maxAttempts 1 nothing is hedged",
        remedy: "write 2 or more, or remove the hedging policy",
        number: "write one from 2 to 5",
        number_of_grpc: "write one from 2 to 5: gRPC itself rejects the whole file",
    },
};

const TOML: Words = Words {
    initial_delay: "initial_retry_delay",
    max_delay: "max_retry_delay",
    delay_multiplier: "retry_delay_multiplier",
    max_attempts: "max_attempts",
    hedging_delay: "delay",
    no_codes: "the entry retries no code",
    no_limits: "with neither a timeout nor max_attempts nothing is retried",
    no_attempts: "max_attempts 0 is treated as absent",
    retries: PolicyWords {
        unlimited: "without max_attempts only the timeout ends the retries",
        single: "with max_attempts 1 nothing is retried",
        remedy: "write 2 or more",
        number: "write one from 2 to 5, and delays that together last as long as an outage",
        number_of_grpc: "write one from 2 to 5 (gRPC itself rejects the whole file), and delays that together last \
                         as long as an outage",
    },
    hedging: PolicyWords {
        unlimited: "the entry's hedging has no max_attempts, so there is one hedge",
        single: "with max_attempts 1 nothing is hedged",
        remedy: "write 2 or more",
        number: "write one from 2 to 5",
        number_of_grpc: "write one from 2 to 5: gRPC itself rejects the whole file",
    },
};

/// The form of a file that has the content of a service config.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    /// The root of a gRPC service config; `None`: this project's own form.
    root: Option<&'a Node>,
}

impl<'a> Form<'a> {
    /// This project's own form.
    #[cfg(feature = "toml")]
    pub(crate) const TOML: Form<'static> = Form { root: None };

    pub(crate) fn service_config(root: &'a Node) -> Self {
        Self { root: Some(root) }
    }

    pub(super) fn words(self) -> &'static Words {
        if self.is_own() { &TOML } else { &SERVICE_CONFIG }
    }

    gax_text::getters! { move self:
        /// Returns whether only this project reads it, so that other clients don't matter.
        pub(super) is_own: bool = self.root.is_none();

        /// The root of a gRPC service config.
        pub(super) root: Option<&'a Node> = self.root;
    }

    /// A delay that is written. Zero is unset, but in TOML, where a delay that is not meant is left out.
    pub(super) fn delay(self, delay: Option<Duration>) -> Option<Duration> {
        delay.filter(|delay| self.is_own() || !delay.is_zero())
    }
}
