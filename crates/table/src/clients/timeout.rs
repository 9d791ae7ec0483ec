//! Timeouts, and waiting for a connection.

use super::decode::{nine_digits, whole};
use super::fields::{Fix, Reader, WRITE, members, removal, shown, spans};
use super::report::Verdict;
use super::rules::Client;
use crate::document::{Kind, Node};

/// A timeout from which on a second more or less is no change.
const LONG: i128 = 30_000_000_000;
const NANOS: i128 = 1_000_000_000;
/// A time below a millisecond is none, as timers go.
pub(super) const SHORTEST: i128 = 1_000_000;
/// Where numbers of 32 bits begin again.
const HALF: i128 = 1 << 31;

impl Reader<'_> {
    /// The time that calls have, in nanoseconds.
    pub(super) fn timeout(&mut self, config: &Node) -> Option<i128> {
        let node = self.field(config, "timeout")?;
        let fails = |reader: &mut Self, message: String, fix| {
            reader.note_failing("DEADLINE_EXCEEDED", node.span, message, fix);
            Some(0)
        };
        let remove = || {
            let index = members(config).iter().position(|member| std::ptr::eq(&raw const member.value, node));
            Fix::At(removal(&spans(members(config)), index.unwrap_or_default()), String::new())
        };
        let text = self.source.excerpt(node.span);
        if let (Kind::Object(_), true) = (&node.kind, self.is("timeout.object", "take")) {
            let number = |name| {
                node.member(name).and_then(|node| match &node.kind {
                    Kind::Number(text) => text.parse::<f64>().ok(),
                    _ => None,
                })
            };
            let (Some(seconds), Some(nanos)) = (number("seconds"), number("nanos")) else {
                self.refuse(node.span, "timeout has no seconds and nanos", WRITE);
                return None;
            };
            return Some(whole(seconds * 1e9 + nanos));
        }
        let exact = self.taken(node, "timeout", Client::duration)?;
        let (seconds, rest) = (exact.div_euclid(NANOS), exact.rem_euclid(NANOS));
        let mut read = exact;
        if self.is("timeout.seconds", "32 bit") {
            read = ((seconds + HALF).rem_euclid(2 * HALF) - HALF) * NANOS + rest;
        }
        if let (true, Kind::String(text)) = (self.is("timeout.fraction", "nanoseconds"), &node.kind) {
            let fraction = text.trim_end_matches('s').split_once('.').map_or("0", |(_, fraction)| fraction);
            read =
                (read - rest + fraction.parse::<i128>().unwrap_or_default()).div_euclid(SHORTEST) * SHORTEST;
        }
        let agreed =
            if seconds > i128::from(i32::MAX) { "\"86400s\"".to_owned() } else { nine_digits(exact) };
        let rule = if exact == 0 { "timeout.zero" } else { "timeout.negative" };
        match () {
            () if exact <= 0 && self.is(rule, "ignored") => {
                self.note(
                    Verdict::Changed,
                    node.span,
                    format!("the timeout {text} is ignored: calls have no limit"),
                    remove(),
                );
                None
            }
            () if exact <= 0 => {
                fails(self, format!("with the timeout {text} every call fails at once"), remove())
            }
            () if read < SHORTEST => fails(
                self,
                format!("the timeout {text} is read as {}: every call fails at once", shown(read)),
                Fix::Write(agreed),
            ),
            () if read != exact => {
                let message = format!("the timeout {text} is read as {}", shown(read));
                self.note(Verdict::Changed, node.span, message, Fix::Write(agreed));
                Some(read)
            }
            () => match self.client.number::<i128>("timeout.early-ms").map(|millis| millis * 1_000_000) {
                Some(early) if read <= early => fails(
                    self,
                    format!(
                        "calls end up to {} early: with {text} every call may fail at once",
                        shown(early)
                    ),
                    remove(),
                ),
                Some(early) if read < LONG => {
                    let advice = Fix::Advice("set the deadline of each call in the program");
                    self.note(
                        Verdict::Changed,
                        node.span,
                        format!("calls end up to {} before the timeout {text}", shown(early)),
                        advice,
                    );
                    Some(read)
                }
                _ => Some(read),
            },
        }
    }

    pub(super) fn wait_for_ready(&mut self, wait: &Node) {
        let Kind::Bool(value) = wait.kind else {
            return self.refuse(wait.span, "waitForReady is neither true nor false", WRITE);
        };
        let advice = Fix::Advice("set it for each call in the program");
        match self.client.rule("wait-for-ready") {
            "ignored" if value => {
                self.note(
                    Verdict::Changed,
                    wait.span,
                    "waitForReady is ignored: calls fail while there is no connection",
                    advice,
                );
            }
            "overrides" => {
                self.note(
                    Verdict::AsWritten,
                    wait.span,
                    format!("waitForReady {value} replaces what a call itself asks for"),
                    advice,
                );
            }
            _ => {}
        }
    }
}
