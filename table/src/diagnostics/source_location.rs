//! Where in a file something stands.

use gax_retry::__private::Escaped;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A place in a retry table's file.
///
/// Prints as `file:line:column`, or as `line 3, column 7` where the text came without a file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    file: Option<Arc<str>>,
    line: usize,
    column: usize,
    span: Range<usize>,
}

impl SourceLocation {
    #[cfg(feature = "json")]
    pub(crate) fn new(file: Option<Arc<str>>, line: usize, column: usize, span: Range<usize>) -> Self {
        Self { file, line, column, span }
    }

    /// The file's name, as it was given to the reader.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// The bytes of the text that are meant. A byte order mark at the text's start does not count.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}:{}:{}", Escaped(file), self.line, self.column),
            None => write!(f, "line {}, column {}", self.line, self.column),
        }
    }
}
