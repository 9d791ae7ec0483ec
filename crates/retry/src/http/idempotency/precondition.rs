//! The precondition that makes a request safe to retry.

use std::borrow::Cow;
use std::fmt;

/// Something that a request can carry and that makes the operation succeed only once.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::Precondition;
///
/// assert_eq!(Precondition::query("ifGenerationMatch").to_string(), "ifGenerationMatch");
/// assert_eq!(Precondition::header("If-Match").to_string(), "If-Match header");
/// assert_eq!(Precondition::body_field("etag").to_string(), "etag in the body");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use]
pub enum Precondition {
    /// A parameter of the query, with a value; upper and lower case differ.
    Query(Cow<'static, str>),
    /// A header with a value other than `*`, which is true of anything that exists.
    Header(Cow<'static, str>),
    /// A field of a JSON body, names joined by dots, neither null nor an empty text.
    BodyField(Cow<'static, str>),
}

impl Precondition {
    /// A parameter of the query.
    pub fn query(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Query(name.into())
    }

    /// A header.
    pub fn header(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Header(name.into())
    }

    /// A field of the body, such as `etag` or `policy.etag`.
    pub fn body_field(path: impl Into<Cow<'static, str>>) -> Self {
        Self::BodyField(path.into())
    }

    /// The part of a request that carries it, in the words of tables: `query`, `header` or `body`.
    #[must_use]
    pub fn part(&self) -> &'static str {
        match self {
            Self::Query(_) => "query",
            Self::Header(_) => "header",
            Self::BodyField(_) => "body",
        }
    }

    /// Its name there.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Query(name) | Self::Header(name) | Self::BodyField(name) => name,
        }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Precondition::Query(name) => f.write_str(name),
            Precondition::Header(name) => write!(f, "{name} header"),
            Precondition::BodyField(path) => write!(f, "{path} in the body"),
        }
    }
}

/// `one or other`
pub(super) fn joined(preconditions: &[Precondition], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, precondition) in preconditions.iter().enumerate() {
        if index > 0 {
            f.write_str(" or ")?;
        }
        write!(f, "{precondition}")?;
    }
    Ok(())
}
