//! A reqwest client as a tower service.

use crate::request::{Replay, ReplayBody};
use crate::reqwest::redirects::{FirstHop, Redirected};
use ::reqwest::redirect::Policy;
use ::reqwest::{Body, Client, ClientBuilder, Request, ResponseBuilderExt as _, Url};
use bytes::Bytes;
use gax_driver::__private::Locked;
use gax_wire::__private::BoxError;
use http::Method;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::Full;
use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tower_service::Service;

/// A [`reqwest::Client`](Client) as a service of [`http::Request`]s, for [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// With the layer around it, requests are made as with reqwest itself:
/// [`get`](crate::HttpRetryService::get), [`post`](crate::HttpRetryService::post) and so on, or
/// [`execute`](crate::HttpRetryService::execute) of a [`reqwest::Request`](Request).
///
/// # Redirects
///
/// Prefer [`without_redirects`](Self::without_redirects). A client that follows redirects makes several requests of one attempt:
/// the report shows one row for all of them and the note [`FOLLOWED_REDIRECTS`](crate::note::FOLLOWED_REDIRECTS), since reqwest
/// doesn't report how many there were; a loop of redirects is eleven requests, and an error doesn't name the failed one. With
/// [`new`](Self::new), which takes any client:
///
/// * A request is treated as not carried out, which makes any method safe to send again, only if not even its first
///   hop was begun. Of a request other than `GET` and `HEAD` that has a body in memory this can't be known.
/// * A body in memory is passed to reqwest in one piece, so that a 307 or 308 can be followed. A client that uses
///   HTTP/1 continues to send it after the attempt has ended.
///
/// # Examples
///
/// ```
/// use gax_http::HttpRetryLayer;
/// use gax_http::{presets, ReqwestService};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ReqwestService::without_redirects(reqwest::Client::builder())?;
/// let client = HttpRetryLayer::preset(&presets::storage()).layer(client);
/// let buckets = client.get("http://localhost:9000/storage/v1/b").query(&[("project", "photos")]).send().await?;
/// println!("{}", buckets.text().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReqwestService {
    client: Client,
    follows_redirects: bool,
}

impl ReqwestService {
    /// A service over a client that may follow redirects.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, follows_redirects: true }
    }

    /// A service over a client that follows no redirect: a 3xx is the response, as any other status is.
    ///
    /// # Errors
    ///
    /// The builder's own; see [`ClientBuilder::build`].
    pub fn without_redirects(builder: ClientBuilder) -> Result<Self, ::reqwest::Error> {
        Ok(Self { client: builder.redirect(Policy::none()).build()?, follows_redirects: false })
    }

    /// A service over a client that follows no redirect and decompresses nothing, for transfers: they follow redirects
    /// themselves, and count and verify the bytes that the server sends. For other requests, which may be compressed,
    /// use [`without_redirects`](Self::without_redirects).
    ///
    /// # Errors
    ///
    /// The builder's own; see [`ClientBuilder::build`].
    pub fn for_transfers(builder: ClientBuilder) -> Result<Self, ::reqwest::Error> {
        Self::without_redirects(builder.no_gzip().no_brotli().no_zstd().no_deflate())
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The body as reqwest is to have it, and whether its request has begun, where that is to be known.
    fn body<B>(&self, method: &Method, body: B) -> (Body, Option<Arc<AtomicBool>>)
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        if !self.follows_redirects {
            return (Body::wrap(Shared { body: Locked::new(body), begins: None }), None);
        }
        if let Some(bytes) = in_memory(&body).filter(|bytes| !bytes.is_empty()) {
            return (Body::from(bytes), None);
        }
        // A request that is always safe to retry needs no proof that it was not sent.
        let is_safe = [Method::GET, Method::HEAD].contains(method);
        let begun = (!is_safe).then(|| Arc::new(AtomicBool::new(false)));
        (Body::wrap(Shared { body: Locked::new(body), begins: begun.clone() }), begun)
    }
}

/// The bytes of a body that has them all.
fn in_memory<B: 'static>(body: &B) -> Option<Bytes> {
    let body: &dyn Any = body;
    if let Some(body) = body.downcast_ref::<ReplayBody>() {
        return body.bytes();
    }
    body.downcast_ref::<Full<Bytes>>().and_then(Replay::bytes)
}

impl<B> Service<http::Request<B>> for ReqwestService
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    type Response = http::Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let (body, begun) = self.body(&parts.method, body);
        let Self { client, follows_redirects } = self.clone();
        Box::pin(async move {
            let request = Request::try_from(http::Request::from_parts(parts, body))?;
            let asked = follows_redirects.then(|| request.url().clone());
            match client.execute(request).await {
                Ok(response) => Ok(with_url(response, asked)),
                Err(error) => {
                    let is_begun = begun.is_none_or(|begun| begun.load(Ordering::Relaxed));
                    Err(if follows_redirects && is_begun { error.into() } else { FirstHop::of(error).into() })
                }
            }
        })
    }
}

/// The response, with the URL that it came from in its extensions, where reqwest finds it again, and whether that is
/// another one than was `asked` for.
fn with_url(response: ::reqwest::Response, asked: Option<Url>) -> http::Response<Body> {
    let redirected = asked.and_then(|asked| Redirected::between(&asked, response.url()));
    let source = http::Response::builder().url(response.url().clone()).body(());
    let mut response = http::Response::from(response);
    if let Ok(source) = source {
        response.extensions_mut().extend(source.into_parts().0.extensions);
    }
    if let Some(redirected) = redirected {
        response.extensions_mut().insert(redirected);
    }
    response
}

/// A body that may be shared between threads, because it is only reached by a unique reference.
struct Shared<B> {
    body: Locked<B>,
    /// Notified when a connection takes the request. That looks first whether there is a body.
    begins: Option<Arc<AtomicBool>>,
}

impl<B> Shared<B> {
    fn begin(&self) {
        if let Some(begins) = &self.begins {
            begins.store(true, Ordering::Relaxed);
        }
    }
}

impl<B: HttpBody + Unpin> HttpBody for Shared<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.begin();
        Pin::new(self.body.get_mut()).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.begin();
        self.body.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.lock().size_hint()
    }
}
