//! Differences between clients, as findings of the linter.

use super::report::{ClientReport, Deviation, Verdict};
use super::rules::Client;
use super::script::ClientOptions;
use crate::document::Source;
use crate::{Finding, Severity};

/// Returns what these clients don't do as a service config says, each with its place, what happens, and what to write so that all
/// of them agree. Without clients at most one note: that clients disagree about something harmful.
#[must_use]
pub fn findings(file: Option<&str>, text: &[u8], clients: &[Client]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(text);
    let source = Source::new(file.map(Into::into), &text);
    let options = ClientOptions::default();
    let named = if clients.is_empty() { &Client::ALL } else { clients };
    let read = named.iter().map(|client| client.read_source(&source, &text, &options, None, None));
    let reports: Vec<ClientReport> = read.collect();
    let mut said: Vec<(&Deviation, Vec<Client>)> = Vec::new();
    for report in &reports {
        for known in &report.deviations {
            match said.iter_mut().find(|(other, _)| *other == known) {
                Some((_, clients)) => clients.push(report.client),
                None => said.push((known, vec![report.client])),
            }
        }
    }
    if !clients.is_empty() {
        return said.into_iter().map(|(known, clients)| finding(known, &clients)).collect();
    }
    let disputed = said.into_iter().filter(|(known, clients)| {
        // A channel that isn't made and calls that all fail are the same harm, which all clients may agree on.
        let same = |report: &ClientReport| {
            report
                .deviations
                .iter()
                .any(|other| other.message == known.message && other.origin == known.origin)
        };
        known.fix.is_some() && is_harmful(known, clients) && !reports.iter().all(same)
    });
    let worst = disputed.reduce(|worst, other| if other.0.verdict > worst.0.verdict { other } else { worst });
    let note = worst.map(|(known, clients)| {
        let help = format!("{}; name the clients that you have by --client, or in gax.toml", known.help);
        finding(known, &clients).renamed("clients-disagree", Severity::Note).with_help(help)
    });
    note.into_iter().collect()
}

/// Returns whether someone is worse off without knowing. That hedging is off everywhere but here is no surprise.
fn is_harmful(known: &Deviation, clients: &[Client]) -> bool {
    let is_hedging = known.message.contains("hedging");
    let is_early = known.code == Some("DEADLINE_EXCEEDED") && known.message.contains("early");
    let is_timeout = known.verdict == Verdict::Changed && known.message.contains("timeout");
    !is_hedging && !is_early && !clients.is_empty() && (known.verdict > Verdict::Changed || is_timeout)
}

fn finding(known: &Deviation, clients: &[Client]) -> Finding {
    let clients = clients.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let message = &known.message;
    let (rule, severity, message) = match known.verdict {
        Verdict::RefusedAtCreation => {
            ("client-refuses", Severity::Error, format!("no channel is made by {clients}: {message}"))
        }
        Verdict::RefusedPerCall => {
            let code = known.code.map(|code| format!(" ({code})")).unwrap_or_default();
            ("client-refuses", Severity::Error, format!("every call of {clients} fails{code}: {message}"))
        }
        Verdict::NoRetries => {
            ("client-never-retries", Severity::Warning, format!("nothing is retried by {clients}: {message}"))
        }
        Verdict::Changed if known.fix.is_some() => {
            ("client-changes", Severity::Warning, format!("changed by {clients}: {message}"))
        }
        _ => ("client-differs", Severity::Note, format!("{clients}: {message}")),
    };
    Finding::new(rule, severity, message).with_help(known.help.clone()).at(known.origin.clone())
}
