//! Which form a table was written in.

/// The names that a form has for things, for messages about them.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) initial_delay: &'static str,
    pub(super) max_delay: &'static str,
    pub(super) delay_multiplier: &'static str,
    pub(super) max_attempts: &'static str,
    pub(super) hedging_delay: &'static str,
    pub(super) no_codes: &'static str,
    pub(super) retries: PolicyWords,
    pub(super) hedging: PolicyWords,
}

/// Findings about a policy's number of attempts: that there is none, and what to write in place of one that allows no second.
#[derive(Debug)]
pub(super) struct PolicyWords {
    pub(super) unlimited: &'static str,
    pub(super) remedy: &'static str,
}

pub(super) const SERVICE_CONFIG: Words = Words {
    initial_delay: "initialBackoff",
    max_delay: "maxBackoff",
    delay_multiplier: "backoffMultiplier",
    max_attempts: "maxAttempts",
    hedging_delay: "hedgingDelay",
    no_codes: "the retry policy retries no code",
    retries: PolicyWords {
        unlimited: "the retry policy has no maxAttempts, so only the timeout ends it",
        remedy: "write 2 or more, or remove the retry policy",
    },
    hedging: PolicyWords {
        unlimited: "the hedging policy has no maxAttempts, so there is one hedge",
        remedy: "write 2 or more, or remove the hedging policy",
    },
};

pub(super) const TOML: Words = Words {
    initial_delay: "initial_retry_delay",
    max_delay: "max_retry_delay",
    delay_multiplier: "retry_delay_multiplier",
    max_attempts: "max_attempts",
    hedging_delay: "delay",
    no_codes: "the entry retries no code",
    retries: PolicyWords {
        unlimited: "without max_attempts only the timeout ends the retries",
        remedy: "write 2 or more",
    },
    hedging: PolicyWords {
        unlimited: "the entry's hedging has no max_attempts, so there is one hedge",
        remedy: "write 2 or more",
    },
};
