//! The attempts that settings lead to, in words and as a table.

use super::lines::DocLines;
use super::words::code;
use gax_retry::settings::RetryDelays;
use gax_retry::{AttemptPlan, CodeSet, Compatibility, Hedging, MethodKind, NoJitter, Policy, RetrySettings};
use gax_table::SourceLocation;
use gax_text::Human;
use std::path::Path;
use std::time::Duration;

/// The most rows of a table; the rest is counted.
const MAX_ROWS: usize = 8;

/// Where a method's policy is from: the names of its definitions and the place in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) codes: &'a str,
    pub(crate) params: &'a str,
    pub(crate) origin: Option<&'a SourceLocation>,
}

/// Appends what the table says of a method, and the attempts that it leads to.
pub(crate) fn policy_docs(
    docs: DocLines,
    kind: MethodKind,
    (codes, settings): (CodeSet, &RetrySettings),
    hedging: Option<&Hedging>,
    compatibility: Compatibility,
    source: Source<'_>,
) -> DocLines {
    let policy = Policy::with_compatibility(settings, codes, compatibility).with_hedging(hedging.copied());
    let policy = if kind == MethodKind::ServerStreaming { policy.without_rpc_timeouts() } else { policy };
    let hanging = AttemptPlan::new(&policy, &[], &mut NoJitter);
    let docs = match hedging {
        Some(hedging) => docs.block([hedged(hedging, settings)]),
        None => docs.block([summary(codes, settings, compatibility)]),
    };
    let docs = docs.block([place(source)]);
    let docs = match kind {
        MethodKind::ServerStreaming => docs.block([
            "A stream is not retried after its first message. The attempts if the server does not reply:",
        ]),
        _ => docs.block(["The attempts if the server does not reply:"]),
    };
    let docs = docs.block(table(&hanging));
    match refused(&policy, codes) {
        Some(text) => docs.block([text]),
        None => docs,
    }
}

/// Hedging in a sentence.
fn hedged(hedging: &Hedging, settings: &RetrySettings) -> String {
    let attempts = hedging.max_attempts();
    let when = hedging.spacing();
    let total =
        settings.total_timeout().map(|total| format!(", within {:#}", Human(total))).unwrap_or_default();
    format!("Hedged: up to {attempts} attempts, {when}{total}; the first good reply wins.")
}

/// Codes and settings in a sentence.
fn summary(codes: CodeSet, settings: &RetrySettings, compatibility: Compatibility) -> String {
    let names: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let retried = match names.as_slice() {
        [] => "Not retried".to_owned(),
        [code] => format!("Retried on {code}"),
        [first @ .., last] => format!("Retried on {} and {last}", first.join(", ")),
    };
    let only = settings.only_with_server_delay();
    let retried = if only.is_empty() || codes.is_empty() {
        retried
    } else {
        format!("{retried} ({only} only if the server asks for a delay)")
    };
    let total = settings.total_timeout().map(|total| format!("within {:#}", Human(total)));
    let attempts = settings
        .max_attempts()
        .map(|attempts| format!("{attempts} attempt{} at most", if attempts == 1 { "" } else { "s" }));
    let limits: Vec<String> = total.into_iter().chain(attempts).collect();
    let limits = if limits.is_empty() { "without a limit".to_owned() } else { limits.join(", ") };
    let delays = if codes.is_empty() { String::new() } else { delays(settings.retry_delays(compatibility)) };
    format!("{retried}, {limits}{delays}.")
}

fn delays(delays: RetryDelays) -> String {
    let cap = delays.max().map(|cap| format!(", {:#} at most", Human(cap)));
    format!(
        "; delays from {:#}, times {}{}",
        Human(delays.initial()),
        delays.multiplier(),
        cap.unwrap_or_default()
    )
}

/// The definitions, and where the table has them.
fn place(source: Source<'_>) -> String {
    let names = format!("{}, {}", code(source.codes), code(source.params));
    match source.origin {
        Some(origin) => {
            // A whole path would make the output depend on the machine.
            let file = origin.file().and_then(|file| Path::new(file).file_name());
            let file = file.map_or_else(String::new, |file| format!("{}:", file.to_string_lossy()));
            format!("From the retry table: {names} ({}).", code(&format!("{file}{}", origin.line())))
        }
        None => format!("The retry table has no entry for it: {names}."),
    }
}

fn table(plan: &AttemptPlan) -> Vec<String> {
    let mut lines = vec![
        "| attempt | delay | RPC timeout | from | to |".to_owned(),
        "| --- | --- | --- | --- | --- |".to_owned(),
    ];
    let attempts = plan.attempts();
    for attempt in attempts.iter().take(MAX_ROWS) {
        let timeout =
            attempt.rpc_timeout().map_or_else(|| "none".to_owned(), |timeout| Human(timeout).to_string());
        lines.push(row(
            &attempt.number().to_string(),
            attempt.delay(),
            &timeout,
            &Human(attempt.start()).to_string(),
            &Human(attempt.end()).to_string(),
        ));
    }
    if let Some(more) = attempts.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
        let and = if plan.is_truncated() { "at least" } else { "and" };
        lines.push(format!("| {and} {more} more | | | | {} |", Human(plan.end())));
    }
    for endless in plan.endless() {
        let number = endless.number().to_string();
        lines.push(row(&number, endless.delay(), "none", &Human(endless.start()).to_string(), "no end"));
    }
    if let Some(refused) = plan.not_attempted() {
        let number = format!("{}, not attempted", refused.attempt());
        lines.push(row(&number, refused.delay(), "", "", ""));
    }
    lines
}

fn row(attempt: &str, delay: Duration, timeout: &str, from: &str, to: &str) -> String {
    let delay = if delay.is_zero() { "none".to_owned() } else { Human(delay).to_string() };
    format!("| {attempt} | {delay} | {timeout} | {from} | {to} |")
}

/// The attempts if every one fails immediately: they show the delays, which a table of long timeouts does not.
fn refused(policy: &Policy, codes: CodeSet) -> Option<String> {
    if codes.is_empty() {
        return None;
    }
    let code = policy.usual_refusal();
    let plan = AttemptPlan::refused(policy, &mut NoJitter);
    let last = plan.attempts().last().filter(|last| last.number() > 1)?;
    let count =
        if plan.is_truncated() { "more than ten thousand".to_owned() } else { last.number().to_string() };
    Some(format!(
        "If each attempt fails immediately with `{code}`, {count} are made, the last one after {} (less with jitter).",
        Human(last.start())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::Code;

    fn docs(codes: CodeSet, settings: &RetrySettings) -> Vec<String> {
        let source = Source { codes: "a_codes", params: "a_params", origin: None };
        let rules = Compatibility::Documented;
        policy_docs(DocLines::new("X."), MethodKind::Unary, (codes, settings), None, rules, source)
            .into_lines()
    }

    #[test]
    fn the_documented_table_is_shown_with_its_refused_row() {
        const MS: Duration = Duration::from_millis(1);
        let settings = RetrySettings::builder()
            .initial_retry_delay(200 * MS)
            .retry_delay_multiplier(2.0)
            .max_retry_delay(500 * MS)
            .initial_rpc_timeout(1500 * MS)
            .rpc_timeout_multiplier(2.0)
            .max_rpc_timeout(3000 * MS)
            .total_timeout(5000 * MS)
            .build()
            .unwrap();
        let lines = docs(CodeSet::from([Code::DeadlineExceeded]), &settings);
        assert_eq!(
            lines,
            [
                "X.",
                "",
                "Retried on `DEADLINE_EXCEEDED`, within 5 s; delays from 200 ms, times 2, 500 ms at most.",
                "",
                "The retry table has no entry for it: `a_codes`, `a_params`.",
                "",
                "The attempts if the server does not reply:",
                "",
                "| attempt | delay | RPC timeout | from | to |",
                "| --- | --- | --- | --- | --- |",
                "| 1 | none | 1.5 s | 0 ms | 1.5 s |",
                "| 2 | 200 ms | 3 s | 1.7 s | 4.7 s |",
                "| 3, not attempted | 400 ms |  |  |  |",
                "",
                "If each attempt fails immediately with `DEADLINE_EXCEEDED`, 11 are made, the last one after 4.6 s (less with jitter).",
            ]
        );
    }

    #[test]
    fn without_limits_the_attempt_has_no_end() {
        let lines = docs(CodeSet::EMPTY, &RetrySettings::default());
        assert_eq!(lines[2], "Not retried, without a limit.");
        assert_eq!(lines.last().unwrap(), "| 1 | none | none | 0 ms | no end |");
    }

    #[test]
    fn long_tables_are_cut_off_and_counted() {
        let settings = RetrySettings::builder()
            .initial_rpc_timeout(Duration::from_secs(1))
            .initial_retry_delay(Duration::ZERO)
            .max_attempts(20)
            .build()
            .unwrap();
        let lines = docs(CodeSet::from([Code::DeadlineExceeded]), &settings);
        assert!(lines.contains(&"| and 12 more | | | | 20 s |".to_owned()), "{lines:?}");
    }
}
