//! Redirects that the client below has followed.

use ::reqwest::Url;

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
