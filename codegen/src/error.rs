//! Why code can't be generated.

use gax_table::{Finding, TableError};
use gax_text::Escaped;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::error::Error as StdError;
use std::path::Path;
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
    Table { error: TableError, source: Option<NamedSource<String>> },
    Protos(protox::Error),
    Own(OwnError),
}

/// What is wrong with neither one table nor the syntax of protos.
#[derive(Default)]
struct OwnError {
    code: &'static str,
    message: String,
    help: Option<&'static str>,
    /// Names in the table that no proto has.
    unknown: Vec<Finding>,
    source: Option<io::Error>,
}

const UNKNOWN_NAMES: &str = "retry::unknown-method";
const OF_PROTOS: [&str; 2] = ["build::editions", "build::limits"];

impl Error {
    /// A table that has no meaning; `text` is the table's.
    pub(crate) fn table(error: TableError, name: &str, text: Option<&str>) -> Self {
        let source = text.map(|text| NamedSource::new(name, text.to_owned()));
        Self(Box::new(ErrorKind::Table { error, source }))
    }

    fn own(error: OwnError) -> Self {
        Self(Box::new(ErrorKind::Own(error)))
    }

    pub(crate) fn unknown_names(findings: Vec<Finding>) -> Self {
        let names: Vec<String> = findings.iter().map(described).collect();
        let message = format!("the retry table has names that no proto has: {}", names.join("; "));
        let help = Some("correct the table, or allow unknown names with deny_unknown_methods(false)");
        Self::own(OwnError { code: UNKNOWN_NAMES, message, help, unknown: findings, source: None })
    }

    /// An option of the builder that can't be used, such as `extern_path(".a", "1")`.
    pub(crate) fn option(option: &str, problem: impl fmt::Display, help: &'static str) -> Self {
        let message = format!("{option}: {problem}");
        Self::own(OwnError { code: "build::option", message, help: Some(help), ..OwnError::default() })
    }

    pub(crate) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        let message = format!("can't {action} {}: {error}", path.display());
        Self::own(OwnError { code: "build::io", message, source: Some(error), ..OwnError::default() })
    }

    pub(crate) fn generator(error: io::Error) -> Self {
        let message = format!("prost can't generate code: {error}");
        Self::own(OwnError { code: "build::generator", message, source: Some(error), ..OwnError::default() })
    }

    /// A file that says `edition` where others say `syntax`; its place, or the file alone.
    pub(crate) fn editions(place: &str) -> Self {
        let message = format!("{place}: the file uses editions, which prost 0.14 does not have");
        let [code, _] = OF_PROTOS;
        Self::own(OwnError { code, message, help: Some(EDITIONS), ..OwnError::default() })
    }

    /// Protos that Rust code can't be generated for; each problem begins with its place.
    pub(crate) fn limits(problems: &[String]) -> Self {
        let [_, code] = OF_PROTOS;
        let message = problems.join("; ");
        Self::own(OwnError { code, message, help: Some(LIMITS), ..OwnError::default() })
    }

    /// Returns whether a retry table is at fault.
    #[must_use]
    pub fn is_table(&self) -> bool {
        match &*self.0 {
            ErrorKind::Table { .. } => true,
            ErrorKind::Protos(_) => false,
            ErrorKind::Own(own) => own.code == UNKNOWN_NAMES,
        }
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
        match &*self.0 {
            ErrorKind::Table { .. } => false,
            ErrorKind::Protos(_) => true,
            ErrorKind::Own(own) => OF_PROTOS.contains(&own.code),
        }
    }

    /// The names in retry tables that no proto has, where
    /// [`deny_unknown_methods`](crate::Builder::deny_unknown_methods) makes them an error.
    pub fn unknown_methods(&self) -> &[Finding] {
        match &*self.0 {
            ErrorKind::Own(own) => &own.unknown,
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
            ErrorKind::Own(own) => own.help.map(str::to_owned),
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
            ErrorKind::Own(own) => f.write_str(&own.message),
        }
    }
}

/// A finding in one line.
fn described(finding: &Finding) -> String {
    let origin = finding.origin().map(|origin| format!("{origin}: ")).unwrap_or_default();
    let help = finding.help().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{origin}{}{help}", finding.message())
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
            ErrorKind::Own(own) => own.source.as_ref().map(|error| error as _),
        }
    }
}

impl Diagnostic for Error {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let code: &str = match &*self.0 {
            ErrorKind::Table { .. } => "retry::table",
            ErrorKind::Protos(error) => return error.code(),
            ErrorKind::Own(own) => own.code,
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
            ErrorKind::Own(_) => None,
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
