//! Retry and hedging policies.

use super::decode::{right_duration, whole};
use super::fields::{Fix, Reader, WRITE, removal_of};
use super::report::Verdict;
use super::rules::Client;
use super::timeout::SHORTEST;
use crate::document::{Kind, Node, Span};
use gax_retry::Code;
use gax_text::time_text;

/// The policy that a client goes by.
#[derive(Debug, Clone, Default)]
pub(super) struct Policy {
    pub(super) attempts: u32,
    /// The first wait, and what later ones grow from, in nanoseconds.
    pub(super) first: i128,
    pub(super) initial: i128,
    pub(super) max: i128,
    pub(super) multiplier: f64,
    pub(super) codes: Vec<Code>,
    pub(super) per_attempt: Option<i128>,
    pub(super) is_hedging: bool,
}

impl Reader<'_> {
    pub(super) fn policy(&mut self, config: &Node) -> Option<Policy> {
        const BOTH: &str = "a retry policy and a hedging policy in one entry";
        let (hedging, retry) = (self.field(config, "hedgingPolicy"), self.field(config, "retryPolicy"));
        let (is_on, both) = (self.is("hedging", "on"), self.client.rule("hedging.with-retry-policy"));
        // One that is null counts as there beside the other.
        let written = hedging.or(config.member("hedgingPolicy"));
        let remove = written.map_or(WRITE, |written| removal_of(config, written));
        match (hedging, retry) {
            (Some(hedging), None) if is_on => return self.hedging(hedging),
            (Some(hedging), None) => self.never(hedging.span, "hedging is off in this client", remove),
            (Some(hedging), Some(_)) if !is_on => {
                self.changed(hedging.span, "the hedging policy is ignored", remove);
            }
            (_, Some(retry)) if written.is_some() && both == "refuse" => {
                self.refuse(retry.span, BOTH, remove);
            }
            (Some(hedging), Some(_)) => {
                let message = format!("{BOTH}: each call fails");
                self.note(Verdict::RefusedPerCall, None, hedging.span, message, remove);
                self.hedging(hedging);
            }
            (None, _) => {}
        }
        self.retry(retry?)
    }

    fn attempts(&mut self, policy: &Node, limit: &str) -> Option<u32> {
        let (attempts, span) = self.required(policy, "maxAttempts", Client::integer)?;
        if attempts < 2.0 {
            self.refuse(span, "maxAttempts is below 2", "write a number from 2 to 5");
            return None;
        }
        let attempts = u32::try_from(whole(attempts)).unwrap_or(u32::MAX);
        let mut most = self.client.number("attempts.most").unwrap_or(u32::MAX);
        if let Some(given) = self.options.number(self.client, limit) {
            if given < 2 && self.is("option.attempts-limit-below-2", "ignored") {
                let message = format!("the channel's limit of {given} attempts is ignored");
                self.changed(span, message, "give a limit of 2 or more");
            } else {
                most = given;
            }
        }
        if attempts > most {
            let message = format!("maxAttempts {attempts} is treated as {most}");
            self.changed(span, message, most.to_string());
        }
        Some(attempts.min(most))
    }

    fn codes(&mut self, policy: &Node, name: &str) -> Option<(Vec<Code>, Span)> {
        let node = self.field(policy, name)?;
        let elements = self.array(node, name)?;
        let codes = elements.iter().filter_map(|element| {
            if element.kind == Kind::Null && self.is("element.null", "empty") {
                return Some(Code::Ok);
            }
            self.taken(element, name, Client::code)
        });
        Some((codes.collect(), node.span))
    }

    fn retry(&mut self, policy: &Node) -> Option<Policy> {
        let policy = self.object(policy, "retryPolicy")?;
        let attempts = self.attempts(policy, "option.attempts-limit");
        let initial = self.back_off(policy, "initialBackoff");
        let max = self.back_off(policy, "maxBackoff");
        let multiplier = self.required(policy, "backoffMultiplier", Client::float);
        let advice = "write a number above 0, such as 2";
        self.check(multiplier, |number| *number > 0.0, "backoffMultiplier is not above 0", advice);
        let per_attempt = self.per_attempt_timeout(policy);
        let before = self.deviations.len();
        let codes = self.codes(policy, "retryableStatusCodes");
        // Codes that the client refuses are no empty list.
        let is_refused = self.has_refused_since(before);
        let is_empty = codes.as_ref().is_none_or(|(codes, _)| codes.is_empty());
        if is_empty && !(codes.is_some() && is_refused) && per_attempt.is_none() {
            let span = codes.as_ref().map_or(policy.span, |(_, span)| *span);
            self.refuse(span, "retryableStatusCodes names no code", "name a code, such as UNAVAILABLE");
        }
        let ((initial, span), (max, max_span)) = (initial?, max?);
        if initial > max {
            let right = self.written(max_span).to_owned();
            let (initial, max) = (time_text(initial), time_text(max));
            let message = match self.client.rule("backoff.first") {
                "capped" => format!("the first wait is {max}, not {initial}: maxBackoff limits it"),
                _ => format!("the first wait is {initial}: maxBackoff limits only the later ones"),
            };
            self.changed(span, message, right);
        } else if initial < SHORTEST || max < SHORTEST {
            let span = if initial < SHORTEST { span } else { max_span };
            let message = "retries follow without a wait: this is below what timers have";
            self.changed(span, message, "\"0.001s\"".to_owned());
        }
        let most = self.client.number("timer.most-ms").map(|millis: i128| millis * 1_000_000);
        let is_too_long = most.is_some_and(|most| initial > most * 5 / 6);
        if is_too_long {
            let message = "the first retry follows after a millisecond: so long a wait overflows";
            self.changed(span, message, "\"86400s\"".to_owned());
        }
        let first = match self.client.rule("backoff.first") {
            _ if is_too_long => SHORTEST,
            "capped" => initial.min(max),
            _ => initial,
        };
        let policy = Policy {
            attempts: attempts?,
            first,
            initial,
            max,
            multiplier: multiplier?.0,
            codes: codes.map(|(codes, _)| codes).unwrap_or_default(),
            per_attempt,
            is_hedging: false,
        };
        let last = policy.wait(policy.attempts.saturating_sub(2));
        if self.is("backoff.later-below-a-millisecond", "unknown") && last < SHORTEST {
            self.note(Verdict::Unknown, None, span, "no rule is about waits below a millisecond", WRITE);
        }
        if policy.attempts < 2 {
            let advice = "give the channel a limit of 2 or more";
            self.never(span, "the channel's limit leaves one attempt", advice);
        }
        Some(policy)
    }

    fn back_off(&mut self, policy: &Node, name: &str) -> Option<(i128, Span)> {
        let (nanos, span) = self.required(policy, name, Client::duration)?;
        let text = self.source.excerpt(span);
        let right = if nanos == 0 { "0.001s".to_owned() } else { right_duration(text.trim_matches('"')) };
        let right = format!("{right:?}");
        if nanos < 0 || nanos == 0 && self.is("backoff.zero", "refuse") {
            self.refuse(span, format!("{name} {text} is not above zero"), right);
            return None;
        }
        if text.starts_with("\"-") {
            self.changed(span, format!("{name} {text} is read as {}", time_text(nanos)), right);
        }
        Some((nanos, span))
    }

    fn per_attempt_timeout(&mut self, policy: &Node) -> Option<i128> {
        const NAME: &str = "perAttemptRecvTimeout";
        let rule = self.client.rule("per-attempt-timeout");
        let node = self.field(policy, NAME)?;
        let is_on = rule == "option" && self.options.has(self.client, "option.per-attempt-timeout");
        if is_on || rule == "checked" {
            let nanos = self.taken(node, NAME, Client::duration);
            let problem = if is_on { "is zero" } else { "is negative" };
            let is_fine = |nanos: &i128| *nanos >= i128::from(is_on);
            self.check(nanos.map(|nanos| (nanos, node.span)), is_fine, &format!("{NAME} {problem}"), WRITE);
            if is_on {
                return nanos;
            }
        }
        self.changed(node.span, format!("{NAME} is ignored"), removal_of(policy, node));
        None
    }

    fn hedging(&mut self, policy: &Node) -> Option<Policy> {
        let policy = self.object(policy, "hedgingPolicy")?;
        let attempts = self.attempts(policy, "option.hedges-limit");
        let delay = self.value(policy, "hedgingDelay", Client::duration);
        self.check(delay, |nanos| *nanos >= 0, "hedgingDelay is negative", WRITE);
        if policy.member("hedgingDelay").is_none() {
            let start = policy.span.start + 1;
            let fix = Fix::At(Span { start, end: start }, "\"hedgingDelay\": \"0s\", ".to_owned());
            if self.is("hedging.no-delay", "refuse") {
                self.refuse(policy.span, "hedgingDelay is missing", fix);
            } else {
                let message = "without a hedgingDelay all attempts are sent at once";
                self.changed(policy.span, message, fix);
            }
        }
        let codes = self.codes(policy, "nonFatalStatusCodes");
        let delay = delay.map_or(0, |(nanos, _)| nanos);
        let codes = codes.map(|(codes, _)| codes).unwrap_or_default();
        let (first, initial, max) = (delay, delay, delay);
        Some(Policy {
            attempts: attempts?,
            first,
            initial,
            max,
            multiplier: 1.0,
            codes,
            per_attempt: None,
            is_hedging: true,
        })
    }
}
