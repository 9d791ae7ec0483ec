//! The delays between attempts.

use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, PolicyField};
use gax_retry::Code;
use gax_retry::settings::RetryDelays;
use std::time::Duration;

declare! {
    CAP_ABOVE_TIMEOUT: "cap-above-timeout", Warning, Table,
        "the longest delay is longer than the timeout",
        "Write a maxBackoff below the timeout.";
    CAP_EQUALS_TIMEOUT: "cap-equals-timeout", Note, Table,
        "the longest delay is the timeout",
        "Write a maxBackoff below the timeout.";
    BACKOFF_EXCEEDS_TIMEOUT: "backoff-exceeds-timeout", Warning, Table,
        "the first delay is as long as the timeout, so that nothing is retried",
        "Write a shorter initialBackoff, or a longer timeout.";
    MAX_EQUALS_INITIAL: "max-equals-initial", Note, Table,
        "the longest delay is the first, so that the multiplier has no effect",
        "Write a maxBackoff above initialBackoff.";
    MULTIPLIER_IS_1: "multiplier-is-1", Note, Table,
        "delays that do not grow",
        "Write a multiplier above 1, such as 1.3.";
    CONSTANT_DELAY: "constant-delay", Warning, Table,
        "delays that do not grow, and no number of attempts that ends the retries",
        "Write a multiplier above 1, such as 1.3, and a longest delay above the first.";
    SHORT_DELAY: "short-delay", Warning, Table,
        "a first delay of less than 10 ms",
        "Write a first delay such as 0.1s.";
    STEEP_DELAYS: "steep-delays", Warning, Table,
        "a multiplier above 10, with which the second delay is about the longest",
        "Write a multiplier such as 1.3 or 2.";
    SHRINKING_DELAY: "shrinking-delay", Warning, Table,
        "delays that get shorter",
        "Write a multiplier above 1, such as 1.3.";
    NO_JITTER: "no-jitter", Warning, Table,
        "clients that failed together retry together",
        "Leave jittered out.";
    MULTIPLIER_PRECISION: "multiplier-precision", Note, Table,
        "a multiplier that Google's Java generator rounds to one decimal",
        "Write a multiplier with one decimal.";
    ZERO_DELAY: "zero-delay", Warning, Table,
        "a first delay of zero is written",
        "Write a first delay such as 0.1s.";
    GENTLE_BACKOFF: "gentle-backoff-on-resource-exhausted", Warning, Table,
        "an overloaded service is called again soon, and nearly as often",
        "Start with a delay of a second or more, or double the delays.";
}

/// A delay that no service has recovered in.
const SHORT: Duration = Duration::from_millis(10);
/// A delay from which on a back-off from an overloaded service is not called gentle, whatever its growth.
const LONG_DELAY: Duration = Duration::from_secs(1);
/// Growth above which delays are hardly more than two: a short one and the longest.
const STEEPEST: f64 = 10.0;
/// Growth from which on it is not, whatever the first delay.
const STEEP: f64 = 2.0;

pub(in crate::lint::rules) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in subject.entries.iter().filter(|entry| entry.retries() || initial(entry).is_some()) {
        delays_of(subject, entry, report);
        let only_with_delay = entry.policy.settings().only_with_server_delay();
        // A server that names the delay gets the time that it needs.
        if entry.policy.codes().contains(Code::ResourceExhausted)
            && !only_with_delay.contains(Code::ResourceExhausted)
        {
            overload(subject, entry, report);
        }
    }
}

/// The rules for the delays alone, which hold for HTTP requests too.
pub(in crate::lint::rules) fn delays_of(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    cap(entry, report);
    growth(subject, entry, report);
    if entry.retries() {
        zero(subject, entry, report);
        short(subject, entry, report);
        jitter(entry, report);
    }
}

/// The first delay, if one is set that is longer than zero.
fn initial(entry: &EntryView<'_>) -> Option<Duration> {
    entry.policy.settings().initial_retry_delay().filter(|delay| !delay.is_zero())
}

/// The delays as the table's reader waits them.
fn delays(subject: &Subject<'_>, entry: &EntryView<'_>) -> RetryDelays {
    entry.policy.settings().retry_delays(subject.table.dialect().compatibility())
}

fn zero(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    if entry.policy.origin_of(PolicyField::InitialRetryDelay).is_none() || initial(entry).is_some() {
        return;
    }
    let first = delays(subject, entry).initial();
    let message = if first.is_zero() {
        "retries follow each other at once".to_owned()
    } else {
        format!("a delay of zero is treated as unset: the first one is {first:?}")
    };
    let help = "write a delay such as 0.1s: clients that do not wait prolong an outage";
    report.add(&ZERO_DELAY, Place::value(entry, PolicyField::InitialRetryDelay), message, help);
}

/// Delays in which no service recovers.
fn short(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let first = delays(subject, entry).initial();
    if first.is_zero() || first >= SHORT {
        return;
    }
    let is_capped = entry.policy.settings().max_retry_delay().is_some_and(|max| max < SHORT);
    let (field, remedy) = if is_capped {
        (PolicyField::MaxRetryDelay, "write a first delay such as 0.1s, and a longest one such as 10s")
    } else {
        (PolicyField::InitialRetryDelay, "write a first delay such as 0.1s")
    };
    let message = format!("the first retry follows after {first:?}");
    report.add(&SHORT_DELAY, Place::value(entry, field), message, remedy);
}

fn jitter(entry: &EntryView<'_>, report: &mut Report) {
    if !entry.policy.settings().jittered() {
        let help = "leave jittered out: in an outage all clients retry at the same moments";
        report.add(&NO_JITTER, Place::value(entry, PolicyField::Jittered), "delays have no jitter", help);
    }
}

/// Returns whether delays that do not grow continue until the timeout.
fn is_constant(subject: &Subject<'_>, entry: &EntryView<'_>) -> bool {
    let (settings, delays) = (entry.policy.settings(), delays(subject, entry));
    let grows = delays.multiplier().to_bits() != 1.0_f64.to_bits() && delays.max() != Some(delays.initial());
    entry.retries()
        && !grows
        && !delays.initial().is_zero()
        && settings.max_attempts().is_none()
        && settings.total_timeout().is_some()
}

fn constant(entry: &EntryView<'_>, delay: Duration, report: &mut Report) {
    let settings = entry.policy.settings();
    let grows = settings.retry_delay_multiplier().is_some_and(|multiplier| multiplier > 1.0);
    let is_capped = settings.max_retry_delay().is_some_and(|max| max <= delay);
    let (field, remedy) = match (grows, is_capped) {
        (true, _) => (PolicyField::MaxRetryDelay, "write a longest delay well above the first"),
        (false, true) => (
            PolicyField::RetryDelayMultiplier,
            "write a multiplier such as 1.3, and a longest delay well above the first",
        ),
        (false, false) => (PolicyField::RetryDelayMultiplier, "write a multiplier such as 1.3"),
    };
    let message = format!("every delay is {delay:?}, and only the timeout ends the retries");
    let help = format!("{remedy}: clients that do not slow down prolong an outage");
    report.add(&CONSTANT_DELAY, Place::value(entry, field), message, help);
}

fn cap(entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let Some(total) = settings.total_timeout() else { return };
    if let Some(initial) = initial(entry).filter(|initial| *initial >= total) {
        let message = format!("the first delay, {initial:?}, leaves no time for a retry within {total:?}");
        let origin = Place::value(entry, PolicyField::InitialRetryDelay);
        let help = "write a shorter delay or a longer timeout";
        return report.add(&BACKOFF_EXCEEDS_TIMEOUT, origin, message, help);
    }
    let Some(cap) = settings.max_retry_delay() else { return };
    let origin = Place::value(entry, PolicyField::MaxRetryDelay);
    if cap > total {
        let message = format!("the longest delay, {cap:?}, is longer than the timeout, {total:?}");
        let help = "no delay can get that long: write a fraction of the timeout, or a longer timeout";
        report.add(&CAP_ABOVE_TIMEOUT, origin, message, help);
    } else if cap == total {
        let message = format!("the longest delay is the timeout, {total:?}");
        let help = "no delay can get that long: write a fraction of the timeout";
        report.add(&CAP_EQUALS_TIMEOUT, origin, message, help);
    }
}

fn growth(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let is_constant = is_constant(subject, entry);
    if is_constant {
        constant(entry, delays(subject, entry).initial(), report);
    }
    let Some(multiplier) = settings.retry_delay_multiplier() else { return };
    let is_written = entry.policy.origin_of(PolicyField::RetryDelayMultiplier).is_some();
    let origin = Place::value(entry, PolicyField::RetryDelayMultiplier);
    if let Some(initial) = initial(entry)
        && settings.max_retry_delay() == Some(initial)
        && multiplier > 1.0
        && !is_constant
    {
        let message =
            format!("the longest delay is the first, {initial:?}, so that the multiplier has no effect");
        let origin = Place::value(entry, PolicyField::MaxRetryDelay);
        report.add(&MAX_EQUALS_INITIAL, origin, message, "write a longer maximum");
    }
    if multiplier < 1.0 {
        let message = format!("each delay is {multiplier} times the previous one");
        let help = "write a multiplier such as 1.3: clients that speed up prolong an outage";
        report.add(&SHRINKING_DELAY, origin.clone(), message, help);
    }
    if multiplier > STEEPEST {
        let message = format!("each delay is {multiplier} times the previous one");
        let help =
            "write a multiplier such as 1.3 or 2: the second delay is about the longest, or leaves no time";
        report.add(&STEEP_DELAYS, origin.clone(), message, help);
    }
    if is_written && !is_constant && multiplier.to_bits() == 1.0_f64.to_bits() {
        let help = "write a multiplier such as 1.3: clients that do not slow down prolong an outage";
        report.add(&MULTIPLIER_IS_1, origin.clone(), "delays do not grow", help);
    }
    let one_decimal: f64 = format!("{multiplier:.1}").parse().unwrap_or(multiplier);
    let is_read_by_java = entry.is_of_service_config() && subject.table.dialect() == Dialect::AsWritten;
    if is_read_by_java && one_decimal.to_bits() != multiplier.to_bits() {
        let message = format!("Google's Java generator rounds {multiplier} to one decimal");
        report.add(&MULTIPLIER_PRECISION, origin, message, "write a multiplier with one decimal");
    }
}

fn overload(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let delays = delays(subject, entry);
    let (initial, multiplier) = (delays.initial(), delays.multiplier());
    if initial < LONG_DELAY && multiplier < STEEP {
        let message =
            format!("RESOURCE_EXHAUSTED is retried after {initial:?}, and delays grow by {multiplier} only");
        let help = "start with 1s or more, or double the delays: a service without resources needs time";
        report.add(&GENTLE_BACKOFF, Place::code(entry, Code::ResourceExhausted.into()), message, help);
    }
}
