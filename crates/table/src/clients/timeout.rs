//! Timeouts, and waiting for a connection.

use super::decode::{nine_digits, whole};
use super::fields::{Fix, Reader, WRITE, removal_of};
use super::report::Verdict;
use super::rules::Client;
use crate::document::{Kind, Node};
use gax_text::time_text;

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
        let text = self.source.excerpt(node.span);
        if let (Kind::Object(_), true) = (&node.kind, self.is("timeout.object", "take")) {
            let number = |name| match &node.member(name)?.kind {
                Kind::Number(text) => text.parse::<f64>().ok(),
                _ => None,
            };
            let nanos = number("seconds").zip(number("nanos"));
            if nanos.is_none() {
                self.refuse(node.span, "timeout has no seconds and nanos", WRITE);
            }
            return nanos.map(|(seconds, nanos)| whole(seconds * 1e9 + nanos));
        }
        let exact = self.taken(node, "timeout", Client::duration)?;
        let (seconds, rest) = (exact.div_euclid(NANOS), exact.rem_euclid(NANOS));
        let mut read = exact;
        if self.is("timeout.seconds", "32 bit") {
            read = ((seconds + HALF).rem_euclid(2 * HALF) - HALF) * NANOS + rest;
        }
        if let (true, Kind::String(text)) = (self.is("timeout.fraction", "nanoseconds"), &node.kind) {
            let fraction = text.trim_end_matches('s').split_once('.').map_or("0", |(_, fraction)| fraction);
            let nanos = fraction.parse::<i128>().unwrap_or_default();
            read = (read - rest + nanos).div_euclid(SHORTEST) * SHORTEST;
        }
        let early = self.client.number::<i128>("timeout.early-ms").map_or(0, |millis| millis * SHORTEST);
        let most = time_text(early);
        let remove = removal_of(config, node);
        let is_long = seconds > i128::from(i32::MAX);
        let agreed = Fix::Write(if is_long { "\"86400s\"".to_owned() } else { nine_digits(exact) });
        let is_other = read != exact || read < SHORTEST;
        let read_as = format!("the timeout {text} is read as {}", time_text(read));
        let (message, fix) = if exact <= 0 {
            let rule = if exact == 0 { "timeout.zero" } else { "timeout.negative" };
            if self.is(rule, "ignored") {
                let message = format!("the timeout {text} is ignored: calls have no limit");
                self.changed(node.span, message, remove);
                return None;
            }
            (format!("with the timeout {text} every call fails at once"), remove)
        } else if is_other && read < SHORTEST {
            (format!("{read_as}: every call fails at once"), agreed)
        } else if is_other {
            self.changed(node.span, read_as, agreed);
            return Some(read);
        } else if read <= early {
            (format!("calls end up to {most} early: with {text} every call may fail at once"), remove)
        } else {
            if early > 0 && read < LONG {
                let message = format!("calls end up to {most} before the timeout {text}");
                self.changed(node.span, message, "set the deadline of each call in the program");
            }
            return Some(read);
        };
        // As with no time at all.
        self.fails("DEADLINE_EXCEEDED", node.span, message, fix);
        Some(0)
    }

    pub(super) fn wait_for_ready(&mut self, config: &Node) {
        let Some(wait) = self.field(config, "waitForReady") else { return };
        let advice = "set it for each call in the program";
        match (&wait.kind, self.client.rule("wait-for-ready")) {
            (Kind::Bool(true), "ignored") => {
                let message = "waitForReady is ignored: calls fail while there is no connection";
                self.changed(wait.span, message, advice);
            }
            (Kind::Bool(value), "overrides") => {
                let message = format!("waitForReady {value} replaces what a call itself asks for");
                self.note(Verdict::AsWritten, None, wait.span, message, advice);
            }
            (Kind::Bool(_), _) => {}
            _ => self.refuse(wait.span, "waitForReady is neither true nor false", WRITE),
        }
    }
}
