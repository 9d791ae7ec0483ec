//! A place in a file.

use gax_text::Escaped;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// A place in a retry table's file.
///
/// Prints as `file:line:column`, or as `line 3, column 7` where the text came without a file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    file: Option<Arc<str>>,
    // A table has several places for each of its names. Files are short enough for numbers of 32 bits.
    line: NonZeroU32,
    column: u32,
    start: u32,
    end: u32,
}

impl SourceLocation {
    #[cfg(feature = "json")]
    pub(crate) fn new(file: Option<Arc<str>>, line: usize, column: usize, span: Range<usize>) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let line = NonZeroU32::new(number(line)).unwrap_or(NonZeroU32::MIN);
        Self { file, line, column: number(column), start: number(span.start), end: number(span.end) }
    }

    gax_text::getters! { self:
        /// The file's name, as it was given to the reader.
        pub file: Option<&str> = self.file.as_deref();

        /// The line, counted from 1.
        pub line: usize = widened(self.line.get());

        /// The column in characters, counted from 1.
        pub column: usize = widened(self.column);

        /// The bytes of the text that are meant. A byte order mark at the start of the text is not included.
        pub span: Range<usize> = widened(self.start)..widened(self.end);
    }
}

fn widened(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}:{}:{}", Escaped(file), self.line, self.column),
            None => write!(f, "line {}, column {}", self.line, self.column),
        }
    }
}

/// File, line and column.
#[cfg(feature = "serde")]
impl serde::Serialize for SourceLocation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct("SourceLocation", 3)?;
        fields.serialize_field("file", &self.file())?;
        fields.serialize_field("line", &self.line())?;
        fields.serialize_field("column", &self.column())?;
        fields.end()
    }
}
