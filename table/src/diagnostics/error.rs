//! Why a table can't be read.

use super::source_location::SourceLocation;
use gax_retry::__private::Escaped;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// A table that makes no sense, with the place and what to do about it.
///
/// It prints what the file says with control characters escaped, as in `\u{1b}`; the parts are as they stand
/// in the file.
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
#[derive(Debug, Clone)]
pub struct TableError(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    message: String,
    help: Option<String>,
    origin: Option<SourceLocation>,
    text: Option<String>,
    source: Option<Arc<io::Error>>,
}

impl TableError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { message, help: None, origin: None, text: None, source: None }))
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

    /// The same error, which one of gRPC's libraries does not make.
    #[cfg(feature = "json")]
    pub(crate) fn with_java_taking(mut self, what: &str) -> Self {
        let help = self.0.help.take().unwrap_or_default();
        self.with_help(format!("{help}: grpc-java takes {what}, gRPC's own rules (A6) do not"))
    }

    #[cfg(feature = "json")]
    pub(crate) fn at(mut self, origin: SourceLocation, text: String) -> Self {
        self.0.origin = Some(origin);
        self.0.text = Some(text);
        self
    }

    /// What is the matter, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Where it is.
    #[must_use]
    pub fn origin(&self) -> Option<&SourceLocation> {
        self.0.origin.as_ref()
    }

    /// The offending text, as it stands in the file; a long one is cut off.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.0.origin {
            write!(f, "{origin}: ")?;
        }
        write!(f, "{}", Escaped(&self.0.message))?;
        match &self.0.help {
            Some(help) => write!(f, "; {}", Escaped(help)),
            None => Ok(()),
        }
    }
}

impl Error for TableError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as &(dyn Error + 'static))
    }
}
