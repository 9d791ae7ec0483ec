//! Retry and hedging policies.

use super::decode::{right_duration, whole};
use super::fields::{Fix, Reader, WRITE, members, removal_of, shown};
use super::report::Verdict;
use super::rules::Client;
use super::timeout::SHORTEST;
use crate::document::{Kind, Node, Span};
use gax_retry::Code;

/// The policy that a client goes by.
#[derive(Debug, Clone)]
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
        let hedging = self.field(config, "hedgingPolicy");
        let has_hedging = members(config).iter().any(|member| *member.key == *"hedgingPolicy");
        let retry = self.field(config, "retryPolicy");
        let Some(hedging) = hedging.filter(|_| self.is("hedging", "on")) else {
            let place = removal_of(config, "hedgingPolicy");
            if let (Some(hedging), None) = (hedging, retry) {
                self.note(Verdict::NoRetries, hedging.span, "hedging is off in this client", place);
            } else if let (Some(hedging), Some(_)) = (hedging, retry) {
                self.note(Verdict::Changed, hedging.span, "the hedging policy is ignored", place);
            } else if let (true, Some(retry), "refuse") =
                (has_hedging, retry, self.client.rule("hedging.with-retry-policy"))
            {
                self.refuse(retry.span, "a retry policy and a hedging policy", place);
            }
            return retry.and_then(|retry| self.retry(retry));
        };
        if let Some(retry) = retry {
            let place = removal_of(config, "hedgingPolicy");
            let message = "a retry policy and a hedging policy in one entry";
            if self.is("hedging.with-retry-policy", "refuse") {
                self.refuse(retry.span, message, place);
            } else {
                self.note(
                    Verdict::RefusedPerCall,
                    hedging.span,
                    format!("{message}: each call fails"),
                    place,
                );
            }
            return self.retry(retry);
        }
        self.hedging(hedging)
    }

    fn attempts(&mut self, policy: &Node, limit: &str) -> Option<u32> {
        let (attempts, span) = self.required(policy, "maxAttempts", Client::integer)?;
        if attempts < 2.0 {
            self.refuse(span, "maxAttempts is below 2", Fix::Advice("write a number from 2 to 5"));
            return None;
        }
        let attempts = u32::try_from(whole(attempts)).unwrap_or(u32::MAX);
        let mut most = self.client.number("attempts.most").unwrap_or(u32::MAX);
        if let Some(given) = self.options.number(self.client, limit) {
            if given < 2 && self.is("option.attempts-limit-below-2", "ignored") {
                let message = format!("the channel's limit of {given} attempts is ignored");
                self.note(Verdict::Changed, span, message, Fix::Advice("give a limit of 2 or more"));
            } else {
                most = given;
            }
        }
        if attempts > most {
            let message = format!("maxAttempts {attempts} is treated as {most}");
            self.note(Verdict::Changed, span, message, Fix::Write(most.to_string()));
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
        if let Some((_, span)) =
            multiplier.filter(|(multiplier, _)| multiplier.is_nan() || *multiplier <= 0.0)
        {
            self.refuse(
                span,
                "backoffMultiplier is not above 0",
                Fix::Advice("write a number above 0, such as 2"),
            );
        }
        let per_attempt = self.per_attempt_timeout(policy);
        let codes = self.codes(policy, "retryableStatusCodes");
        let refused = |reader: &Self| reader.deviations.iter().any(|known| known.verdict == reader.refusal());
        let is_empty = codes.as_ref().is_none_or(|(codes, _)| codes.is_empty());
        if is_empty && !(codes.is_some() && refused(self)) && per_attempt.is_none() {
            let span = codes.as_ref().map_or(policy.span, |(_, span)| *span);
            self.refuse(
                span,
                "retryableStatusCodes names no code",
                Fix::Advice("name a code, such as UNAVAILABLE"),
            );
        }
        let ((initial, span), (max, max_span)) = (initial?, max?);
        if initial > max {
            let right = self.source.text().get(max_span.start..max_span.end).unwrap_or_default().to_owned();
            let (initial, max) = (shown(initial), shown(max));
            let message = match self.client.rule("backoff.first") {
                "capped" => format!("the first wait is {max}, not {initial}: maxBackoff limits it"),
                _ => format!("the first wait is {initial}: maxBackoff limits only the later ones"),
            };
            self.note(Verdict::Changed, span, message, Fix::Write(right));
        } else if initial < SHORTEST || max < SHORTEST {
            let span = if initial < SHORTEST { span } else { max_span };
            let message = "retries follow without a wait: this is below what timers have";
            self.note(Verdict::Changed, span, message, Fix::Write("\"0.001s\"".to_owned()));
        }
        let most = self.client.number("timer.most-ms").map(|millis: i128| millis * 1_000_000);
        let is_too_long = most.is_some_and(|most| initial > most * 5 / 6);
        if is_too_long {
            self.note(
                Verdict::Changed,
                span,
                "the first retry follows after a millisecond: so long a wait overflows",
                Fix::Write("\"86400s\"".to_owned()),
            );
        }
        let is_capped = self.is("backoff.first", "capped");
        let first = if is_too_long {
            SHORTEST
        } else if is_capped {
            initial.min(max)
        } else {
            initial
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
        if policy.attempts < 2 {
            let advice = Fix::Advice("give the channel a limit of 2 or more");
            self.note(Verdict::NoRetries, span, "the channel's limit leaves one attempt", advice);
        }
        Some(policy)
    }

    fn back_off(&mut self, policy: &Node, name: &str) -> Option<(i128, Span)> {
        let (nanos, span) = self.required(policy, name, Client::duration)?;
        let text = self.source.excerpt(span);
        if nanos < 0 || nanos == 0 && self.is("backoff.zero", "refuse") {
            let right = if nanos == 0 { "0.001s".to_owned() } else { right_duration(text.trim_matches('"')) };
            self.refuse(span, format!("{name} {text} is not above zero"), Fix::Write(format!("{right:?}")));
            return None;
        }
        if text.starts_with("\"-") {
            let right = format!("{:?}", right_duration(text.trim_matches('"')));
            self.note(
                Verdict::Changed,
                span,
                format!("{name} {text} is read as {}", shown(nanos)),
                Fix::Write(right),
            );
        }
        Some((nanos, span))
    }

    fn per_attempt_timeout(&mut self, policy: &Node) -> Option<i128> {
        let rule = self.client.rule("per-attempt-timeout");
        let node = self.field(policy, "perAttemptRecvTimeout")?;
        let is_on = self.options.has(self.client, "option.per-attempt-timeout");
        if rule == "checked" {
            let nanos = self.taken(node, "perAttemptRecvTimeout", Client::duration);
            if nanos.is_some_and(|nanos| nanos < 0) {
                self.refuse(node.span, "perAttemptRecvTimeout is negative", WRITE);
            }
        } else if rule == "option" && is_on {
            let nanos = self.taken(node, "perAttemptRecvTimeout", Client::duration)?;
            if nanos == 0 {
                self.refuse(node.span, "perAttemptRecvTimeout is zero", WRITE);
            }
            return Some(nanos);
        }
        let remove = removal_of(policy, "perAttemptRecvTimeout");
        self.note(Verdict::Changed, node.span, "perAttemptRecvTimeout is ignored", remove);
        None
    }

    fn hedging(&mut self, policy: &Node) -> Option<Policy> {
        let policy = self.object(policy, "hedgingPolicy")?;
        let attempts = self.attempts(policy, "option.hedges-limit");
        let delay = self.value(policy, "hedgingDelay", Client::duration);
        if let Some((_, span)) = delay.filter(|(nanos, _)| *nanos < 0) {
            self.refuse(span, "hedgingDelay is negative", WRITE);
        }
        let has_delay = members(policy).iter().any(|member| *member.key == *"hedgingDelay");
        if !has_delay {
            let start = policy.span.start + 1;
            let fix = Fix::At(Span { start, end: start }, "\"hedgingDelay\": \"0s\", ".to_owned());
            match self.client.rule("hedging.no-delay") {
                "refuse" => self.refuse(policy.span, "hedgingDelay is missing", fix),
                _ => self.note(
                    Verdict::Changed,
                    policy.span,
                    "without a hedgingDelay all attempts are sent at once",
                    fix,
                ),
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
