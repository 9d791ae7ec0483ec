//! Which form a table was written in.

use crate::document::Node;
use std::time::Duration;

/// What a form calls things, for messages about them.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) retries: &'static str,
    pub(super) hedging: &'static str,
    pub(super) initial_delay: &'static str,
    pub(super) max_delay: &'static str,
    pub(super) delay_multiplier: &'static str,
    pub(super) max_attempts: &'static str,
}

const SERVICE_CONFIG: Words = Words {
    retries: "the retry policy",
    hedging: "the hedging policy",
    initial_delay: "initialBackoff",
    max_delay: "maxBackoff",
    delay_multiplier: "backoffMultiplier",
    max_attempts: "maxAttempts",
};

const TOML: Words = Words {
    retries: "the entry",
    hedging: "the entry's hedging",
    initial_delay: "initial_retry_delay",
    max_delay: "max_retry_delay",
    delay_multiplier: "retry_delay_multiplier",
    max_attempts: "max_attempts",
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

    /// Whether this project reads it and nobody else: what other clients make of it is no matter then.
    pub(super) fn is_own(self) -> bool {
        self.root.is_none()
    }

    /// The root of a gRPC service config.
    pub(super) fn root(self) -> Option<&'a Node> {
        self.root
    }

    /// A delay that is written. Zero is unset, but in TOML, where a delay that is not meant is left out.
    pub(super) fn delay(self, delay: Option<Duration>) -> Option<Duration> {
        delay.filter(|delay| self.is_own() || !delay.is_zero())
    }
}
