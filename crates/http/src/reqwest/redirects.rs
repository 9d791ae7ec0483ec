//! Redirects that the client below has followed, or may have.

use ::reqwest::Url;
use gax_wire::__private::BoxError;

/// In a response's extensions: the client below was redirected before this came.
///
/// How often is not known: reqwest reports where a response came from, and nothing of the way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redirected;

impl Redirected {
    /// Returns whether a response from there to a request to here was redirected.
    pub(crate) fn between(asked: &Url, from: &Url) -> Option<Self> {
        // A fragment goes to no server.
        let sent = |url: &Url| {
            let mut url = url.clone();
            url.set_fragment(None);
            url
        };
        (sent(asked) != sent(from)).then_some(Self)
    }
}

/// An error that speaks of the first hop of a request: there is no other, or it was not begun.
#[derive(Debug)]
pub(crate) struct FirstHop(::reqwest::Error);

impl FirstHop {
    pub(crate) fn of(error: ::reqwest::Error) -> Self {
        Self(error)
    }

    /// The error as the client gave it.
    pub(crate) fn unwrap(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(error) => Box::new(error.0),
            Err(error) => error,
        }
    }
}

gax_text::error_text! { self: FirstHop => Some(&self.0), "{}", self.0 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_url_is_a_redirect_and_another_fragment_is_none() {
        let redirected = |asked: &str, from: &str| {
            Redirected::between(&asked.parse().unwrap(), &from.parse().unwrap()).is_some()
        };
        assert!(!redirected("http://h/a?b", "http://h/a?b"));
        assert!(!redirected("http://h/a#b", "http://h/a"));
        assert!(redirected("http://h/a", "https://h/a"));
        assert!(redirected("http://h/a", "http://h/a?b"));
    }
}
