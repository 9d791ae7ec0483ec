//! A token endpoint that follows a script.

use super::replies::Replies;
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsError};
use gax_retry::Code;
use std::future::pending;
use std::time::Duration;

/// One reply of a [`TokenEndpoint`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenReply {
    /// That token, for that time; credentials treat less than a second as one second. `None`: it says nothing about its lifetime. Whether
    /// servers refuse it is up to their script.
    Token(String, Option<Duration>),
    /// An error of that code.
    Error(Code),
    /// No reply, ever.
    Hang,
}

/// A source of bearer tokens that gives one reply after the other, the last one forever, and counts. Clones share everything.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tonic_gax::Code;
/// use gax_testing::{TokenEndpoint, TokenReply};
///
/// let endpoint = TokenEndpoint::new([
///     TokenReply::Error(Code::Unavailable),
///     TokenReply::Token("a".to_owned(), Some(Duration::ZERO)),
/// ]);
/// let credentials = endpoint.credentials();
/// # drop(credentials);
/// assert_eq!(endpoint.asked(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct TokenEndpoint {
    replies: Replies<TokenReply>,
}

impl TokenEndpoint {
    /// An endpoint with these replies.
    #[must_use]
    pub fn new(replies: impl IntoIterator<Item = TokenReply>) -> Self {
        Self { replies: Replies::new(replies) }
    }

    /// Credentials that come from it.
    pub fn credentials(&self) -> Credentials {
        let replies = self.replies.clone();
        Credentials::new(move || {
            let reply = replies.next();
            async move {
                match reply {
                    Some(TokenReply::Token(token, lifetime)) => {
                        let headers = AuthHeaders::bearer(&token)?;
                        Ok(lifetime.into_iter().fold(headers, AuthHeaders::expires_in))
                    }
                    Some(TokenReply::Error(code)) => Err(CredentialsError::new(code, "token endpoint")),
                    Some(TokenReply::Hang) | None => pending().await,
                }
            }
        })
    }

    /// How often it was asked.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.replies.asked()
    }
}
