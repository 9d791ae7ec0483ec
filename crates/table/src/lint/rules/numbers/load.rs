//! How much more a service gets than the calls that are made: by hedges, without throttling, in an outage.

use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::rules::codes::among;
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, PolicyField, SettingsKey};
use gax_retry::plan::Impact;
use gax_retry::{Code, CodeSet};
use std::collections::HashMap;
use std::time::Duration;

declare! {
    OUTAGE_LOAD: "outage-load", Error, MaxLoad,
        "an outage multiplies the load of the service by more than is allowed",
        "Write a number of attempts, longer delays or a shorter timeout.";
    HEDGING_AT_ONCE: "hedging-at-once", Warning, Table,
        "hedges without a delay: every call is sent several times",
        "Write a hedging delay that most calls stay below.";
    HEDGING_EXCEEDS_TIMEOUT: "hedging-exceeds-timeout", Warning, Table,
        "a hedging delay as long as the timeout, so that nothing is hedged",
        "Write a shorter hedging delay, or a longer timeout.";
    THROTTLING_BY_ONE_FAILURE: "throttling-by-one-failure", Warning, Table,
        "so few tokens that a single failure ends all retries",
        "Write more tokens, such as 10.";
    HEDGED_SOON: "hedging-too-soon", Warning, Table,
        "a hedging delay of less than 10 ms: nearly every call is sent several times",
        "Write a hedging delay that most calls stay below.";
    HEDGED_ON_OVERLOAD: "hedged-on-overload", Warning, Table,
        "a service that is overloaded, or fails for an unknown reason, gets the next attempt at once",
        "Leave all codes but UNAVAILABLE out of the non-fatal ones.";
    UNTHROTTLED_HEDGING: "unthrottled-hedging", Warning, Table,
        "more than four copies of a call, and no retry throttling",
        "Write two or three attempts, or retryThrottling.";
    THROTTLING_FOR_GOOD: "throttling-for-good", Warning, Table,
        "a token ratio that is rounded to zero, so that successes return no tokens",
        "Write a ratio such as 0.1.";
    THROTTLING_LIFTED: "throttling-lifted-by-one-success", Warning, Table,
        "a token ratio with which a single success allows retries again",
        "Write a ratio below half of the tokens, such as 0.1.";
}

/// Codes of services that have no room, or no reason that anybody knows.
const OVERLOADED: [Code; 3] = [Code::ResourceExhausted, Code::Internal, Code::Unknown];
/// A time in which hardly any call has its reply.
const SHORT: Duration = Duration::from_millis(10);
/// Copies of a call that a service can bear when all calls are slow.
const FEW: u32 = 4;

pub(in crate::lint::rules) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in &subject.entries {
        hedging(subject, entry, report);
    }
    throttling(subject, report);
}

pub(in crate::lint::rules) fn hedging(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let Some(policy) = entry.policy.hedging() else { return };
    let place = || Place::value(entry, PolicyField::Hedging);
    let overloaded = among(policy.non_fatal_codes(), &OVERLOADED);
    // The codes of HTTP requests stand for statuses.
    if !overloaded.is_empty() && entry.policy.entry().is_some() {
        let message = format!("after {overloaded} the next attempt follows at once");
        let help = "leave it out: a service that is overloaded, or fails for an unknown reason, needs time";
        report.add(&HEDGED_ON_OVERLOAD, place(), message, help);
    }
    let most = policy.max_attempts().unwrap_or(2);
    if most > FEW && subject.table.throttling().is_none() {
        let message =
            format!("a slow service gets up to {most} times its usual load, and nothing limits that");
        let help = "write two or three attempts, or retry throttling";
        report.add(&UNTHROTTLED_HEDGING, place(), message, help);
    }
    if policy.percentile().is_some() || most < 2 {
        return;
    }
    let delay = policy.delay();
    if delay.is_zero() {
        let message = format!("every call is sent {most} times at once");
        let help = "write a hedging delay that most calls stay below, such as 1s";
        return report.add(&HEDGING_AT_ONCE, place(), message, help);
    }
    if delay < SHORT {
        let message = format!("the next attempt is sent {delay:?} after the previous one");
        let help = "write a hedging delay that most calls stay below, such as 1s";
        report.add(&HEDGED_SOON, place(), message, help);
    }
    if let Some(total) = entry.policy.settings().total_timeout().filter(|total| delay >= *total) {
        let message = format!("the hedging delay, {delay:?}, leaves no time for a hedge within {total:?}");
        let help = "write a shorter hedging delay, or a longer timeout";
        report.add(&HEDGING_EXCEEDS_TIMEOUT, place(), message, help);
    }
}

/// Retries stop where half of the tokens are gone or fewer are left.
fn throttling(subject: &Subject<'_>, report: &mut Report) {
    let Some(throttling) = subject.table.throttling() else { return };
    let (tokens, ratio) = (throttling.max_tokens(), throttling.token_ratio());
    let place =
        || Place::of(subject.table.files().iter().rev().find_map(|file| file.throttling_origin.as_ref()));
    if ratio < 0.001 {
        let message = format!(
            "a token ratio of {ratio} is rounded to zero: tokens that failures took are never returned"
        );
        report.add(&THROTTLING_FOR_GOOD, place(), message, "write a ratio such as 0.1");
    }
    if tokens <= 2.0 {
        let tokens = if tokens.to_bits() == 1.0_f64.to_bits() {
            "1 token".to_owned()
        } else {
            format!("{tokens} tokens")
        };
        let message = format!("with {tokens} a single failure ends all retries");
        report.add(&THROTTLING_BY_ONE_FAILURE, place(), message, "write more tokens, such as 10");
    } else if ratio * 2.0 >= tokens {
        let message = format!("a token ratio of {ratio} allows retries again after a single success");
        let help = "write a ratio below half of the tokens, such as 0.1";
        report.add(&THROTTLING_LIFTED, place(), message, help);
    }
}

/// Reports the entries by which an outage multiplies the load by more than `most`.
pub(in crate::lint) fn check_load(subject: &Subject<'_>, most: f64, report: &mut Report) {
    let mut known: HashMap<(CodeSet, SettingsKey, String), (f64, bool)> = HashMap::new();
    for entry in &subject.entries {
        let policy = &entry.policy;
        let key = (policy.codes(), policy.settings().into(), format!("{:?}", policy.hedging()));
        let (load, is_capped) = *known.entry(key).or_insert_with(|| load(subject, entry));
        if load > most {
            let at_least = if is_capped { "at least " } else { "" };
            let message = format!(
                "an outage multiplies the load of the service by {at_least}{load:.1}, and {most} is allowed"
            );
            let help = "write a number of attempts, longer delays or a shorter timeout";
            report.add(&OUTAGE_LOAD, Place::value(entry, PolicyField::RetryableCodes), message, help);
        }
    }
}

/// The attempts of a call in an outage, on average and with the table's retry throttling, and whether they are more.
fn load(subject: &Subject<'_>, entry: &EntryView<'_>) -> (f64, bool) {
    let dialect = subject.table.dialect();
    let throttling = subject.table.throttling().filter(|_| dialect != Dialect::GaxJava);
    let budget = throttling.map(|throttling| throttling.budget());
    let impact = Impact::of(&entry.policy.to_policy(dialect.compatibility()).with_budget(budget));
    match impact.throttled_load() {
        Some(load) => (load, false),
        None => (impact.load(), impact.is_load_capped()),
    }
}
