//! Why a table can't be read.

use super::source_location::SourceLocation;
use gax_text::{Escaped, is_unprintable};
use std::error::Error;
use std::sync::Arc;
use std::{fmt, io};

/// An invalid table, with the place and the correction.
///
/// It prints text of the file with control characters escaped, as in `\u{1b}`; the parts have the text unchanged.
/// Where a file has [more errors](Self::others), each follows on a line of its own.
/// `Debug`, which `main` prints for an error, shows the line of the file as well:
///
/// ```text
/// retry.json:3:14: "500ms" is not a duration; write seconds followed by s, such as "0.5s"
///   |
/// 3 |   "timeout": "500ms"
///   |              ^^^^^^^
/// ```
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
///
/// let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "500ms"}]}"#;
/// let error = RetryTable::parse(text).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"line 1, column 61: "500ms" is not a duration; write seconds followed by s, such as "0.5s""#
/// );
/// assert_eq!(error.text(), Some("\"500ms\""));
/// ```
#[derive(Clone)]
pub struct TableError(Box<Inner>);

/// The most of a line that is shown, in characters, and how much of it is before what is meant.
const SHOWN: usize = 100;
const BEFORE: usize = 60;

#[derive(Clone, Default)]
struct Inner {
    message: String,
    help: Option<String>,
    origin: Option<SourceLocation>,
    text: Option<String>,
    /// The line that it is in.
    line: Option<String>,
    source: Option<Arc<io::Error>>,
    others: Vec<TableError>,
}

impl TableError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Inner { message: message.into(), ..Inner::default() }))
    }

    #[cfg(feature = "json")]
    pub(crate) fn from_io(message: impl Into<String>, source: io::Error) -> Self {
        let mut error = Self::new(message);
        error.0.source = Some(Arc::new(source));
        error
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// The error, which one of gRPC's libraries does not make.
    #[cfg(feature = "json")]
    pub(crate) fn with_others(mut self, who: &str) -> Self {
        let help = self.0.help.take().unwrap_or_default();
        self.with_help(format!("{help}: {who}, gRPC's own rules (A6) do not"))
    }

    #[cfg(feature = "json")]
    pub(crate) fn at(mut self, origin: SourceLocation, text: String) -> Self {
        self.0.origin = Some(origin);
        self.0.text = Some(text);
        self
    }

    /// This error with the others of its file.
    #[doc(hidden)]
    #[must_use]
    pub fn followed_by(mut self, others: Vec<TableError>) -> Self {
        self.0.others = others;
        self
    }

    /// This error with the line that it is in.
    #[cfg(feature = "json")]
    pub(crate) fn in_line<'a>(mut self, line_at: impl FnOnce(usize) -> &'a str) -> Self {
        self.0.line = self.0.origin.as_ref().map(|origin| line_at(origin.span().start).to_owned());
        self
    }

    gax_text::getters! { self:
        /// The problem, without the place.
        pub message: &str = self.0.message.as_str();

        /// The advice.
        pub help: Option<&str> = self.0.help.as_deref();

        /// Where it is.
        pub origin: Option<&SourceLocation> = self.0.origin.as_ref();

        /// The offending text, unchanged; a long text is shortened.
        pub text: Option<&str> = self.0.text.as_deref();

        /// The other errors of the file, as far as they don't follow from those before them: at most 19, in the
        /// order in which they were found. One that ends the reading, such as text that is no JSON, hides the rest.
        pub others: &[TableError] = self.0.others.as_slice();
    }

    /// The error without the others.
    fn say(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.0.origin {
            write!(f, "{origin}: ")?;
        }
        write!(f, "{}", Escaped(&self.0.message))?;
        if let Some(help) = &self.0.help {
            write!(f, "; {}", Escaped(help))?;
        }
        Ok(())
    }

    /// The line of the file, with its text underlined.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(origin), Some(line)) = (&self.0.origin, &self.0.line) else { return Ok(()) };
        let skipped = if line.chars().count() > SHOWN { origin.column().saturating_sub(BEFORE) } else { 0 };
        let shown = line.chars().skip(skipped).take(SHOWN);
        let shown: String = shown.map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
        let before = " ".repeat(origin.column().saturating_sub(skipped + 1));
        let text = self.0.text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
        let carets = "^".repeat(text.chars().count().clamp(1, SHOWN));
        let (number, margin) = (origin.line(), " ".repeat(origin.line().to_string().len()));
        write!(f, "\n{margin} |\n{number} | {}\n{margin} | {before}{carets}", shown.trim_end())
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say(f)?;
        self.0.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl fmt::Debug for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say(f)?;
        self.show(f)?;
        self.0.others.iter().try_for_each(|other| write!(f, "\n{other:?}"))
    }
}

impl Error for TableError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as &(dyn Error + 'static))
    }
}
