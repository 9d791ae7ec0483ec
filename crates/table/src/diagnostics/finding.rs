//! A message of a reader or the linter about a table that loads all the same.

use super::error::TableError;
use super::source_location::SourceLocation;
use gax_text::Escaped;
use std::borrow::Cow;
use std::fmt;

/// How severe a [`Finding`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Severity {
    /// Good to know.
    Note,
    /// The table probably does not do what its author wants.
    Warning,
    /// The table can't be meant as it is.
    Error,
}

gax_text::names! {
    fn name for Severity {
        Note = "note",
        Warning = "warning",
        Error = "error",
    }
}

/// One finding about a table: the rule that it comes from, the place, and what to do.
///
/// It prints text of the file with control characters escaped, as in `\u{1b}`; the parts have the text unchanged.
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
///
/// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeot": "5s"}]}"#)?;
/// assert_eq!(
///     table.findings()[0].to_string(),
///     r#"line 1, column 50: warning[unknown-field]: "timeot" is not a field of a method config; did you mean "timeout"?"#
/// );
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use]
pub struct Finding {
    rule: &'static str,
    severity: Severity,
    message: String,
    help: Option<Cow<'static, str>>,
    origin: Option<SourceLocation>,
    name: Option<Box<str>>,
    has_suggestion: bool,
}

impl Finding {
    /// A finding without a place; see [`at`](Finding::at) and [`with_help`](Finding::with_help).
    pub fn new(rule: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity,
            message: message.into(),
            help: None,
            origin: None,
            name: None,
            has_suggestion: false,
        }
    }

    gax_text::setters! { self:
        /// The finding with another message.
        pub with_message(message: impl Into<String>) => self.message = message.into();

        /// The finding with advice.
        pub with_help(help: impl Into<Cow<'static, str>>) => self.help = Some(help.into());

        /// The finding with its place.
        pub at(origin: impl Into<Option<SourceLocation>>) => self.origin = origin.into();
    }

    /// The finding with the name that was most likely meant, as its advice.
    pub(crate) fn with_suggestion(self, name: &str) -> Self {
        Self { has_suggestion: true, ..self.with_help(format!("did you mean {name:?}?")) }
    }

    /// Returns whether a name is probably misspelt: the advice names the one that was meant.
    #[must_use]
    pub fn has_suggestion(&self) -> bool {
        self.has_suggestion
    }

    /// The finding at the place of an error, with the error's advice.
    pub fn at_error(mut self, error: &TableError) -> Self {
        self.help = error.help().map(|help| help.to_owned().into());
        self.at(error.origin().cloned())
    }

    gax_text::setters! { self:
        /// The finding with the method or service that it is about: `pkg.Service/Method` or `pkg.Service`.
        pub about(name: impl Into<String>) => self.name = Some(name.into().into_boxed_str());

        /// The finding with that severity.
        pub with_severity(severity: Severity) => self.severity = severity;
    }

    gax_text::getters! { self:
        /// The rule's name, such as `unknown-field`.
        pub rule: &'static str = self.rule;

        /// How much it matters.
        pub severity: Severity = self.severity;

        /// The problem, without the place.
        pub message: &str = self.message.as_str();

        /// The advice.
        pub help: Option<&str> = self.help.as_deref();

        /// The method or service that it is about, as `pkg.Service/Method` or `pkg.Service`; `None` if it is about an
        /// entry, whatever its names, or about a whole file.
        pub name: Option<&str> = self.name.as_deref();

        /// Where it is.
        pub origin: Option<&SourceLocation> = self.origin.as_ref();
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.rule, Escaped(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "; {}", Escaped(help)),
            None => Ok(()),
        }
    }
}
