//! The settings besides retries: how operations are polled, and requests batched.

use super::lines::DocLines;
use gax_retry::{BatchingSettings, Compatibility, LimitExceeded, RetrySettings};
use gax_text::Human;
use std::time::Duration;

/// The docs of the settings of the operations that a method starts.
pub(crate) fn polling_docs(method: &str, polling: &RetrySettings, compatibility: Compatibility) -> DocLines {
    let delays = polling.retry_delays(compatibility);
    let first = match delays.initial() {
        Duration::ZERO => "immediately".to_owned(),
        initial => format!("after {:#}", Human(initial)),
    };
    let growth = Some(delays.multiplier()).filter(|multiplier| *multiplier > 1.0);
    let growth = growth.map_or_else(String::new, |multiplier| format!(", times {multiplier}"));
    let cap = delays.max().map_or_else(String::new, |cap| format!(", {:#} at most", Human(cap)));
    let total = polling
        .total_timeout()
        .map_or_else(|| "without a limit".to_owned(), |total| format!("for {:#} in all", Human(total)));
    DocLines::new(format!("The settings of the long-running operations that `{method}` starts."))
        .block([format!("Polled {first}{growth}{cap}, {total}.")])
}

/// How a method's requests are batched.
pub(crate) fn batching_words(batching: &BatchingSettings) -> String {
    let limits = [
        batching.max_outstanding_elements().map(|most| format!("{most} elements")),
        batching.max_outstanding_bytes().map(|most| format!("{most} bytes")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let beyond = match batching.limit_exceeded() {
        LimitExceeded::Block => " (more wait)",
        LimitExceeded::ThrowException => " (more are rejected)",
        LimitExceeded::Ignore => "",
    };
    let outstanding = if limits.is_empty() {
        String::new()
    } else {
        format!("; {} may be outstanding{beyond}", limits.join(" and "))
    };
    format!(
        "Gathered up to {} elements, {} bytes or {:#}{outstanding}.",
        batching.element_count_threshold(),
        batching.request_byte_threshold(),
        Human(batching.delay_threshold())
    )
}
