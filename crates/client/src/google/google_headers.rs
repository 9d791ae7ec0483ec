//! The choice of headers for Google's servers.

use gax_driver::credentials::HeaderError;
use http::HeaderValue;

/// The headers for Google's servers that a client or layer sends with every attempt.
///
/// | header | value | default |
/// | --- | --- | --- |
/// | `x-goog-request-params` | the fields that a request is routed by, from `google.api.routing` and `google.api.http` (AIP-4222) | sent |
/// | `x-goog-api-version` | `google.api.api_version` of the service | sent |
/// | `x-goog-api-client` | versions of the compiler and of the libraries, in gax's form | sent |
/// | `x-goog-user-project` | the [quota project](Self::quota_project) | not sent |
/// | `x-goog-api-key` | the [API key](Self::api_key) | not sent |
///
/// The caller's metadata takes precedence over all of these, with two exceptions: its `x-goog-api-client` is appended to the
/// client's, in one header, and its `x-goog-api-version` ends the call with `INVALID_ARGUMENT` if the service has a version,
/// because the client was made for that version.
///
/// # Examples
///
/// ```
/// use gax_client::google::GoogleHeaders;
///
/// let headers = GoogleHeaders::new().quota_project("billed-project")?.client_token("my-app", "1.4")?;
/// assert!(GoogleHeaders::new().api_key("two words").is_err());
/// # drop(headers);
/// # Ok::<(), gax_driver::credentials::HeaderError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct GoogleHeaders {
    pub(super) without_request_params: bool,
    /// `None`: it is sent to Google's services alone.
    pub(super) api_client: Option<bool>,
    pub(super) tokens: Vec<String>,
    pub(super) quota_project: Option<HeaderValue>,
    /// Sensitive, so that nothing prints it.
    pub(super) api_key: Option<HeaderValue>,
}

impl GoogleHeaders {
    /// Those of a client whose service is not known to be Google's: the name of the program is not sent, unless it was asked
    /// for.
    pub(crate) fn unless_asked(self) -> Self {
        Self { api_client: Some(self.api_client.unwrap_or_default()), ..self }
    }

    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    gax_text::setters! { self:
        /// Sets whether `x-goog-request-params` is sent. A server that routes by it refuses requests without it.
        pub request_params(is_sent: bool) => self.without_request_params = !is_sent;

        /// Sets whether `x-goog-api-client` is sent. By default it is, unless the client is generated from a service without
        /// `google.api.default_host`.
        pub api_client(is_sent: bool) => self.api_client = Some(is_sent);
    }

    /// Appends the name and the version of a program or library to `x-goog-api-client`.
    ///
    /// # Errors
    ///
    /// The name or the version is empty, or is not visible ASCII without spaces and slashes.
    pub fn client_token(mut self, name: &str, version: &str) -> Result<Self, HeaderError> {
        let is_token =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
        if !is_token(name) || !is_token(version) {
            return Err(HeaderError::new("the client token"));
        }
        self.tokens.push(format!("{name}/{version}"));
        Ok(self)
    }

    /// The project that pays for the calls and whose quota they use: `x-goog-user-project`. It takes precedence over
    /// that of the credentials.
    ///
    /// # Errors
    ///
    /// The name is empty, or is not visible ASCII.
    pub fn quota_project(self, project: &str) -> Result<Self, HeaderError> {
        let value = value(project).ok_or(HeaderError::new("the quota project"))?;
        Ok(Self { quota_project: Some(value), ..self })
    }

    /// The API key that identifies the calling project: `x-goog-api-key`. It is never printed.
    ///
    /// # Errors
    ///
    /// The key is empty, or is not visible ASCII.
    pub fn api_key(self, key: &str) -> Result<Self, HeaderError> {
        let mut value = value(key).ok_or(HeaderError::new("the API key"))?;
        value.set_sensitive(true);
        Ok(Self { api_key: Some(value), ..self })
    }
}

fn value(text: &str) -> Option<HeaderValue> {
    let is_visible = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    HeaderValue::from_str(text).ok().filter(|_| is_visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_no_header_has_are_refused_without_being_shown() {
        for wrong in ["", " ", "a b", "a\n", "é", "\u{7f}"] {
            let headers = GoogleHeaders::new;
            for error in [
                headers().api_key(wrong).unwrap_err(),
                headers().quota_project(wrong).unwrap_err(),
                headers().client_token(wrong, "1").unwrap_err(),
                headers().client_token("a", wrong).unwrap_err(),
            ] {
                assert!(error.to_string().contains("is empty or has characters"), "{wrong:?}: {error}");
            }
        }
        assert!(GoogleHeaders::new().client_token("a/b", "1").is_err());
    }

    #[test]
    fn an_api_key_is_never_printed() {
        let headers = GoogleHeaders::new().api_key("AIzaSecret").unwrap();
        assert!(!format!("{headers:?}").contains("Secret"), "{headers:?}");
    }
}
