//! Differences between clients, as findings of the linter.

use super::report::{ClientReport, Deviation, Verdict};
use super::rules::Client;
use crate::{Finding, Severity};

/// Returns what clients don't do as a service config says, in the order of their places, each with what happens, and what to write so
/// that all of them agree.
#[must_use]
pub fn findings(reports: &[ClientReport]) -> Vec<Finding> {
    let mut said = distinct(reports);
    said.sort_by_key(|(known, _)| known.origin.span().start);
    said.into_iter().map(|(known, clients)| finding(known, &clients)).collect()
}

/// Returns the worst of what some of the clients do and others don't, where that is harmful.
#[must_use]
pub fn disagreement(reports: &[ClientReport]) -> Option<Finding> {
    let disputed = distinct(reports).into_iter().filter(|(known, _)| {
        // A channel that isn't made and calls that all fail are the same harm, which all clients may agree on.
        let is_same = |other: &Deviation| other.message == known.message && other.origin == known.origin;
        is_harmful(known) && !reports.iter().all(|report| report.deviations.iter().any(is_same))
    });
    // The first of those that are equally bad.
    let (known, clients) = disputed.rev().max_by_key(|(known, _)| known.verdict)?;
    let help = format!("{}; name the clients that you have by --client, or in gax.toml", known.help);
    let message = finding(known, &clients).message().to_owned();
    Some(Finding::new("clients-disagree", Severity::Note, message).with_help(help).at(known.origin.clone()))
}

/// What clients don't do as written, once for all that do the same.
fn distinct(reports: &[ClientReport]) -> Vec<(&Deviation, Vec<Client>)> {
    let mut said: Vec<(&Deviation, Vec<Client>)> = Vec::new();
    for (known, client) in
        reports.iter().flat_map(|report| report.deviations.iter().map(|known| (known, report.client)))
    {
        match said.iter_mut().find(|(other, _)| *other == known) {
            Some((_, clients)) => clients.push(client),
            None => said.push((known, vec![client])),
        }
    }
    said
}

/// Returns whether someone is worse off without knowing. That hedging is off everywhere but here is no surprise.
fn is_harmful(known: &Deviation) -> bool {
    let says = |part| known.message.contains(part);
    let is_early = known.code == Some("DEADLINE_EXCEEDED") && says("early");
    let is_timeout = known.verdict == Verdict::Changed && says("timeout");
    known.fix.is_some() && !says("hedging") && !is_early && (known.verdict > Verdict::Changed || is_timeout)
}

fn finding(known: &Deviation, clients: &[Client]) -> Finding {
    let clients = clients.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let code = known.code.map(|code| format!(" ({code})")).unwrap_or_default();
    let (rule, severity, before, after) = match known.verdict {
        Verdict::RefusedAtCreation => ("client-refuses", Severity::Error, "no channel is made by ", ""),
        Verdict::RefusedPerCall => ("client-refuses", Severity::Error, "every call of ", " fails"),
        Verdict::NoRetries => ("client-never-retries", Severity::Warning, "nothing is retried by ", ""),
        Verdict::Changed if known.fix.is_some() => ("client-changes", Severity::Warning, "changed by ", ""),
        _ => ("client-differs", Severity::Note, "", ""),
    };
    let message = format!("{before}{clients}{after}{code}: {}", known.message);
    Finding::new(rule, severity, message).with_help(known.help.clone()).at(known.origin.clone())
}
