//! Values of a method as people read them.

use crate::render::{Count, Human, Ms, bytes, grown};
use gax_retry::{BatchingSettings, CodeSet, Compatibility, RetrySettings};
use gax_table::{Dialect, HedgingPolicy, MethodPolicy, PolicyField, SourceLocation};
use std::time::Duration;

/// The codes, or a word for none.
pub(crate) fn codes_text(codes: CodeSet) -> String {
    or_none(codes.to_string())
}

/// A list, or a word for an empty one.
pub(crate) fn or_none(list: String) -> String {
    if list.is_empty() { "none".to_owned() } else { list }
}

/// A number that is a limit, or that there is none.
pub(crate) fn count_limit(count: Option<u32>) -> String {
    count.map_or_else(|| "no limit".to_owned(), |count| count.to_string())
}

/// `file:line` of a value; empty if the table does not give it.
pub(crate) fn line_of(policy: MethodPolicy<'_>, field: PolicyField) -> String {
    policy.origin_of(field).map(short_place).unwrap_or_default()
}

/// A place without its column and folders.
pub(crate) fn short_place(origin: &SourceLocation) -> String {
    let file = origin.file().unwrap_or_default();
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{name}:{}", origin.line())
}

pub(crate) fn limit(time: Option<Duration>) -> String {
    time.map_or_else(|| "none".to_owned(), |time| format!("{:#}", Human(time)))
}

pub(crate) fn rpc_timeout(settings: &RetrySettings) -> String {
    match settings.initial_rpc_timeout() {
        None => "what is left of the total".to_owned(),
        Some(initial) => grown(initial, settings.rpc_timeout_multiplier(), settings.max_rpc_timeout()),
    }
}

pub(crate) fn delay(policy: MethodPolicy<'_>, dialect: Dialect) -> String {
    let settings = policy.settings();
    let delays = settings.retry_delays(dialect.compatibility());
    let is_pointless = policy.codes().is_empty() && settings.initial_retry_delay().is_none();
    if is_pointless || delays.initial().is_zero() {
        return "none".to_owned();
    }
    let jitter = if settings.jittered() { ", jittered" } else { "" };
    grown(delays.initial(), delays.multiplier(), delays.max()) + jitter
}

/// `up to 3 attempts, 300 ms apart; non-fatal codes: UNAVAILABLE`
pub(crate) fn hedging(policy: &HedgingPolicy) -> String {
    let hedging = policy.to_hedging();
    let (most, codes) = (hedging.max_attempts(), codes_text(policy.non_fatal_codes()));
    format!("up to {most} attempts, {}; non-fatal codes: {codes}", hedging.spacing())
}

/// `after 5 s x 1.5 up to 45 s, for 5 min in all`, or `without a delay, ..`. Delays that aren't set are included.
pub(crate) fn polling(settings: &RetrySettings) -> String {
    let delays = settings.retry_delays(Compatibility::Documented);
    let total = settings.total_timeout();
    let often = if delays.initial().is_zero() {
        "without a delay".to_owned()
    } else {
        format!("after {}", grown(delays.initial(), delays.multiplier(), delays.max()))
    };
    format!(
        "{often}, {}",
        total.map_or_else(|| "without a limit".to_owned(), |total| format!("for {:#} in all", Ms(total)))
    )
}

/// `up to 100 elements, 1 MiB or 10 ms`
pub(crate) fn batching(settings: &BatchingSettings) -> String {
    let elements = Count(settings.element_count_threshold());
    let (size, delay) = (bytes(settings.request_byte_threshold()), Ms(settings.delay_threshold()));
    format!("up to {elements} elements, {size} or {delay:#}")
}
