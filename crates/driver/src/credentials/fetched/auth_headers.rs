//! The headers that credentials are.

use crate::credentials::error::HeaderError;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::time::Duration;

/// The headers that say on whose behalf a request is made, and how long they are valid. Their values are secrets: nothing prints
/// them, and they are marked as sensitive for HTTP/2.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_driver::credentials::AuthHeaders;
///
/// let headers = AuthHeaders::bearer("ya29.secret")?
///     .header("x-goog-user-project", "billed-project")?
///     .expires_in(Duration::from_secs(3600));
/// assert_eq!(format!("{headers:?}"), "AuthHeaders([\"authorization\", \"x-goog-user-project\"])");
/// # Ok::<(), gax_driver::credentials::HeaderError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct AuthHeaders {
    headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) lifetime: Option<Duration>,
    pub(super) universe: Option<String>,
}

impl AuthHeaders {
    /// No headers.
    pub fn new() -> Self {
        Self::default()
    }

    /// `authorization: Bearer TOKEN`.
    ///
    /// # Errors
    ///
    /// The token has characters that no header may have.
    pub fn bearer(token: &str) -> Result<Self, HeaderError> {
        if token.is_empty() {
            return Err(HeaderError::new("the token"));
        }
        Self::new().with(AUTHORIZATION, &format!("Bearer {token}"), "the token")
    }

    /// Adds a header.
    ///
    /// # Errors
    ///
    /// The name or the value is none of a header.
    pub fn header(self, name: &str, value: &str) -> Result<Self, HeaderError> {
        let name = HeaderName::from_bytes(name.as_bytes());
        self.with(name.map_err(|_| HeaderError::new("the name of a header"))?, value, "the value of a header")
    }

    fn with(mut self, name: HeaderName, value: &str, what: &'static str) -> Result<Self, HeaderError> {
        let mut value = HeaderValue::from_str(value).map_err(|_| HeaderError::new(what))?;
        value.set_sensitive(true);
        self.headers.push((name, value));
        Ok(self)
    }

    gax_text::setters! { self:
        /// How long they are valid from now on; less than a second is treated as a second. Default: forever, unless a server refuses them.
        pub expires_in(lifetime: Duration) => self.lifetime = Some(lifetime);

        /// The universe domain in which they are valid. They are refused for a client of
        /// [another one](super::Credentials::universe_domain). Default: any.
        pub universe_domain(domain: &str) => self.universe = Some(domain.to_owned());
    }

    /// Adds them to a request, below what its caller has set. Returns whether the server authenticates the request by them: it does not
    /// if the caller has set `authorization`, or all of them.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) -> bool {
        let is_callers = headers.contains_key(AUTHORIZATION);
        let mut is_added = false;
        for (index, (name, value)) in self.headers.iter().enumerate() {
            let before = self.headers.iter().take(index);
            let is_first = before.into_iter().all(|(other, _)| other != name);
            if !is_first {
                continue;
            }
            if let http::header::Entry::Vacant(entry) = headers.entry(name) {
                is_added = true;
                let mut entry = entry.insert_entry(value.clone());
                for (_, value) in self.headers.iter().skip(index + 1).filter(|(other, _)| other == name) {
                    entry.append(value.clone());
                }
            }
        }
        is_added && !is_callers
    }
}

/// The names alone.
impl fmt::Debug for AuthHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_tuple("AuthHeaders").field(&names).finish()
    }
}
