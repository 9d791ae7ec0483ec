//! The verdicts, from what a client has read.

use super::assess::Entry;
use super::fields::Reader;
use super::report::{ClientReport, Deviation, MethodReport, Verdict};
use super::script::Script;
use crate::model::shown_name;
use std::time::Duration;

impl Reader<'_> {
    pub(super) fn report(
        self,
        entries: &[Entry],
        script: Option<&Script>,
        method: Option<&str>,
    ) -> ClientReport {
        let is_refusal = |known: &&Deviation| {
            known.verdict >= Verdict::RefusedPerCall && known.code != Some("DEADLINE_EXCEEDED")
        };
        let refused = worst(self.deviations.iter().filter(is_refusal));
        let is_hidden = |service: &str, method: &str| {
            let is_service = |name: &(String, String)| name.0 == service && name.1.is_empty();
            let hides = |entry: &Entry| entry.policy.is_some() && entry.names.iter().any(is_service);
            !method.is_empty() && entries.iter().any(hides)
        };
        let (mut methods, mut asked) = (Vec::new(), Vec::new());
        for ((service, method), number, entry) in chosen(entries, method) {
            let about = |known: &&Deviation| known.entry.is_none_or(|entry| entry == number);
            let deviation = worst(self.deviations.iter().filter(about));
            let deviation = deviation.filter(|known| known.verdict > Verdict::AsWritten);
            let (mut verdict, mut reason) = reasoned(refused.or(deviation));
            let hides = is_hidden(service, method);
            // Of a method for which only the timeout was asked, what becomes of that is the answer.
            let others = if hides { Verdict::Changed } else { Verdict::Unknown };
            if refused.is_none() && entry.policy.is_none() && verdict <= others {
                let hidden = if hides { ", and it hides that of its service" } else { "" };
                (verdict, reason) =
                    (Verdict::NoRetries, Some(format!("the entry asks for no retries{hidden}")));
            }
            let play = self.play(entry.policy.as_ref(), entry.timeout, script, refused.is_some());
            if let Some((change, why)) = play.change.filter(|_| verdict < Verdict::NoRetries) {
                (verdict, reason) = (verdict.max(change), Some(why));
            }
            if hides
                || entry.policy.is_some()
                || deviation.is_some_and(|known| known.verdict > Verdict::Unknown)
            {
                asked.push((verdict, reason.clone()));
            }
            methods.push(MethodReport {
                method: shown_name(service, method),
                verdict,
                reason,
                attempts: play.attempts,
                delays: play.delays,
                is_hedged: entry.policy.as_ref().is_some_and(|policy| policy.is_hedging),
                timeout: entry.timeout.and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos),
                codes: entry.policy.iter().flat_map(|policy| &policy.codes).map(|code| code.name()).collect(),
            });
        }
        // Methods for which nothing is asked don't count beside those for which something is.
        if asked.is_empty() {
            asked = methods.iter().map(|method| (method.verdict, method.reason.clone())).collect();
        }
        let whole = refused.or(worst(self.deviations.iter()));
        let is_of_all = |known: &&Deviation| refused.is_some() || known.entry.is_none() || methods.is_empty();
        let whole = reasoned(whole.filter(is_of_all));
        // Nobody calls what no entry is for: a change of it is none.
        if methods.is_empty() && matches!(whole.0, Verdict::AsWritten | Verdict::Changed) {
            asked.push((Verdict::NoRetries, Some("no entry of the table asks for retries of it".to_owned())));
        }
        asked.push(whole);
        let (verdict, reason) =
            asked.into_iter().max_by_key(|(verdict, _)| *verdict).unwrap_or((Verdict::AsWritten, None));
        let code =
            self.deviations.iter().filter(|known| known.verdict == verdict).find_map(|known| known.code);
        ClientReport { client: self.client, verdict, code, reason, methods, deviations: self.deviations }
    }
}

/// What becomes of calls because of this, and why.
fn reasoned(known: Option<&Deviation>) -> (Verdict, Option<String>) {
    known.map_or((Verdict::AsWritten, None), |known| (known.verdict, Some(known.message.clone())))
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
