//! The content of a service config, each value with its place and nothing decided yet.

use super::policy::EntryName;
use crate::Suppression;
use crate::document::{Located, Member, Span};
use gax_retry::{BatchingSettings, Code, CodeSet, RetrySettings};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// The whole file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServiceConfig {
    pub(crate) methods: Vec<MethodConfig>,
    /// Polling, batching and idempotency of methods whose retries are said elsewhere.
    pub(crate) beside: Vec<MethodConfig>,
    pub(crate) throttling: Option<Throttling>,
    /// Findings that are left out in all of the file.
    pub(crate) suppressions: Vec<Suppression>,
    /// Members that say nothing about retries.
    #[cfg(feature = "convert")]
    pub(crate) rest: Vec<Member>,
    /// The first number that is not a status code, in a dialect whose reader lets it pass.
    pub(crate) unrecognized_code: Option<Span>,
}

#[cfg(feature = "convert")]
impl ServiceConfig {
    /// The delays without those of zero that stand for delays that are not set.
    pub(crate) fn without_zero_delays(mut self) -> Self {
        let unset = |time: &mut Option<Located<i128>>| *time = time.filter(|time| time.value != 0);
        for RetryPolicy { initial_backoff, max_backoff, .. } in
            self.methods.iter_mut().filter_map(|method| method.retry.as_deref_mut())
        {
            unset(initial_backoff);
            unset(max_backoff);
        }
        self
    }
}

/// One entry of `methodConfig`.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodConfig {
    pub(crate) span: Span,
    pub(crate) names: Arc<[EntryName]>,
    pub(crate) timeout: Option<Located<i128>>,
    // In boxes: a table may have thousands of entries, most of which say little.
    pub(crate) retry: Option<Box<RetryPolicy>>,
    pub(crate) hedging: Option<Box<HedgingPolicy>>,
    pub(crate) wait_for_ready: Option<Located<bool>>,
    pub(crate) own: Own,
    /// Members that say nothing about retries.
    pub(crate) rest: Vec<Member>,
}

/// The [`OwnFields`] of an entry, which most have none of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own(Option<Box<OwnFields>>);

impl From<OwnFields> for Own {
    fn from(fields: OwnFields) -> Self {
        Self((fields != OwnFields::default()).then(|| Box::new(fields)))
    }
}

impl Deref for Own {
    type Target = OwnFields;

    fn deref(&self) -> &OwnFields {
        static NONE: LazyLock<OwnFields> = LazyLock::new(OwnFields::default);
        self.0.as_deref().unwrap_or(&NONE)
    }
}

/// Fields that this project's own form has beyond a gRPC service config.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OwnFields {
    pub(crate) total_timeout: Option<Located<i128>>,
    pub(crate) initial_rpc_timeout: Option<Located<i128>>,
    pub(crate) rpc_timeout_multiplier: Option<Located<f64>>,
    pub(crate) max_rpc_timeout: Option<Located<i128>>,
    pub(crate) max_server_delay: Option<Located<i128>>,
    pub(crate) only_with_server_delay: Option<Located<CodeSet>>,
    pub(crate) jittered: Option<Located<bool>>,
    pub(crate) idempotent: Option<Located<bool>>,
    pub(crate) wait_timeout: Option<Located<i128>>,
    pub(crate) idle_timeout: Option<Located<i128>>,
    /// The names under which codes and settings are defined.
    pub(crate) definitions: Option<(Arc<str>, Arc<str>)>,
    pub(crate) polling: Option<RetrySettings>,
    pub(crate) batching: Option<BatchingSettings>,
    /// Findings that are left out in this entry.
    pub(crate) suppressions: Vec<Suppression>,
}

/// `retryPolicy`. Durations are nanoseconds, with their sign.
#[derive(Debug, Clone)]
pub(crate) struct RetryPolicy {
    pub(crate) span: Span,
    pub(crate) max_attempts: Option<Located<u32>>,
    pub(crate) initial_backoff: Option<Located<i128>>,
    pub(crate) max_backoff: Option<Located<i128>>,
    pub(crate) multiplier: Option<Located<f64>>,
    pub(crate) codes: Option<Located<Vec<Located<Code>>>>,
}

#[cfg(any(feature = "convert", feature = "toml"))]
impl RetryPolicy {
    /// Returns whether it has neither codes nor settings.
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_none()
            && self.max_attempts.is_none()
            && self.initial_backoff.or(self.max_backoff).is_none()
            && self.multiplier.is_none()
    }
}

/// `hedgingPolicy`.
#[derive(Debug, Clone)]
pub(crate) struct HedgingPolicy {
    pub(crate) span: Span,
    pub(crate) max_attempts: Option<Located<u32>>,
    pub(crate) delay: Option<Located<i128>>,
    /// Only this project's own form has it.
    pub(crate) percentile: Option<Located<f64>>,
    pub(crate) non_fatal_codes: Option<Located<Vec<Located<Code>>>>,
}

/// `retryThrottling`.
#[derive(Debug, Clone)]
pub(crate) struct Throttling {
    pub(crate) span: Span,
    pub(crate) max_tokens: Option<Located<f64>>,
    pub(crate) token_ratio: Option<Located<f64>>,
}
