//! The delays between attempts.

use super::report::Report;
use super::subject::{EntryView, Subject};
use super::{Needs, Rule};
use crate::{Code, Dialect, PolicyField, Severity};
use std::time::Duration;

const CAP_ABOVE_TIMEOUT: Rule = Rule::new(
    "cap-above-timeout",
    Severity::Warning,
    Needs::Table,
    "the longest delay is longer than the timeout",
);
const CAP_EQUALS_TIMEOUT: Rule =
    Rule::new("cap-equals-timeout", Severity::Note, Needs::Table, "the longest delay is the timeout");
const BACKOFF_EXCEEDS_TIMEOUT: Rule = Rule::new(
    "backoff-exceeds-timeout",
    Severity::Warning,
    Needs::Table,
    "the first delay is as long as the timeout, so that nothing is retried",
);
const MAX_EQUALS_INITIAL: Rule = Rule::new(
    "max-equals-initial",
    Severity::Note,
    Needs::Table,
    "the longest delay is the first, so that the multiplier has no effect",
);
const MULTIPLIER_IS_1: Rule =
    Rule::new("multiplier-is-1", Severity::Note, Needs::Table, "delays that do not grow");
const MULTIPLIER_PRECISION: Rule = Rule::new(
    "multiplier-precision",
    Severity::Note,
    Needs::Table,
    "a multiplier that Google's Java generator rounds to one decimal",
);
const GENTLE_BACKOFF: Rule = Rule::new(
    "gentle-backoff-on-resource-exhausted",
    Severity::Warning,
    Needs::Table,
    "an overloaded service is asked again soon, and nearly as often",
);

pub(super) static RULES: [Rule; 7] = [
    CAP_ABOVE_TIMEOUT,
    CAP_EQUALS_TIMEOUT,
    BACKOFF_EXCEEDS_TIMEOUT,
    MAX_EQUALS_INITIAL,
    MULTIPLIER_IS_1,
    MULTIPLIER_PRECISION,
    GENTLE_BACKOFF,
];

/// A delay from which on a back-off from an overloaded service is not called gentle, whatever its growth.
const LONG_DELAY: Duration = Duration::from_secs(1);
/// Growth from which on it is not, whatever the first delay.
const STEEP: f64 = 2.0;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in subject.entries.iter().filter(|entry| entry.retries() || has_backoff(entry)) {
        cap(entry, report);
        growth(subject, entry, report);
        if entry.policy.codes().contains(Code::ResourceExhausted) {
            overload(entry, report);
        }
    }
}

fn has_backoff(entry: &EntryView<'_>) -> bool {
    !entry.policy.settings().initial_retry_delay().is_zero()
}

fn cap(entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let (Some(total), initial) = (settings.total_timeout(), settings.initial_retry_delay()) else { return };
    if !initial.is_zero() && initial >= total {
        let message = format!("the first delay, {initial:?}, leaves no time for a retry within {total:?}");
        let origin = entry.origin_of(PolicyField::InitialRetryDelay);
        return report.add(
            &BACKOFF_EXCEEDS_TIMEOUT,
            origin,
            message,
            "write a shorter delay or a longer timeout",
        );
    }
    let Some(cap) = settings.max_retry_delay() else { return };
    let origin = entry.origin_of(PolicyField::MaxRetryDelay);
    if cap > total {
        let message = format!("the longest delay, {cap:?}, is longer than the timeout, {total:?}");
        let help = "no delay can get that long: write a part of the timeout, or a longer timeout";
        report.add(&CAP_ABOVE_TIMEOUT, origin, message, help);
    } else if cap == total {
        let message = format!("the longest delay is the timeout, {total:?}");
        report.add(
            &CAP_EQUALS_TIMEOUT,
            origin,
            message,
            "no delay can get that long: write a part of the timeout",
        );
    }
}

fn growth(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let multiplier = settings.retry_delay_multiplier();
    let initial = settings.initial_retry_delay();
    let origin = entry.policy.origin_of(PolicyField::RetryDelayMultiplier);
    if settings.max_retry_delay() == Some(initial) && multiplier > 1.0 && !initial.is_zero() {
        let message =
            format!("the longest delay is the first, {initial:?}, so that the multiplier has no effect");
        let origin = entry.origin_of(PolicyField::MaxRetryDelay);
        report.add(&MAX_EQUALS_INITIAL, origin, message, "write a longer maximum, or 1 for the multiplier");
    }
    if origin.is_some() && multiplier.to_bits() == 1.0_f64.to_bits() {
        let help = "write a multiplier such as 1.3: in an outage clients that do not slow down keep it going";
        report.add(&MULTIPLIER_IS_1, origin, "delays do not grow", help);
    }
    let one_decimal: f64 = format!("{multiplier:.1}").parse().unwrap_or(multiplier);
    if subject.table.dialect() == Dialect::AsWritten && one_decimal.to_bits() != multiplier.to_bits() {
        let message = format!("Google's Java generator rounds {multiplier} to one decimal");
        report.add(&MULTIPLIER_PRECISION, origin, message, "write a multiplier with one decimal");
    }
}

fn overload(entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let (initial, multiplier) = (settings.initial_retry_delay(), settings.retry_delay_multiplier());
    if initial < LONG_DELAY && multiplier < STEEP {
        let message =
            format!("RESOURCE_EXHAUSTED is retried after {initial:?}, and delays grow by {multiplier} only");
        let help = "start with 1s or more, or double the delays: a service without resources needs time";
        report.add(&GENTLE_BACKOFF, entry.origin_of(PolicyField::RetryableCodes), message, help);
    }
}
