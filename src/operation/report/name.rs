//! What an operation is called in its report.

use gax_text::Escaped;
use http::uri::PathAndQuery;
use std::borrow::Cow;
use std::fmt;

/// The path of a method, or the name that its caller gave it. Prints with control characters escaped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Name {
    Path(PathAndQuery),
    Text(Cow<'static, str>),
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Name::Path(path) => path.as_str(),
            Name::Text(text) => text,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(self.as_str()))
    }
}

impl From<PathAndQuery> for Name {
    fn from(path: PathAndQuery) -> Self {
        Name::Path(path)
    }
}

impl From<Cow<'static, str>> for Name {
    fn from(text: Cow<'static, str>) -> Self {
        Name::Text(text)
    }
}
