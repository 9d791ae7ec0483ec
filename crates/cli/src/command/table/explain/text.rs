//! The explanation for people.

use super::explanation::Explanation;
use super::reader::Reader;
use crate::command::table::bounds::Bounds;
use crate::command::table::view::{
    MethodView, codes_text, count_limit, delay, limit, line_of, most_attempts, recoverable_codes,
    rpc_timeout, settings_table,
};
use crate::render::{
    Align, Cell, Count, Grid, HEAD, Human, Timeline, attempts, table, times, until_measured,
};
use gax_retry::Hedging;
use gax_retry::plan::{Impact, Simulation};
use gax_table::{Dialect, HedgingPolicy, MethodPolicy, PolicyField};
use gax_text::Escaped;
use std::fmt::Write as _;

/// The most attempts that the table of attempts shows.
const SHOWN: usize = 12;

/// The method in the dialect that was asked for.
pub(super) fn own(
    explanation: &Explanation,
    view: &MethodView<'_>,
    policy: MethodPolicy<'_>,
    impact: &Impact,
    bounds: Bounds,
) -> String {
    let dialect = view.table.dialect();
    let mut text = format!("{HEAD}{}{HEAD:#}\n\n", Escaped(&explanation.method));
    for sentence in
        bounds.sentence().into_iter().chain(sentences(explanation, (policy, dialect), impact, bounds))
    {
        let _infallible = writeln!(text, "{sentence}");
    }
    for sentence in view.sentences() {
        let (first, rest) = sentence.split_at_checked(1).unwrap_or_default();
        let _infallible = writeln!(text, "{}{rest}.", first.to_uppercase());
    }
    let _infallible = writeln!(text, "\n{}", table(&origins(policy, dialect, bounds), 0));
    text + &refused(&explanation.impact.refused)
}

/// The attempts of a service that refuses them; nothing for a single one.
pub(super) fn refused(timeline: &Timeline) -> String {
    let mut refused = timeline.clone();
    let count = refused.attempts.len();
    if count < 2 {
        return String::new();
    }
    let left_out = count.saturating_sub(SHOWN);
    refused.attempts.truncate(SHOWN);
    if left_out > 0 {
        refused.not_attempted = None;
    }
    let rows = attempts(&refused.table());
    let more = if left_out > 0 { format!("and {left_out} more\n") } else { String::new() };
    format!("If the service refuses every attempt at once, without jitter:\n\n{rows}{more}\n")
}

/// The method in all dialects, side by side.
pub(super) fn others(dialects: &[Reader]) -> String {
    let mut text = format!("How others read the same table:\n\n{}", table(&grid(dialects), 0));
    for reader in dialects {
        if let Some(problem) = &reader.problem {
            let _infallible = writeln!(text, "\n{} {}.", reader.dialect, Escaped(problem));
        }
    }
    text
}

fn sentences(
    explanation: &Explanation,
    (policy, dialect): (MethodPolicy<'_>, Dialect),
    impact: &Impact,
    bounds: Bounds,
) -> Vec<String> {
    let (settings, codes) = (policy.settings(), policy.codes());
    let most = impact.most_attempts();
    let attempts = match explanation.impact.attempts_at_most {
        // One hedge is none.
        most if policy.hedging().is_some() && most != Some(1) => hedged(policy, impact),
        Some(1) if codes.is_empty() && policy.hedging().is_none() => {
            "A call makes one attempt: no code is retryable.".to_owned()
        }
        Some(1) => "A call makes one attempt.".to_owned(),
        Some(count) => format!("A call makes at most {count} attempts. Retryable codes: {codes}."),
        None if impact.is_load_capped() => {
            let delays = settings.retry_delays(dialect.compatibility());
            let why = if delays.initial().is_zero() {
                "there is no delay: nothing slows the attempts down".to_owned()
            } else {
                format!("delays are short ({}): they hardly slow the attempts down", delay(policy, dialect))
            };
            let most = Count(Simulation::MAX_ATTEMPTS as u64);
            format!(
                "The number of attempts has no limit, and {why}. In 100 simulated outages the busiest call made at least {most} \
                 attempts. Retryable codes: {codes}."
            )
        }
        None => format!(
            "The number of attempts has no limit. In 100 simulated outages the busiest call made {most} attempts. Retryable codes: {codes}."
        ),
    };
    let total = bounds.total_timeout(settings).0.map(|total| format!("{:#}", Human(total)));
    let ends = match (total, explanation.impact.attempts_at_most) {
        (Some(total), Some(1)) => format!("The call ends with that attempt, after {total} at the latest."),
        (None, Some(1)) => "The call ends with that attempt.".to_owned(),
        (Some(total), Some(_)) => format!(
            "It ends with a success, with any other code, with the last attempt, or after {total} in total."
        ),
        (Some(total), None) => {
            format!("It ends with a success, with any other code, or after {total} in total.")
        }
        (None, _) => "It ends with a success, with any other code, or with the last attempt.".to_owned(),
    };
    let worst = worst_case(impact);
    let outage = if most == 1 {
        "An outage does not multiply the load of the service.".to_owned()
    } else {
        let is_exact = explanation.impact.attempts_at_most == u32::try_from(most).ok();
        let average = if is_exact { "" } else { ", on average" };
        let times = times(impact);
        format!(
            "If the service refuses every request at once, it gets {times} times its usual load{average}."
        )
    };
    let throttled = impact.throttled_load().filter(|_| most > 1).map(|load| {
        format!(
            "With the retry throttling it gets {load:.2} times, over 100 calls that start with a full bucket."
        )
    });
    [attempts, ends, worst, outage].into_iter().chain(throttled).collect()
}

/// The longest that a call may take.
pub(super) fn worst_case(impact: &Impact) -> String {
    match (impact.worst_case(), impact.worst_case_without_server_delays()) {
        (None, _) => "Worst case: unbounded, because an attempt has no deadline.".to_owned(),
        (Some(time), Some(own)) if own < time => {
            format!("Worst case: {}, or {} if no server asks for a delay.", Human(time), Human(own))
        }
        (Some(time), _) => format!("Worst case: {}.", Human(time)),
    }
}

/// The attempts of a hedged call.
fn hedged(policy: MethodPolicy<'_>, impact: &Impact) -> String {
    let (most, at_once) = (most_attempts(impact), impact.load_of_silence());
    let when = policy.hedging().map(|hedging| hedging.to_hedging().spacing()).unwrap_or_default();
    let first_calls = policy.hedging().filter(|hedging| hedging.percentile().is_some()).map(|hedging| {
        let until = until_measured(hedging.to_hedging().delay_between().map(Human));
        format!(" For the first {} calls of a method {until}.", Hedging::FIRST_CALLS)
    });
    let first_calls = first_calls.unwrap_or_default();
    let codes = codes_text(recoverable_codes(policy));
    format!(
        "A call is hedged: up to {most} attempts, {when}; the first good reply wins.{first_calls} Non-fatal codes: {codes}. \
         If the service is too slow to reply, it gets {at_once} times its usual load."
    )
}

/// Which value comes from which line.
fn origins(policy: MethodPolicy<'_>, dialect: Dialect, bounds: Bounds) -> Grid {
    let settings = policy.settings();
    let (total, total_variable) = bounds.total_timeout(settings);
    let hedging = policy.hedging();
    let most = hedging.map_or(settings.max_attempts(), HedgingPolicy::max_attempts);
    let (most, most_variable) = bounds.attempts(most);
    let by_hedging = |field| if hedging.is_some() { PolicyField::Hedging } else { field };
    let mut table = settings_table();
    for (name, value, field, variable) in [
        (
            if hedging.is_some() { "non-fatal codes" } else { "retryable codes" },
            codes_text(recoverable_codes(policy)),
            by_hedging(PolicyField::RetryableCodes),
            None,
        ),
        ("total timeout", limit(total), PolicyField::TotalTimeout, total_variable),
        ("RPC timeout", rpc_timeout(settings), PolicyField::InitialRpcTimeout, None),
        (
            "delay",
            hedging.map_or_else(|| delay(policy, dialect), |hedging| hedging.to_hedging().spacing()),
            by_hedging(PolicyField::InitialRetryDelay),
            None,
        ),
        ("attempts", count_limit(most), by_hedging(PolicyField::MaxAttempts), most_variable),
    ] {
        let line = Some(line_of(policy, field)).filter(|place| !place.is_empty());
        let place = variable.map(str::to_owned).or(line);
        table.push([
            Cell::from(name),
            Cell::from(value),
            Cell::from(place.unwrap_or_else(|| "default".into())),
        ]);
    }
    table
}

fn grid(dialects: &[Reader]) -> Grid {
    let mut table = Grid::new([
        ("dialect", Align::Left),
        ("attempts", Align::Right),
        ("total timeout", Align::Right),
        ("worst case", Align::Right),
        ("load", Align::Right),
        ("codes", Align::Left),
    ]);
    for reader in dialects {
        if reader.problem.is_some() {
            let dash = || Cell::from("-");
            table.push([Cell::from(reader.dialect), dash(), dash(), dash(), dash(), dash()]);
            continue;
        }
        let codes = reader.codes.as_ref().filter(|codes| !codes.is_empty());
        table.push([
            Cell::from(reader.dialect),
            Cell::from(match (codes, reader.max_attempts) {
                (None, _) => "1".to_owned(),
                (Some(_), None) => "no limit".to_owned(),
                (Some(_), Some(count)) => count.to_string(),
            }),
            reader.total_timeout_ms.map_or_else(|| Cell::from("none"), Cell::from),
            reader.worst_case_ms.map_or_else(|| Cell::from("unbounded"), Cell::from),
            Cell::from(reader.load_text.clone()),
            Cell::from(codes.map_or_else(|| "none".to_owned(), |codes| codes.join(", "))),
        ]);
    }
    table
}
