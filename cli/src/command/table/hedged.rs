//! How a method is hedged, as a table says.

use super::methods::{code_names, codes_text};
use crate::render::Ms;
use gax_retry::plan::Impact;
use gax_table::HedgingPolicy;
use serde::Serialize;

/// A hedging policy for programs and for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Hedged {
    delay_ms: Ms,
    /// In place of the delay, or at least that: of the method's latencies.
    delay_percentile: Option<f64>,
    max_attempts: Option<u32>,
    non_fatal_codes: Vec<&'static str>,
    #[serde(skip)]
    words: String,
}

/// How many attempts a hedged call makes at most: while the service is silent, or as it refuses them.
pub(super) fn most_attempts(impact: &Impact) -> u32 {
    impact.load_of_silence().max(u32::try_from(impact.most_attempts()).unwrap_or(u32::MAX))
}

impl Hedged {
    /// `up to 3 attempts, 300 ms apart; non-fatal codes: UNAVAILABLE`
    pub(super) fn words(&self) -> &str {
        &self.words
    }
}

impl From<&HedgingPolicy> for Hedged {
    fn from(policy: &HedgingPolicy) -> Self {
        let hedging = policy.to_hedging();
        let (most, codes) = (hedging.max_attempts(), policy.non_fatal_codes());
        Self {
            delay_ms: Ms(policy.delay()),
            delay_percentile: policy.percentile(),
            max_attempts: policy.max_attempts(),
            non_fatal_codes: code_names(codes),
            words: format!(
                "up to {most} attempts, {}; non-fatal codes: {}",
                hedging.spacing(),
                codes_text(codes)
            ),
        }
    }
}
