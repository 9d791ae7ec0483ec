//! Why there is no page.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tonic::Status;

/// Why the next page can't be read.
///
/// It reads as the call's own error does, and has the same source. With a generated client, where `E` is a
/// [`Status`], it converts into one, and `?` does so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageError<E, T = String> {
    /// The call failed, after all its retries.
    Call(E),
    /// The server gave a token that an earlier page was asked for with: there would be no end of pages. As a status it is
    /// `INTERNAL`.
    RepeatedToken {
        /// The token.
        token: T,
        /// How many pages were read.
        pages: u64,
    },
}

impl<E, T> PageError<E, T> {
    /// The call's error.
    #[must_use]
    pub fn call(&self) -> Option<&E> {
        match self {
            PageError::Call(error) => Some(error),
            PageError::RepeatedToken { .. } => None,
        }
    }
}

impl<E: fmt::Display, T: fmt::Debug> fmt::Display for PageError<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Call(error) => error.fmt(f),
            PageError::RepeatedToken { token, pages } => {
                let pages = if *pages == 1 { "1 page".to_owned() } else { format!("{pages} pages") };
                write!(f, "page token {token:?} came back after {pages}: the server's list has no end")
            }
        }
    }
}

impl<E: Error, T: fmt::Debug> Error for PageError<E, T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.call().and_then(Error::source)
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> From<PageError<Status, T>> for Status {
    fn from(error: PageError<Status, T>) -> Self {
        match error {
            PageError::Call(status) => status,
            repeated @ PageError::RepeatedToken { .. } => {
                let mut status = Status::internal(repeated.to_string());
                status.set_source(Arc::new(repeated));
                status
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_status() {
        let error = PageError::<_, String>::Call(Status::not_found("no list"));
        assert_eq!(error.to_string(), Status::not_found("no list").to_string());
        assert_eq!(Status::from(error).code(), tonic::Code::NotFound);
    }

    #[test]
    fn a_repeated_token_is_internal_and_named() {
        let repeated = |pages| PageError::<Status>::RepeatedToken { token: "a\n".to_owned(), pages };
        let text = r#"page token "a\n" came back after 2 pages: the server's list has no end"#;
        assert_eq!(repeated(2).to_string(), text);
        assert!(repeated(1).to_string().contains(" after 1 page: "));
        let status = Status::from(repeated(2));
        assert_eq!((status.code(), status.message()), (tonic::Code::Internal, text));
        let source = status.source().and_then(|source| source.downcast_ref::<PageError<Status>>());
        assert!(matches!(source, Some(PageError::RepeatedToken { pages: 2, .. })));
    }
}
