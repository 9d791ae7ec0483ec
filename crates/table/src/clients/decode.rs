//! Single values, as a client takes them.

use super::rules::Client;
use crate::document::{Kind, Node};
use crate::values::suggested_seconds;
use gax_retry::Code;

const NANOS: i128 = 1_000_000_000;

/// Why a value isn't taken, and what to write instead.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) problem: &'static str,
    pub(super) right: Option<String>,
}

fn wrong<T>(problem: &'static str, right: impl Into<Option<String>>) -> Result<T, Wrong> {
    Err(Wrong { problem, right: right.into() })
}

impl Client {
    /// A whole number.
    pub(super) fn integer(self, node: &Node) -> Result<f64, Wrong> {
        let text = match &node.kind {
            Kind::Number(text) | Kind::String(text) => text.trim(),
            _ => return wrong("is not a whole number", None),
        };
        let meant = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e9);
        let right = meant.map(|number| format!("{number}"));
        let rule = self.rule("integer");
        let is_quoted = matches!(node.kind, Kind::String(_));
        if is_quoted && !rule.ends_with("quoted") {
            return wrong("is a string, not a whole number", right);
        }
        let exact = match &node.kind {
            Kind::String(written) if rule.starts_with("double") => &**written,
            _ => text,
        };
        let digits = || exact.parse::<i64>().ok().and_then(|_| exact.parse::<f64>().ok());
        let number = if is_quoted || rule.starts_with("digits") { digits() } else { text.parse().ok() };
        match number.filter(|number: &f64| number.fract() == 0.0) {
            None => wrong("is not a whole number as digits", right),
            Some(number) if self.number("integer.most").is_some_and(|most: f64| number.abs() > most) => {
                wrong("is too large a number", "5".to_owned())
            }
            Some(number) => Ok(number),
        }
    }

    /// Any number.
    pub(super) fn float(self, node: &Node) -> Result<f64, Wrong> {
        match &node.kind {
            Kind::Number(text) => match text.parse() {
                Ok(number) if f64::is_finite(number) || self.is("number.infinite", "take") => Ok(number),
                _ => wrong("is not a finite number", None),
            },
            Kind::String(text) => match text.trim().parse() {
                Ok(number) if self.is("number", "number-or-quoted") => Ok(number),
                meant => wrong("is a string, not a number", meant.ok().map(|_: f64| text.trim().to_owned())),
            },
            _ => wrong("is not a number", None),
        }
    }

    /// Nanoseconds.
    pub(super) fn duration(self, node: &Node) -> Result<i128, Wrong> {
        let takes = |rule: &str| self.is(rule, "take");
        let Kind::String(text) = &node.kind else { return wrong("is not a string", None) };
        let right = format!("{:?}", right_duration(text));
        let bad = wrong("is not a duration for this client", right);
        let Some(mut rest) = text.strip_suffix('s') else { return bad };
        if self.is("duration.spaces", "trim") {
            rest = rest.trim();
        }
        let (minus, unsigned) = match rest.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, rest.strip_prefix('+').filter(|_| takes("duration.plus")).unwrap_or(rest)),
        };
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (unsigned, None),
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_cut = self.is("duration.tenth-digit", "cut");
        let fraction_text = fraction.unwrap_or_default();
        let used = fraction_text.get(..9).unwrap_or(fraction_text);
        let is_wrong = !digits(whole)
            || !digits(used)
            || whole.is_empty()
                && (used.is_empty() || rest.starts_with('+') || !takes("duration.no-seconds"))
            || fraction == Some("") && !takes("duration.no-fraction")
            || fraction_text.len() > 9 && !is_cut;
        let seconds = whole.parse::<i128>().or(if whole.is_empty() { Ok(0) } else { Err(()) });
        let (false, Ok(seconds)) = (is_wrong, seconds) else { return bad };
        let minus_rule = self.rule("duration.minus");
        if minus && (minus_rule == "refuse" || minus_rule == "seconds-only" && seconds > 0) {
            return bad;
        }
        if self.number("duration.most-seconds").is_some_and(|most: i128| seconds > most) {
            return wrong("is too long a duration", "\"86400s\"".to_owned());
        }
        let nanos = format!("{used:0<9}").parse::<i128>().unwrap_or_default() + seconds * NANOS;
        let sign = if minus && minus_rule == "negative" { -1 } else { 1 };
        let grain = self.number("duration.grain-ms").map_or(1, |millis: i128| millis * 1_000_000);
        Ok(sign * nanos.div_euclid(grain) * grain)
    }

    /// A status code.
    pub(super) fn code(self, node: &Node) -> Result<Code, Wrong> {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0)?;
            Code::ALL.into_iter().find(|code| i128::from(code.number()) == whole(number))
        };
        let (meant, is_taken) = match &node.kind {
            Kind::Number(text) => {
                let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let rule = self.rule("code.number");
                (number(text), rule == "double" || rule == "digits" && is_digits)
            }
            Kind::String(text) => {
                let upper = text.trim().to_ascii_uppercase();
                let named = Code::ALL.into_iter().find(|code| code.name() == upper);
                let is_exact = named.is_some_and(|code| *code.name() == **text);
                let is_any = self.is("code.name", "any-case") && upper.len() == text.len();
                let american = (upper == "CANCELED").then_some(Code::Cancelled);
                (named.or(american).or_else(|| number(&upper)), named.is_some() && (is_exact || is_any))
            }
            _ => (None, false),
        };
        match meant.filter(|_| is_taken) {
            Some(Code::Ok) if self.is("code.ok", "refuse") => {
                wrong("is no code of a failure", "\"UNAVAILABLE\"".to_owned())
            }
            Some(code) => Ok(code),
            None => wrong(
                "is not a status code for this client",
                meant.map(|code| format!("\"{}\"", code.name())),
            ),
        }
    }
}

/// Returns what all clients read as the duration that was probably meant.
pub(super) fn right_duration(text: &str) -> String {
    let meant = suggested_seconds(text.trim_start_matches(['-', '+', ' ']));
    let (whole, fraction) = meant.trim_end_matches('s').split_once('.').unwrap_or((&meant, ""));
    let fraction = fraction.get(..9).unwrap_or(fraction).trim_end_matches('0');
    let whole = whole.trim_end_matches('s');
    if fraction.is_empty() { format!("{whole}s") } else { format!("{whole}.{fraction}s") }
}

/// A duration with nine digits behind the point if it has a fraction, which all clients read alike.
pub(super) fn nine_digits(nanos: i128) -> String {
    match (nanos / NANOS, nanos % NANOS) {
        (seconds, 0) => format!("\"{seconds}s\""),
        (seconds, rest) => format!("\"{seconds}.{rest:09}s\""),
    }
}

/// A number without its fraction.
#[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest, which is meant")]
pub(super) fn whole(number: f64) -> i128 {
    number as i128
}
