//! What a service config holds, each value with its place and nothing decided yet.

use crate::Code;
use crate::table::document::Span;
use crate::table::values::Located;

/// The whole file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServiceConfig {
    pub(crate) methods: Vec<MethodConfig>,
    pub(crate) throttling: Option<Throttling>,
    /// The first number that is no status code, in a dialect whose reader lets it pass.
    pub(crate) unrecognized_code: Option<Span>,
}

/// One entry of `methodConfig`.
#[derive(Debug, Clone)]
pub(crate) struct MethodConfig {
    pub(crate) span: Span,
    pub(crate) names: Vec<Name>,
    pub(crate) timeout: Option<Located<i128>>,
    pub(crate) retry: Option<RetryPolicy>,
    pub(crate) hedging: Option<HedgingPolicy>,
    pub(crate) wait_for_ready: Option<Located<bool>>,
}

/// What an entry is for: a method, a service, or (with neither) everything.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) span: Span,
    pub(crate) service: String,
    pub(crate) method: String,
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

/// `hedgingPolicy`.
#[derive(Debug, Clone)]
pub(crate) struct HedgingPolicy {
    pub(crate) span: Span,
    pub(crate) max_attempts: Option<Located<u32>>,
    pub(crate) delay: Option<Located<i128>>,
    pub(crate) non_fatal_codes: Option<Located<Vec<Located<Code>>>>,
}

/// `retryThrottling`.
#[derive(Debug, Clone)]
pub(crate) struct Throttling {
    pub(crate) span: Span,
    pub(crate) max_tokens: Option<Located<f64>>,
    pub(crate) token_ratio: Option<Located<f64>>,
}
