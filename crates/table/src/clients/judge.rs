//! The verdicts, from what a client has read.

use super::assess::Entry;
use super::fields::Reader;
use super::report::{ClientReport, Deviation, MethodReport, Verdict};
use super::script::Script;
use crate::model::shown_name;
use std::time::Duration;

/// Why a method is sent once that nobody wants to be retried.
const NOTHING_ASKED: &str = "the entry asks for no retries";

impl Reader<'_> {
    pub(super) fn report(
        self,
        entries: &[Entry],
        script: Option<&Script>,
        method: Option<&str>,
    ) -> ClientReport {
        let worst_of = |of: Option<usize>| {
            let about = |known: &&Deviation| known.entry.is_none() || known.entry == of;
            worst(self.deviations.iter().filter(about))
        };
        let is_refusal = |known: &&Deviation| {
            known.verdict >= Verdict::RefusedPerCall && known.code != Some("DEADLINE_EXCEEDED")
        };
        let refused = worst(self.deviations.iter().filter(is_refusal));
        let all = refused.or(worst(self.deviations.iter()));
        let named = chosen(entries, method);
        let is_hidden = |service: &str, method: &str| {
            !method.is_empty()
                && entries.iter().any(|entry| {
                    entry.policy.is_some()
                        && entry.names.iter().any(|name| name.0 == service && name.1.is_empty())
                })
        };
        let mut counts = false;
        let mut methods: Vec<MethodReport> = Vec::new();
        for ((service, method), number, entry) in named {
            let deviation = worst_of(Some(number)).filter(|known| known.verdict > Verdict::AsWritten);
            let known = refused.or(deviation);
            let mut verdict = known.map_or(Verdict::AsWritten, |known| known.verdict);
            let mut reason = known.map(|known| known.message.clone());
            if refused.is_none()
                && let hides = is_hidden(service, method)
                && entry.policy.is_none()
                && (verdict < Verdict::Changed || hides && verdict < Verdict::NoRetries)
            {
                // Of a method for which only the timeout was asked, what becomes of that is the answer.
                verdict = Verdict::NoRetries;
                counts |= hides;
                let hidden = if hides { ", and it hides that of its service" } else { "" };
                reason = Some(format!("the entry asks for no retries{hidden}"));
            }
            counts |= deviation.is_some() || entry.policy.is_some();
            let play = self.play(entry.policy.as_ref(), entry.timeout, script, refused.is_some());
            if let Some(change) = play.change.filter(|_| verdict < Verdict::NoRetries) {
                (verdict, reason) = (change.0.max(verdict), Some(change.1));
            }
            methods.push(MethodReport {
                method: shown_name(service, method),
                verdict,
                reason,
                attempts: play.attempts,
                delays: play.delays,
                timeout: entry.timeout.and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos),
                codes: entry.policy.iter().flat_map(|policy| &policy.codes).map(|code| code.name()).collect(),
            });
        }
        // Methods for which nothing is asked don't count beside those for which something is.
        let asked = methods.iter().filter(|method| {
            method.verdict != Verdict::NoRetries
                || !counts
                || method.reason.as_deref().is_none_or(|reason| reason != NOTHING_ASKED)
        });
        let by_method =
            asked.map(|method| (method.verdict, method.reason.clone())).max_by_key(|(verdict, _)| *verdict);
        let whole = all
            .filter(|known| known.verdict > Verdict::AsWritten)
            .filter(|known| known.entry.is_none() || refused.is_some() || methods.is_empty());
        let whole = whole.map(|known| (known.verdict, Some(known.message.clone())));
        let nothing = (Verdict::NoRetries, Some("no entry of the table asks for retries of it".to_owned()));
        let worst = match by_method {
            Some(_) => by_method.into_iter().chain(whole).max_by_key(|(verdict, _)| *verdict),
            None => whole.filter(|(verdict, _)| *verdict >= Verdict::NoRetries),
        };
        let (verdict, reason) = worst.unwrap_or(nothing);
        let code =
            self.deviations.iter().filter(|known| known.verdict == verdict).find_map(|known| known.code);
        ClientReport { client: self.client, verdict, code, reason, methods, deviations: self.deviations }
    }
}

/// The first of the worst.
fn worst<'a>(deviations: impl Iterator<Item = &'a Deviation>) -> Option<&'a Deviation> {
    deviations.reduce(|worst, known| if known.verdict > worst.verdict { known } else { worst })
}

/// The names of a table with the number of their entry: all, or the one that is for a method.
fn chosen<'a>(entries: &'a [Entry], method: Option<&str>) -> Vec<(&'a (String, String), usize, &'a Entry)> {
    let numbered = entries.iter().enumerate();
    let named =
        numbered.flat_map(|(number, entry)| entry.names.iter().map(move |name| (name, number, entry)));
    let Some(method) = method else { return named.collect() };
    let (service, method) = method.trim_start_matches('/').rsplit_once('/').unwrap_or((method, ""));
    let fits = |name: &(String, String)| match (name.0.as_str(), name.1.as_str()) {
        (known, own) if known == service && own == method => 3,
        (known, "") if known == service => 2,
        ("", _) => 1,
        _ => 0,
    };
    named.filter(|(name, ..)| fits(name) > 0).max_by_key(|(name, ..)| fits(name)).into_iter().collect()
}
