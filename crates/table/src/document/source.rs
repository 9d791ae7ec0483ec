//! A text, and the places in it.

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
        let refused = |valid: &[u8], text: String, message: String, help: &str| {
            let source = Self::new(file.clone(), std::str::from_utf8(valid).unwrap_or_default());
            let end = source.text().len();
            Err(TableError::new(message).with_help(help).at(source.origin(Span { start: end, end }), text))
        };
        if content.len() > MAX_FILE {
            let message = format!("the file has {} bytes, but 16 MiB is the limit", content.len());
            return refused(&[], String::new(), message, "split the file");
        }
        if let Some(message) = encoding_problem(content) {
            return refused(&[], String::new(), message.to_owned(), "save the file as UTF-8");
        }
        match std::str::from_utf8(content) {
            Ok(text) => Ok(Self::new(file, text)),
            Err(error) => {
                let (valid, rest) = content.split_at(error.valid_up_to());
                let byte = format!("0x{:02x}", rest.first().copied().unwrap_or_default());
                let message = format!("the byte {byte} is not UTF-8");
                refused(valid, byte, message, "save the file as UTF-8")
            }
        }
    }

    gax_text::getters! { self:
        pub(crate) text: &str = &self.text;

        /// Returns whether the file begins with a byte order mark, which is not in the text.
        pub(crate) has_mark: bool = self.has_mark;
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

/// How many bytes lie between two places whose number of characters is kept.
const STRIDE: usize = 256;

/// Where the lines of a text begin. Finding a column costs the same in a text of one long line.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    /// Of a text of 16 MiB at most.
    characters: Vec<u32>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(index, _)| index + 1)).collect();
        let mut characters = Vec::with_capacity(text.len() / STRIDE + 2);
        characters.push(0);
        let mut count = 0_u32;
        for chunk in text.as_bytes().chunks(STRIDE) {
            count = count.saturating_add(u32::try_from(first_bytes(chunk)).unwrap_or(u32::MAX));
            characters.push(count);
        }
        Self { starts, characters }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(crate) fn position(&self, text: &str, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let byte = byte.min(text.len());
        // Most lines are shorter than the way from a mark.
        let before = match text.as_bytes().get(start..byte) {
            Some(bytes) if bytes.len() <= STRIDE => first_bytes(bytes),
            _ => self.count_before(text, byte).saturating_sub(self.count_before(text, start)),
        };
        (line.max(1), before + 1)
    }

    fn count_before(&self, text: &str, byte: usize) -> usize {
        let mark = byte / STRIDE;
        let counted = self.characters.get(mark).copied().unwrap_or(0);
        usize::try_from(counted).unwrap_or(usize::MAX)
            + text.as_bytes().get(mark * STRIDE..byte).map_or(0, first_bytes)
    }
}

/// How many characters begin in these bytes.
fn first_bytes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "ab\nçé→x\r\n\ny";
        let lines = Lines::new(text);
        let of = |what: &str| lines.position(text, text.find(what).unwrap());
        assert_eq!(of("a"), (1, 1));
        assert_eq!(of("b"), (1, 2));
        assert_eq!(of("x"), (2, 4));
        assert_eq!(of("y"), (4, 1));
        assert_eq!(lines.position(text, text.len()), (4, 2));
        assert_eq!(lines.position(text, usize::MAX), (4, 2));
        assert_eq!(Lines::new("").position("", 0), (1, 1));
    }

    #[test]
    fn a_long_line_is_counted_across_marks() {
        let text = format!("x\n{}y", "é".repeat(10_000));
        let lines = Lines::new(&text);
        assert_eq!(lines.position(&text, text.len() - 1), (2, 10_001));
        for (column, (index, _)) in text.char_indices().skip(2).enumerate() {
            assert_eq!(lines.position(&text, index), (2, column + 1));
        }
    }
}
