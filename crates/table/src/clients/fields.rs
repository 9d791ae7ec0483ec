//! The fields of a service config as a client finds them, and what it doesn't do as written.

use super::decode::Wrong;
use super::report::{Deviation, Verdict};
use super::rules::Client;
use super::script::ClientOptions;
use crate::document::{Kind, Member, Node, Source, Span};

pub(super) const WRITE: Fix = Fix::Advice("write what all clients take");
/// What one would write for a field that is missing.
const USUAL: [(&str, &str); 6] = [
    ("maxAttempts", "5"),
    ("initialBackoff", "\"0.1s\""),
    ("maxBackoff", "\"1s\""),
    ("backoffMultiplier", "2"),
    ("maxTokens", "10"),
    ("tokenRatio", "0.1"),
];

/// A client that reads a table.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) client: Client,
    pub(super) options: &'a ClientOptions,
    pub(super) source: &'a Source,
    pub(super) deviations: Vec<Deviation>,
    /// The number of the entry that is being read.
    pub(super) entry: Option<usize>,
    /// The tokens of retry throttling, and what a success gives back.
    pub(super) throttle: Option<(f64, f64)>,
}

/// How a client reads a value.
type Read<T> = fn(Client, &Node) -> Result<T, Wrong>;

/// The change that makes clients agree.
#[derive(Debug)]
pub(super) enum Fix {
    /// This in place of what is there.
    Write(String),
    At(Span, String),
    Advice(&'static str),
}

impl From<&'static str> for Fix {
    fn from(advice: &'static str) -> Self {
        Self::Advice(advice)
    }
}

impl From<String> for Fix {
    fn from(right: String) -> Self {
        Self::Write(right)
    }
}

impl Reader<'_> {
    pub(super) fn is(&self, rule: &str, value: &str) -> bool {
        self.client.is(rule, value)
    }

    /// How a table is refused by this client.
    pub(super) fn refusal(&self) -> Verdict {
        if self.is("refusal", "call") { Verdict::RefusedPerCall } else { Verdict::RefusedAtCreation }
    }

    /// Returns whether the client has refused something since there were so many deviations.
    pub(super) fn has_refused_since(&self, before: usize) -> bool {
        self.deviations.iter().skip(before).any(|known| known.verdict == self.refusal())
    }

    /// Notes that the client refuses the table because of this place.
    pub(super) fn refuse(&mut self, span: Span, message: impl Into<String>, fix: impl Into<Fix>) {
        let code = self.is("refusal", "call").then_some("INVALID_ARGUMENT");
        self.note(self.refusal(), code, span, message, fix);
    }

    /// Notes the same, if that is what the rule says.
    pub(super) fn refuse_by(
        &mut self,
        rule: &str,
        span: Span,
        message: impl Into<String>,
        fix: impl Into<Fix>,
    ) {
        if self.is(rule, "refuse") {
            self.refuse(span, message, fix);
        }
    }

    /// Notes that the client reads something else than what is written.
    pub(super) fn changed(&mut self, span: Span, message: impl Into<String>, fix: impl Into<Fix>) {
        self.note(Verdict::Changed, None, span, message, fix);
    }

    /// Notes that the client retries nothing because of this place.
    pub(super) fn never(&mut self, span: Span, message: impl Into<String>, fix: impl Into<Fix>) {
        self.note(Verdict::NoRetries, None, span, message, fix);
    }

    /// Notes that every call fails with this code.
    pub(super) fn fails(&mut self, code: &'static str, span: Span, message: String, fix: impl Into<Fix>) {
        self.note(Verdict::RefusedPerCall, Some(code), span, message, fix);
    }

    /// Notes that the client refuses a value, unless it is fine.
    pub(super) fn check<T>(
        &mut self,
        value: Option<(T, Span)>,
        is_fine: impl FnOnce(&T) -> bool,
        problem: &str,
        fix: impl Into<Fix>,
    ) {
        if let Some((_, span)) = value.filter(|(value, _)| !is_fine(value)) {
            self.refuse(span, problem, fix);
        }
    }

    /// The text of a span, whole.
    pub(super) fn written(&self, span: Span) -> &str {
        self.source.text().get(span.start..span.end).unwrap_or_default()
    }

    pub(super) fn note(
        &mut self,
        verdict: Verdict,
        code: Option<&'static str>,
        span: Span,
        message: impl Into<String>,
        fix: impl Into<Fix>,
    ) {
        let (help, fix) = match fix.into() {
            Fix::Advice(advice) => (advice.to_owned(), None),
            Fix::Write(text) => (format!("write {text}"), Some((span, text))),
            Fix::At(place, text) if text.is_empty() => ("remove it".to_owned(), Some((place, text))),
            Fix::At(place, text) => (format!("write {}", text.trim_end_matches(", ")), Some((place, text))),
        };
        let deviation = Deviation {
            verdict,
            code,
            message: message.into(),
            help,
            origin: self.source.origin(span),
            fix: fix.map(|(span, text)| (span.start..span.end, text)),
            entry: self.entry,
        };
        if !self.deviations.contains(&deviation) {
            self.deviations.push(deviation);
        }
    }

    /// The field of that name as the client finds it. A name that it would have with other letters is reported.
    pub(super) fn field<'n>(&mut self, object: &'n Node, name: &str) -> Option<&'n Node> {
        let members = object.members();
        let any_case = self.is("field.case", "any");
        let is_seen =
            |member: &Member| *member.key == *name || any_case && member.key.eq_ignore_ascii_case(name);
        let Some(member) = members.iter().rev().find(|member| is_seen(member)) else {
            let is_meant = |member: &&Member| member.key.replace('_', "").eq_ignore_ascii_case(name);
            if let Some(member) = members.iter().rev().find(is_meant) {
                let is_policy = name == "methodConfig" || name.ends_with("Policy");
                let verdict = if is_policy { Verdict::NoRetries } else { Verdict::Changed };
                let message = format!("the field {:?} is not seen", member.key);
                self.note(verdict, None, member.key_span, message, format!("{name:?}"));
            }
            return None;
        };
        let value = &member.value;
        let is_other = |first: &&Member| {
            let kinds = [&first.value, value].map(Node::a_kind);
            is_seen(first)
                && !kinds.contains(&"null")
                && (kinds[0] != kinds[1] || first.value.text() != value.text())
        };
        if let (Some(first), true) =
            (members.iter().find(is_other), self.is("field.twice", "each is decoded"))
        {
            // The client fails for any of the values that it can't decode.
            self.note(Verdict::Unknown, None, first.key_span, format!("{name} occurs twice"), WRITE);
        }
        if value.kind == Kind::Null {
            let is_listed = |rule| self.client.rule(rule).split(' ').any(|other| other == name);
            let is_refused = self.is("field.null", "refuse") && !is_listed("field.null-ignored");
            if is_refused || is_listed("field.null-refused") {
                self.refuse(value.span, format!("{name} is null"), removal_of(object, value));
            }
            return None;
        }
        Some(value)
    }

    /// A field with a value that the client can take, or the deviation that it can't.
    pub(super) fn value<T>(&mut self, object: &Node, name: &str, read: Read<T>) -> Option<(T, Span)> {
        let node = self.field(object, name)?;
        self.taken(node, name, read).map(|value| (value, node.span))
    }

    pub(super) fn taken<T>(&mut self, node: &Node, name: &str, read: Read<T>) -> Option<T> {
        match read(self.client, node) {
            Ok(value) => Some(value),
            Err(Wrong { problem, right }) => {
                let message = format!("{name} {} {problem}", self.source.excerpt(node.span));
                self.refuse(node.span, message, right.map_or(WRITE, Fix::Write));
                None
            }
        }
    }

    /// A field that has to be there.
    pub(super) fn required<T>(&mut self, object: &Node, name: &str, read: Read<T>) -> Option<(T, Span)> {
        let before = self.deviations.len();
        let value = self.value(object, name, read);
        if value.is_none() && !self.has_refused_since(before) {
            let start = object.span.start + 1;
            let is_misspelt = self.deviations.len() > before;
            let usual = USUAL.into_iter().find(|(known, _)| *known == name);
            let fix = match usual.filter(|_| !is_misspelt && !object.members().is_empty()) {
                Some((_, value)) => Fix::At(Span { start, end: start }, format!("\"{name}\": {value}, ")),
                None => Fix::Advice("write the field"),
            };
            self.refuse(object.span, format!("{name} is missing"), fix);
        }
        value
    }

    /// An object, or the deviation that it is none.
    pub(super) fn object<'n>(&mut self, node: &'n Node, name: &str) -> Option<&'n Node> {
        self.kind(node, name, "an object")
    }

    pub(super) fn array<'n>(&mut self, node: &'n Node, name: &str) -> Option<&'n [Node]> {
        self.kind(node, name, "an array").map(Node::items)
    }

    /// A value of that [kind](Node::a_kind).
    pub(super) fn kind<'n>(&mut self, node: &'n Node, name: &str, wanted: &str) -> Option<&'n Node> {
        let kind = node.a_kind();
        if kind != wanted {
            let list = || Fix::Write(format!("[{}]", self.written(node.span)));
            let fix = if (kind, wanted) == ("an object", "an array") { list() } else { WRITE };
            self.refuse(node.span, format!("{name} is {kind}, not {wanted}"), fix);
        }
        (kind == wanted).then_some(node)
    }
}

/// The bytes to remove so that the part of that number is gone from a list, and its comma.
pub(super) fn removal(parts: &[Span], index: usize) -> Span {
    let part = parts.get(index).copied().unwrap_or_default();
    let before = index.checked_sub(1).and_then(|index| parts.get(index));
    match (parts.get(index + 1), before) {
        (Some(next), _) => Span { start: part.start, end: next.start },
        (None, Some(before)) => Span { start: before.end, end: part.end },
        (None, None) => part,
    }
}

/// The removal of the member with that value.
pub(super) fn removal_of(object: &Node, value: &Node) -> Fix {
    let members = object.members();
    let index = members.iter().position(|member| std::ptr::eq(&raw const member.value, value));
    let span = |member: &Member| Span { start: member.key_span.start, end: member.value.span.end };
    let spans: Vec<Span> = members.iter().map(span).collect();
    Fix::At(removal(&spans, index.unwrap_or_default()), String::new())
}
