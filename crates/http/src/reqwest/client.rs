//! A reqwest client under the layer, used as reqwest's own.

use crate::failure::HttpError;
use crate::request::ReplayBody;
use crate::reqwest::body::replayable;
use crate::reqwest::builder::ReqwestRequestBuilder;
use crate::reqwest::service::ReqwestService;
use crate::service::HttpRetryService;
use ::reqwest::{Body, IntoUrl, Request, Response};
use http::Method;
use http::header::CONTENT_LENGTH;

/// With the feature `reqwest`.
impl HttpRetryService<ReqwestService> {
    /// Begins a request with that method.
    pub fn request(&self, method: Method, url: impl IntoUrl) -> ReqwestRequestBuilder {
        ReqwestRequestBuilder::new(self.clone(), method, url)
    }

    /// Begins a `GET`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_http::HttpRetryLayer;
    /// use gax_http::{Code, RetrySettings};
    /// use gax_http::ReqwestService;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// let client = ReqwestService::without_redirects(reqwest::Client::builder())?;
    /// let client = HttpRetryLayer::new(&settings, [Code::Unavailable]).layer(client);
    /// let thing = client.get("http://localhost:8080/v1/things/7").bearer_auth("token").send().await?;
    /// println!("{}", thing.error_for_status()?.text().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, url: impl IntoUrl) -> ReqwestRequestBuilder {
        self.request(Method::GET, url)
    }

    /// Begins a `HEAD`.
    pub fn head(&self, url: impl IntoUrl) -> ReqwestRequestBuilder {
        self.request(Method::HEAD, url)
    }

    /// Begins a `POST`.
    pub fn post(&self, url: impl IntoUrl) -> ReqwestRequestBuilder {
        self.request(Method::POST, url)
    }

    /// Begins a `PUT`.
    pub fn put(&self, url: impl IntoUrl) -> ReqwestRequestBuilder {
        self.request(Method::PUT, url)
    }

    /// Begins a `PATCH`.
    pub fn patch(&self, url: impl IntoUrl) -> ReqwestRequestBuilder {
        self.request(Method::PATCH, url)
    }

    /// Begins a `DELETE`.
    pub fn delete(&self, url: impl IntoUrl) -> ReqwestRequestBuilder {
        self.request(Method::DELETE, url)
    }

    /// Executes a request, and retries it, like [`reqwest::Client::execute`](::reqwest::Client::execute).
    ///
    /// A body in memory is sent again without a copy, a multipart form too if all its parts are in memory. Any other
    /// stream is sent once; use [`ReqwestRequestBuilder::replay_body`] for one that can be opened again. A timeout of
    /// the request or the client in reqwest limits each attempt.
    ///
    /// # Errors
    ///
    /// [`HttpError`], if there was no response, or if the request can't be made. A response is not an error,
    /// regardless of its status; [`Response::error_for_status`] converts it to one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the operation immediately: no attempt, wait or timer outlives it.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_http::{presets, HttpRetryLayer, OperationOptions, OperationReport, ReqwestService};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let reqwest = reqwest::Client::new();
    /// let request = reqwest.post("http://localhost:8080/v1/things").json(&["a", "b"]).build()?;
    /// let client = HttpRetryLayer::preset(&presets::docs()).options(OperationOptions::new().reports(true));
    /// let client = client.layer(ReqwestService::new(reqwest));
    /// let response = client.execute(request).await?;
    /// println!("{}", OperationReport::of(response.extensions()).ok_or("no report")?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(&self, request: Request) -> Result<Response, HttpError> {
        let name = format!("{} {}", request.method(), request.url().path());
        match http::Request::try_from(request) {
            Ok(request) => run(self, request.map(Sent::Reqwests)).await,
            Err(error) => Err(HttpError::unsendable(name, error.into())),
        }
    }
}

/// The body of a request.
pub(super) enum Sent {
    Reqwests(Body),
    Ours(ReplayBody),
}

/// Sends a request, as often as it takes.
pub(super) async fn run(
    service: &HttpRetryService<ReqwestService>,
    request: http::Request<Sent>,
) -> Result<Response, HttpError> {
    let is_announced = request.headers().contains_key(CONTENT_LENGTH);
    let most = service.max_replay_bytes();
    let request = request.map(|body| match body {
        Sent::Reqwests(body) => replayable(body, is_announced, most),
        Sent::Ours(body) => body,
    });
    let response = service.send(request).await?;
    Ok(Response::from(response.map(Body::wrap)))
}
