//! A request that is made as with reqwest.

use crate::failure::HttpError;
use crate::request::ReplayBody;
use crate::reqwest::client::{Sent, run};
use crate::reqwest::service::ReqwestService;
use crate::service::HttpRetryService;
#[cfg(feature = "multipart")]
use ::reqwest::multipart::Form;
use ::reqwest::{Body, IntoUrl, RequestBuilder, Response};
use gax_driver::CallOptions;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Version};
#[cfg(any(feature = "json", feature = "form", feature = "query"))]
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// A request through the layer, made as with [`reqwest::RequestBuilder`](RequestBuilder): the same methods, and those
/// that say how it is retried. [`HttpRetryService::post`] and similar methods start one.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_http::HttpRetryLayer;
/// use gax_http::{presets, IdempotencyStrategy, ReqwestService};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ReqwestService::without_redirects(reqwest::Client::builder())?;
/// let client = HttpRetryLayer::preset(&presets::docs()).layer(client);
/// let response = client
///     .post("http://localhost:8080/v1/things")
///     .bearer_auth("token")
///     .json(&["a", "b"])
///     .timeout(Duration::from_secs(20))
///     .extension(IdempotencyStrategy::Always)
///     .send()
///     .await?;
/// let things: Vec<String> = response.error_for_status()?.json().await?;
/// # drop(things);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a request does nothing until it is sent"]
pub struct ReqwestRequestBuilder {
    service: HttpRetryService<ReqwestService>,
    method: Method,
    request: RequestBuilder,
    body: Option<ReplayBody>,
    options: CallOptions,
    extensions: Extensions,
}

impl ReqwestRequestBuilder {
    pub(super) fn new(service: HttpRetryService<ReqwestService>, method: Method, url: impl IntoUrl) -> Self {
        let request = service.inner().client().request(method.clone(), url);
        let (options, extensions) = (CallOptions::new(), Extensions::new());
        Self { service, method, request, body: None, options, extensions }
    }

    /// Changes the request by reqwest's own builder, for what this one has no method for.
    pub fn configure(self, change: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Self {
        Self { request: change(self.request), ..self }
    }

    /// Adds a header.
    pub fn header<K, V>(self, name: K, value: V) -> Self
    where
        HeaderName: TryFrom<K>,
        <HeaderName as TryFrom<K>>::Error: Into<http::Error>,
        HeaderValue: TryFrom<V>,
        <HeaderValue as TryFrom<V>>::Error: Into<http::Error>,
    {
        self.configure(|request| request.header(name, value))
    }

    /// Adds headers; those of the same name are replaced.
    pub fn headers(self, headers: HeaderMap) -> Self {
        self.configure(|request| request.headers(headers))
    }

    /// Basic authentication.
    pub fn basic_auth(self, username: impl fmt::Display, password: Option<impl fmt::Display>) -> Self {
        self.configure(|request| request.basic_auth(username, password))
    }

    /// Authentication by a token.
    pub fn bearer_auth(self, token: impl fmt::Display) -> Self {
        self.configure(|request| request.bearer_auth(token))
    }

    /// The HTTP version.
    pub fn version(self, version: Version) -> Self {
        self.configure(|request| request.version(version))
    }

    /// Adds parameters to the query.
    #[cfg(feature = "query")]
    pub fn query(self, query: &(impl Serialize + ?Sized)) -> Self {
        self.configure(|request| request.query(query))
    }

    /// The body. Bytes are sent again without a copy; a stream is sent once.
    pub fn body(self, body: impl Into<Body>) -> Self {
        Self { body: None, ..self }.configure(|request| request.body(body))
    }

    /// A body that is opened again for each attempt, or one that is sent once.
    pub fn replay_body(self, body: impl Into<ReplayBody>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    /// The body as JSON, with its content type.
    #[cfg(feature = "json")]
    pub fn json(self, json: &(impl Serialize + ?Sized)) -> Self {
        Self { body: None, ..self }.configure(|request| request.json(json))
    }

    /// The body as a form, with its content type.
    #[cfg(feature = "form")]
    pub fn form(self, form: &(impl Serialize + ?Sized)) -> Self {
        Self { body: None, ..self }.configure(|request| request.form(form))
    }

    /// The body as a multipart form, with its content type. It is sent again if all its parts are in memory.
    #[cfg(feature = "multipart")]
    pub fn multipart(self, form: Form) -> Self {
        Self { body: None, ..self }.configure(|request| request.multipart(form))
    }

    gax_text::setters! { self:
        /// The options of this call; those set before are replaced.
        pub call_options(options: CallOptions) => self.options = options;

        /// Bounds the whole operation, attempts and waits: [`CallOptions::timeout`]. (reqwest's own timeout of a request
        /// would bound each attempt.)
        pub timeout(timeout: Duration) => self.options = self.options.timeout(timeout);

        /// Bounds each attempt: [`CallOptions::attempt_timeout`].
        pub attempt_timeout(timeout: Duration) => self.options = self.options.attempt_timeout(timeout);
    }

    /// Puts something into the request's extensions: [`HttpCallOptions`](crate::HttpCallOptions), an
    /// [`IdempotencyStrategy`](crate::IdempotencyStrategy) or a [`Preset`](crate::Preset) for this request.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Sends the request, and retries it.
    ///
    /// # Errors
    ///
    /// [`HttpError`], if no response came, or the request can't be made. A response is not an error, regardless of
    /// its status.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the operation immediately: no attempt, wait or timer outlives it.
    pub async fn send(self) -> Result<Response, HttpError> {
        let built = self.request.build().and_then(http::Request::<Body>::try_from);
        let mut request = match built {
            Ok(request) => request.map(|body| self.body.map_or(Sent::Reqwests(body), Sent::Ours)),
            Err(error) => return Err(HttpError::unsendable(self.method.to_string(), error.into())),
        };
        request.extensions_mut().extend(self.extensions);
        if self.options != CallOptions::default() {
            request.extensions_mut().insert(self.options);
        }
        run(&self.service, request).await
    }
}
