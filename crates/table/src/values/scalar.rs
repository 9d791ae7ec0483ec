//! Single values of a table.

use crate::diagnostics::Findings;
use crate::document::{Kind, Located, Member, Node, Source, Span};
use crate::{Dialect, Severity, TableError};
use gax_retry::{Code, RetrySettings, SettingsError};
use gax_text::closest;
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// A text whose fields and values are read as a dialect's reader does, and the findings about it so far. Java's takes numbers and
/// booleans in quotes too.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    pub(crate) source: &'a Source,
    pub(crate) dialect: Dialect,
    pub(crate) findings: Findings,
    /// The first number that isn't a code, where the reader lets it pass.
    pub(crate) unrecognized: Cell<Option<Span>>,
    /// `true` if only this project reads the format, so that other readers don't matter.
    pub(crate) is_own: bool,
}

impl<'a> Values<'a> {
    pub(crate) fn new(source: &'a Source, dialect: Dialect) -> Self {
        let (findings, unrecognized) = (Findings::default(), Cell::default());
        Self { source, dialect, findings, unrecognized, is_own: false }
    }

    /// For this project's own form.
    #[cfg(feature = "toml")]
    pub(crate) fn of_own_form(source: &'a Source) -> Self {
        Self { is_own: true, ..Self::new(source, Dialect::AsWritten) }
    }

    /// The error of a place.
    pub(crate) fn fault(&self, span: Span, problem: &str, help: impl Into<String>) -> TableError {
        self.source.fault(span, problem, help)
    }

    pub(crate) fn warn(
        &self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) {
        self.findings.push(self.source.warning(rule, span, message, help));
    }

    pub(crate) fn note(
        &self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) {
        self.findings.push(self.source.warning(rule, span, message, help).with_severity(Severity::Note));
    }

    fn quotes_are_fine(&self) -> bool {
        self.dialect == Dialect::GaxJava
    }

    fn wrong_kind(&self, node: &Node, field: &str, wanted: &str) -> TableError {
        let problem = format!("is {}, but {field} is {wanted}", node.a_kind());
        self.source.fault(node.span, &problem, format!("write {wanted}"))
    }

    pub(crate) fn array<'n>(&self, node: &'n Node, field: &str) -> Result<&'n [Node], TableError> {
        match &node.kind {
            Kind::Array(elements) => Ok(elements),
            _ => Err(self.wrong_kind(node, field, "an array")),
        }
    }

    /// The members of an object; none where there is no such field.
    pub(crate) fn members<'n>(
        &self,
        node: Option<&'n Node>,
        field: &str,
    ) -> Result<&'n [Member], TableError> {
        match node.map(|node| (node, &node.kind)) {
            None => Ok(&[]),
            Some((_, Kind::Object(members))) => Ok(members),
            Some((node, _)) => Err(self.wrong_kind(node, field, "an object")),
        }
    }

    /// The elements of an array; none where there is no such field.
    pub(crate) fn elements<'n>(&self, node: Option<&'n Node>, field: &str) -> Result<&'n [Node], TableError> {
        node.map_or(Ok(&[]), |node| self.array(node, field))
    }

    pub(crate) fn string(&self, node: &Node, field: &str) -> Result<Arc<str>, TableError> {
        match &node.kind {
            Kind::String(text) => Ok(text.clone()),
            Kind::Number(text) if self.quotes_are_fine() => Ok(text.clone()),
            Kind::Bool(value) if self.quotes_are_fine() => Ok(value.to_string().into()),
            _ => Err(self.wrong_kind(node, field, "a string")),
        }
    }

    /// A string that may be absent.
    pub(crate) fn text(
        &self,
        node: Option<&Node>,
        field: &str,
    ) -> Result<Option<Located<Arc<str>>>, TableError> {
        let located = |node: &Node| Ok(Located { value: self.string(node, field)?, span: node.span });
        node.map(located).transpose()
    }

    /// Settings that were put together from the values of an object.
    pub(crate) fn built(
        &self,
        span: Span,
        settings: Result<RetrySettings, SettingsError>,
    ) -> Result<RetrySettings, TableError> {
        let fault =
            |error| self.source.fault(span, &format!("has no meaning: {error}"), "correct these values");
        settings.map_err(fault)
    }

    pub(crate) fn boolean(&self, node: &Node, field: &str) -> Result<Located<bool>, TableError> {
        let value = match &node.kind {
            Kind::Bool(value) => *value,
            Kind::String(text) if self.quotes_are_fine() && **text == *"true" => true,
            Kind::String(text) if self.quotes_are_fine() && **text == *"false" => false,
            _ => return Err(self.wrong_kind(node, field, "true or false")),
        };
        Ok(Located { value, span: node.span })
    }

    pub(crate) fn duration(&self, node: &Node, field: &str) -> Result<Located<i128>, TableError> {
        let Kind::String(text) = &node.kind else {
            return Err(self.wrong_kind(node, field, "a duration in quotes, such as \"60s\""));
        };
        // What one of gRPC's clients takes and others refuse is for the dialect that no gRPC client has.
        let is_fine = match self.dialect {
            Dialect::AsWritten => true,
            Dialect::Grpc => is_plain(text),
            Dialect::GaxJava => !text.trim_start_matches(['-', '+']).starts_with('.'),
        };
        let value = parse_duration(text).filter(|_| is_fine).ok_or_else(|| {
            let help = format!("write seconds followed by s, such as \"{}\"", suggested_seconds(text));
            self.source.fault(node.span, "is not a duration", help)
        })?;
        Ok(Located { value, span: node.span })
    }

    pub(crate) fn number(&self, node: &Node, field: &str) -> Result<Located<f64>, TableError> {
        let text = match &node.kind {
            Kind::Number(text) => &**text,
            Kind::String(text) if self.quotes_are_fine() => text.trim(),
            Kind::String(text) if self.dialect == Dialect::Grpc && text.trim().parse::<f64>().is_ok() => {
                return Err(self
                    .wrong_kind(node, field, "a number")
                    .with_others("grpc-java and grpcio take the string"));
            }
            _ => return Err(self.wrong_kind(node, field, "a number")),
        };
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
            self.source.fault(node.span, "is not a finite number", "write a number such as 1.3")
        })?;
        Ok(Located { value, span: node.span })
    }

    /// A count: a number without a fraction, from 0 on.
    pub(crate) fn count(&self, node: &Node, field: &str) -> Result<Located<u32>, TableError> {
        let whole = self.whole(node, field)?;
        let value = u32::try_from(whole.value).map_err(|_| self.no_count(node, field))?;
        Ok(Located { value, span: node.span })
    }

    /// A number without a fraction, from 0 on, that a double holds exactly.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    pub(crate) fn whole(&self, node: &Node, field: &str) -> Result<Located<u64>, TableError> {
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        let number = self.number(node, field)?.value;
        if number.fract() != 0.0 || !(0.0..=LARGEST).contains(&number) {
            return Err(self.no_count(node, field));
        }
        Ok(Located { value: number as u64, span: node.span })
    }

    fn no_count(&self, node: &Node, field: &str) -> TableError {
        let help = "write a whole number, such as 5";
        self.source.fault(node.span, &format!("is not a value for {field}"), help)
    }

    /// A time given as a number of milliseconds.
    pub(crate) fn millis(&self, node: &Node, field: &str) -> Result<Located<Duration>, TableError> {
        let number = self.number(node, field)?.value;
        let value = Duration::try_from_secs_f64(number / 1000.0).map_err(|_| {
            let help = "write milliseconds of zero or more, such as 100";
            self.source.fault(node.span, &format!("is no time for {field}"), help)
        })?;
        Ok(Located { value, span: node.span })
    }

    pub(crate) fn codes(&self, node: &Node, field: &str) -> Result<Located<Vec<Located<Code>>>, TableError> {
        let elements = self.array(node, field)?;
        let mut codes: Vec<Located<Code>> = Vec::with_capacity(elements.len().min(Code::ALL.len()));
        for element in elements {
            let Some(code) = self.code(element, field)? else { continue };
            if codes.iter().any(|known| known.value == code.value) {
                self.report_twice(&code);
            }
            codes.push(code);
        }
        Ok(Located { value: codes, span: node.span })
    }

    fn report_twice(&self, code: &Located<Code>) {
        if self.dialect == Dialect::AsWritten {
            self.findings.push_with(|| {
                let message = format!("{} comes twice", code.value);
                let help = "remove one of the two";
                self.source.warning("duplicate-code", code.span, message, help).with_severity(Severity::Note)
            });
        }
    }

    fn code(&self, node: &Node, field: &str) -> Result<Option<Located<Code>>, TableError> {
        let code = match &node.kind {
            Kind::Number(text) => number_of_code(text),
            Kind::String(text) if self.quotes_are_fine() => {
                Code::ALL.into_iter().find(|code| *code.name() == **text).or_else(|| number_of_code(text))
            }
            Kind::String(text) => text.parse().ok(),
            _ => return Err(self.wrong_kind(node, &format!("an element of {field}"), "a status code")),
        };
        let Some(code) = code else {
            if let Kind::Number(text) | Kind::String(text) = &node.kind
                && self.quotes_are_fine()
                && text.parse::<i32>().is_ok()
            {
                self.unrecognized.set(self.unrecognized.get().or(Some(node.span)));
                return Ok(None);
            }
            let help = match &node.kind {
                Kind::String(text) => closest_code(text),
                _ => "write a name such as UNAVAILABLE, or a number from 0 to 16".to_owned(),
            };
            return Err(self.source.fault(node.span, "is not a gRPC status code", help));
        };
        if let Kind::String(text) = &node.kind
            && **text != *code.name()
            && self.dialect != Dialect::GaxJava
        {
            let refused = ": Google's generators, grpc-go, grpc-java and grpcio reject the whole file";
            let help = format!("write {code}{}", if self.is_own { "" } else { refused });
            let message = format!("{text:?} is read as {code}");
            self.warn("lower-case-code", node.span, message, help);
        }
        Ok(Some(Located { value: code, span: node.span }))
    }
}

fn number_of_code(text: &str) -> Option<Code> {
    text.parse::<i32>().ok().and_then(|number| Code::try_from(number).ok())
}

fn closest_code(text: &str) -> String {
    let names = Code::ALL.map(Code::name);
    let upper = text.trim().to_uppercase().replace(['-', ' '], "_");
    match closest(&upper, names) {
        Some(name) => format!("did you mean {name}?"),
        None => "write a name such as UNAVAILABLE, or a number from 0 to 16".to_owned(),
    }
}

/// The seconds that a person who wrote `text` may have meant.
pub(crate) fn suggested_seconds(text: &str) -> String {
    let text = text.trim();
    let seconds = |number: &str, unit: f64| {
        number.parse::<f64>().ok().filter(|n| (0.0..1e9).contains(n)).map(|n| format!("{}s", n * unit))
    };
    let split = text.find(|character: char| character.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "ms" => Some(0.001),
        "" | "s" | "S" | "sec" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    unit.and_then(|unit| seconds(number, unit)).unwrap_or_else(|| "0.1s".to_owned())
}

/// The longest duration that protobuf has, in seconds: ten thousand years.
const MAX_SECONDS: u64 = 315_576_000_000;

/// Nanoseconds of a text such as `60s`, `0.25s` or `-1s`; `None` for any other text.
///
/// Digits after the ninth of the fraction are cut off. That and `+5s` and `5.s` is what protobuf's
/// Java library takes; `.5s` is what grpc-go takes.
pub(super) fn parse_duration(text: &str) -> Option<i128> {
    let unsigned = text.strip_suffix('s')?;
    let (negative, unsigned) = match unsigned.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, unsigned.strip_prefix('+').unwrap_or(unsigned)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let seconds = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    if seconds > MAX_SECONDS {
        return None;
    }
    let nanos = fraction
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(9)
        .fold(0_u32, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
    if seconds == MAX_SECONDS && nanos > 0 {
        return None;
    }
    let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    Some(if negative { -nanos } else { nanos })
}

/// Returns whether every gRPC client reads the text as a duration, its sign aside: digits, and up to nine behind a point.
pub(super) fn is_plain(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text).trim_end_matches('s');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    !whole.is_empty() && !whole.starts_with('+') && (1..=9).contains(&fraction.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_protobuf_takes_is_taken() {
        for (text, nanos) in [
            ("60s", 60_000_000_000),
            ("0.1s", 100_000_000),
            ("1.9999s", 1_999_900_000),
            ("0.0009s", 900_000),
            ("0.1234567899s", 123_456_789),
            ("5.s", 5_000_000_000),
            (".5s", 500_000_000),
            ("+5s", 5_000_000_000),
            ("-0.5s", -500_000_000),
            ("0s", 0),
            ("00060s", 60_000_000_000),
            ("315576000000s", 315_576_000_000_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Some(nanos), "{text}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "",
            "s",
            ".s",
            "60",
            "100ms",
            "60S",
            " 60s",
            "60s ",
            "1e2s",
            "1m",
            "--1s",
            "+-1s",
            "1.2.3s",
            "1.-5s",
            "NaNs",
            "infs",
            "٣s",
            "315576000001s",
            "315576000000.1s",
            "99999999999999999999s",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
