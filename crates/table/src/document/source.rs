//! A text, and the places in it.

use super::lines::Lines;
use super::node::Span;
use crate::input::MAX_FILE;
use crate::{Finding, Severity, SourceLocation, TableError};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The longest piece of a file that a message repeats, in characters.
const MAX_EXCERPT: usize = 60;

/// The prefix of a TXT record before its list of service configs; it reads as white space.
const DNS_PREFIX: &str = "grpc_config=";

/// A text without its line breaks, and without what indents its lines.
pub(super) fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A text with its name, so that places in it can be reported.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    file: Option<Arc<str>>,
    text: Arc<str>,
    lines: Lines,
    has_mark: bool,
}

impl Source {
    pub(crate) fn new(file: Option<Arc<str>>, text: &str) -> Self {
        let has_mark = text.starts_with('\u{feff}');
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = Lines::new(text);
        let text = match text.strip_prefix(DNS_PREFIX) {
            Some(config) => format!("{}{config}", " ".repeat(DNS_PREFIX.len())).into(),
            None => text.into(),
        };
        Self { file, text, lines, has_mark }
    }

    /// A file's content as text, if it is UTF-8 and not too long.
    pub(crate) fn decode(file: Option<Arc<str>>, content: &[u8]) -> Result<Self, TableError> {
        let place = |valid: &[u8], text: String| {
            let source = Self::new(file.clone(), std::str::from_utf8(valid).unwrap_or_default());
            let end = source.text().len();
            (source.origin(Span { start: end, end }), text)
        };
        if content.len() > MAX_FILE {
            let (origin, text) = place(&[], String::new());
            let message = format!("the file has {} bytes, but 16 MiB is the limit", content.len());
            return Err(TableError::new(message).with_help("split the file").at(origin, text));
        }
        if let Some(message) = encoding_problem(content) {
            let (origin, text) = place(&[], String::new());
            return Err(TableError::new(message).with_help("save the file as UTF-8").at(origin, text));
        }
        match std::str::from_utf8(content) {
            Ok(text) => Ok(Self::new(file, text)),
            Err(error) => {
                let (valid, rest) = content.split_at(error.valid_up_to());
                let byte = rest.first().copied().unwrap_or_default();
                let (origin, text) = place(valid, format!("0x{byte:02x}"));
                Err(TableError::new(format!("the byte 0x{byte:02x} is not UTF-8"))
                    .with_help("save the file as UTF-8")
                    .at(origin, text))
            }
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the file begins with a byte order mark, which is not in the text.
    pub(crate) fn has_mark(&self) -> bool {
        self.has_mark
    }

    /// The line that a place is in.
    pub(crate) fn line_at(&self, place: usize) -> &str {
        let (before, after) = self.text.split_at_checked(place).unwrap_or((&self.text, ""));
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let end = after.find('\n').map_or(self.text.len(), |end| before.len() + end);
        self.text.get(start..end).unwrap_or_default().trim_end_matches('\r')
    }

    /// Returns whether its file's name ends so.
    pub(crate) fn is_named(&self, extension: &str) -> bool {
        let ending = self.file.as_deref().and_then(|file| Path::new(file).extension());
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case(extension))
    }

    pub(crate) fn origin(&self, span: Span) -> SourceLocation {
        let (line, column) = self.lines.position(&self.text, span.start);
        SourceLocation::new(self.file.clone(), line, column, span.start..span.end)
    }

    /// The text of a span, cut off where it gets long.
    pub(crate) fn excerpt(&self, span: Span) -> String {
        let text = self.text.get(span.start..span.end).unwrap_or_default();
        match text.char_indices().nth(MAX_EXCERPT) {
            Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
            None => text.to_owned(),
        }
    }

    /// An error about the text of a span: "`text` `problem`; `help`".
    pub(crate) fn fault(&self, span: Span, problem: &str, help: impl Into<String>) -> TableError {
        let text = self.excerpt(span);
        TableError::new(format!("{} {problem}", on_one_line(&text)))
            .with_help(help)
            .at(self.origin(span), text)
    }

    /// An error at a span.
    pub(crate) fn error(
        &self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> TableError {
        TableError::new(message).with_help(help).at(self.origin(span), self.excerpt(span))
    }

    /// A warning at a span.
    pub(crate) fn warning(
        &self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) -> Finding {
        Finding::new(rule, Severity::Warning, message).with_help(help).at(self.origin(span))
    }

    /// A note at a span.
    pub(crate) fn note(
        &self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) -> Finding {
        self.warning(rule, span, message, help).with_severity(Severity::Note)
    }
}

/// In which encoding a file is, if it is one that reads as nonsense.
fn encoding_problem(content: &[u8]) -> Option<&'static str> {
    match content {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("the file is UTF-16"),
        [first, 0, second, 0, ..] | [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            Some("the file is UTF-16, without a byte order mark")
        }
        [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, ..] => Some("the file begins with two byte order marks"),
        _ => None,
    }
}
