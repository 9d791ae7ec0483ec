//! Why code can't be generated.

use gax_table::{Finding, TableError};
use gax_text::Escaped;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::error::Error as StdError;
use std::path::PathBuf;
use std::{fmt, io};

/// Why code can't be generated: where, what, and what to do.
///
/// Both `Display` and `Debug` are made for people, since a build script's `main` prints the latter. With
/// the `fancy` reporter of the crate [`miette`] the error shows the offending line of the table or proto.
///
/// # Examples
///
/// ```
/// let error = tonic_gax_build::configure()
///     .retry_table_text("retry.json", r#"{"methodConfig": [{"name": [{}], "timeout": "6"}]}"#)
///     .generate(&["echo.proto"], &["proto"])
///     .unwrap_err();
/// assert!(error.to_string().starts_with(r#"retry.json:1:45: "6" is not a duration"#));
/// assert!(error.is_table());
/// ```
pub struct Error(Box<ErrorKind>);

/// The advice for a file with editions.
const EDITIONS: &str = "write syntax = \"proto3\" in place of the edition, with optional for fields whose presence counts, or take \
                        the file as it was before editions";

/// The advice for protos with names that Rust has no place for.
const LIMITS: &str = "rename what is named, or generate its messages elsewhere and name their Rust path with extern_path(): prost makes \
                      one item of Rust of each";

enum ErrorKind {
    Table {
        error: TableError,
        source: Option<NamedSource<String>>,
    },
    Protos(protox::Error),
    /// The place, or the file alone.
    Editions(String),
    /// Things that Rust code can't be generated for: each problem with its place.
    Limits(Vec<String>),
    UnknownNames(Vec<Finding>),
    Option {
        option: String,
        problem: String,
        help: &'static str,
    },
    Io {
        action: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    Generator(io::Error),
}

impl Error {
    /// A table that has no meaning; `text` is the table's.
    pub(crate) fn table(error: TableError, name: &str, text: Option<&str>) -> Self {
        let source = text.map(|text| NamedSource::new(name, text.to_owned()));
        Self(Box::new(ErrorKind::Table { error, source }))
    }

    pub(crate) fn unknown_names(findings: Vec<Finding>) -> Self {
        Self(Box::new(ErrorKind::UnknownNames(findings)))
    }

    /// An option of the builder that can't be used, such as `extern_path(".a", "1")`.
    pub(crate) fn option(option: impl Into<String>, problem: impl Into<String>, help: &'static str) -> Self {
        Self(Box::new(ErrorKind::Option { option: option.into(), problem: problem.into(), help }))
    }

    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self(Box::new(ErrorKind::Io { action, path: path.into(), error }))
    }

    pub(crate) fn generator(error: io::Error) -> Self {
        Self(Box::new(ErrorKind::Generator(error)))
    }

    /// A file that says `edition` where others say `syntax`.
    pub(crate) fn editions(place: impl Into<String>) -> Self {
        Self(Box::new(ErrorKind::Editions(place.into())))
    }

    /// Protos that Rust code can't be generated for; each problem begins with its place.
    pub(crate) fn limits(problems: Vec<String>) -> Self {
        Self(Box::new(ErrorKind::Limits(problems)))
    }

    /// Returns whether a retry table is at fault.
    #[must_use]
    pub fn is_table(&self) -> bool {
        matches!(*self.0, ErrorKind::Table { .. } | ErrorKind::UnknownNames(_))
    }

    /// The error of a retry table that can't be read, with the others of its file.
    #[must_use]
    pub fn table_error(&self) -> Option<&TableError> {
        match &*self.0 {
            ErrorKind::Table { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns whether the protos don't compile, or have what Rust code can't be generated for.
    #[must_use]
    pub fn is_protos(&self) -> bool {
        matches!(*self.0, ErrorKind::Protos(_) | ErrorKind::Editions(_) | ErrorKind::Limits(_))
    }

    /// The names in retry tables that no proto has, where
    /// [`deny_unknown_methods`](crate::Builder::deny_unknown_methods) makes them an error.
    pub fn unknown_methods(&self) -> &[Finding] {
        match &*self.0 {
            ErrorKind::UnknownNames(findings) => findings,
            _ => &[],
        }
    }

    /// The errors of the table after the first.
    fn other_errors(&self) -> &[TableError] {
        self.table_error().map_or(&[], TableError::others)
    }

    fn help_text(&self) -> Option<String> {
        match &*self.0 {
            ErrorKind::Table { error, .. } => error.help().map(str::to_owned),
            ErrorKind::Protos(error) if error.is_file_not_found() => {
                Some("name the directory that its path starts from as an include path".to_owned())
            }
            ErrorKind::Protos(error) => error.help().map(|help| help.to_string()),
            ErrorKind::Editions(_) => Some(EDITIONS.to_owned()),
            ErrorKind::Limits(_) => Some(LIMITS.to_owned()),
            ErrorKind::UnknownNames(_) => {
                Some("correct the table, or allow unknown names with deny_unknown_methods(false)".to_owned())
            }
            ErrorKind::Option { help, .. } => Some((*help).to_owned()),
            ErrorKind::Io { .. } | ErrorKind::Generator(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(&*self.0))?;
        self.other_errors().iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Table { error, .. } => {
                if let Some(origin) = error.origin() {
                    write!(f, "{origin}: ")?;
                }
                f.write_str(error.message())
            }
            // protox keeps the place for `Debug`.
            ErrorKind::Protos(error) => write!(f, "{error:?}"),
            ErrorKind::Editions(place) => {
                write!(f, "{place}: the file uses editions, which prost 0.14 does not have")
            }
            ErrorKind::Limits(problems) => f.write_str(&problems.join("; ")),
            ErrorKind::UnknownNames(findings) => {
                f.write_str("the retry table has names that no proto has: ")?;
                for (index, finding) in findings.iter().enumerate() {
                    f.write_str(if index > 0 { "; " } else { "" })?;
                    write_finding(f, finding)?;
                }
                Ok(())
            }
            ErrorKind::Option { option, problem, .. } => write!(f, "{option}: {problem}"),
            ErrorKind::Io { action, path, error } => write!(f, "can't {action} {}: {error}", path.display()),
            ErrorKind::Generator(error) => write!(f, "prost can't generate code: {error}"),
        }
    }
}

/// A finding on one line, without its severity and rule.
fn write_finding(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    if let Some(origin) = finding.origin() {
        write!(f, "{origin}: ")?;
    }
    f.write_str(finding.message())?;
    finding.help().map_or(Ok(()), |help| write!(f, " ({help})"))
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(&*self.0))?;
        self.help_text().map_or(Ok(()), |help| write!(f, "\n  help: {}", Escaped(help)))?;
        self.other_errors().iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            ErrorKind::Table { error, .. } => error.source(),
            ErrorKind::Protos(error) => error.source(),
            ErrorKind::Io { error, .. } | ErrorKind::Generator(error) => Some(error),
            ErrorKind::Editions(_)
            | ErrorKind::Limits(_)
            | ErrorKind::UnknownNames(_)
            | ErrorKind::Option { .. } => None,
        }
    }
}

impl Diagnostic for Error {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let code: &str = match &*self.0 {
            ErrorKind::Table { .. } => "retry::table",
            ErrorKind::Protos(error) => return error.code(),
            ErrorKind::Editions(_) => "build::editions",
            ErrorKind::Limits(_) => "build::limits",
            ErrorKind::UnknownNames(_) => "retry::unknown-method",
            ErrorKind::Option { .. } => "build::option",
            ErrorKind::Io { .. } => "build::io",
            ErrorKind::Generator(_) => "build::generator",
        };
        Some(Box::new(code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.help_text()?))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match &*self.0 {
            ErrorKind::Table { source, .. } => source.as_ref().map(|source| source as &dyn SourceCode),
            ErrorKind::Protos(error) => error.source_code(),
            _ => None,
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match &*self.0 {
            ErrorKind::Table { error, source: Some(_) } => {
                let others = error.others().iter().map(|other| (other, other.message()));
                let labels = std::iter::once((error, "here")).chain(others);
                let label =
                    |(error, text): (&TableError, &str)| Some(LabeledSpan::at(error.origin()?.span(), text));
                Some(Box::new(labels.filter_map(label)))
            }
            ErrorKind::Protos(error) => error.labels(),
            _ => None,
        }
    }
}

impl From<protox::Error> for Error {
    fn from(error: protox::Error) -> Self {
        let text = format!("{error:?}");
        if let Some((place, _)) = text.split_once(": expected ").filter(|_| text.ends_with("found 'edition'"))
        {
            return Self::editions(place);
        }
        Self(Box::new(ErrorKind::Protos(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_table::RetryTable;

    #[test]
    fn a_table_error_shows_place_text_and_help_and_labels_the_text() {
        let text = "{\"methodConfig\": [\n  {\"timeout\": \"500ms\"}\n]}";
        let error = RetryTable::reader().file_name("retry.json").read(text.as_bytes()).unwrap_err();
        let error = Error::table(error, "retry.json", Some(text));
        assert!(error.to_string().starts_with("retry.json:2:15: \"500ms\" is not a duration"), "{error}");
        assert!(format!("{error:?}").contains("\n  help: write seconds followed by s"), "{error:?}");
        let label = error.labels().unwrap().next().unwrap();
        assert_eq!(&text[label.offset()..label.offset() + label.len()], "\"500ms\"");
    }

    #[test]
    fn a_proto_error_shows_its_place() {
        let error =
            protox::file::File::from_source("a.proto", "syntax = \"proto3\";\nmessage {").unwrap_err();
        let error = Error::from(error);
        assert!(error.is_protos());
        assert!(error.to_string().starts_with("a.proto:2:9: "), "{error}");
        assert!(error.labels().is_some());
    }
}
