//! An HTTP server in memory that follows a script and keeps what it was sent.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// A request as the server got it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RestRequest {
    /// The verb.
    pub method: Method,
    /// Where it went.
    pub uri: Uri,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl RestRequest {
    /// The verb, the path with the query, and the body, with spaces between them.
    #[must_use]
    pub fn line(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {} {body}", self.method, self.uri.path_and_query().unwrap()).trim_end().to_owned()
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// A reply.
#[derive(Debug, Clone)]
pub struct RestReply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Bytes>,
    delay: Duration,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    /// The body breaks.
    Broken,
    /// The body goes on, and nothing more comes.
    Stalled,
    /// There is no response, but an error.
    Failed(io::ErrorKind),
}

impl RestReply {
    /// A reply with that body.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, pieces: vec![body.into()], delay: Duration::ZERO, end: End::Whole }
    }

    /// A success.
    #[must_use]
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::new(200, body)
    }

    /// No response.
    #[must_use]
    pub fn failure(kind: io::ErrorKind) -> Self {
        Self { end: End::Failed(kind), ..Self::ok("") }
    }

    /// The reply with another header, or with another type of its body.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != "content-type" || *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// The reply after a while.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The body in pieces of that length.
    #[must_use]
    pub fn cut(self, length: usize) -> Self {
        let body = self.pieces.concat();
        Self { pieces: body.chunks(length).map(Bytes::copy_from_slice).collect(), ..self }
    }

    /// A body after which nothing more comes, and no end either.
    #[must_use]
    pub fn stalled(self) -> Self {
        Self { end: End::Stalled, ..self }
    }

    /// A body that breaks where it should end.
    #[must_use]
    pub fn broken(self) -> Self {
        Self { end: End::Broken, ..self }
    }
}

impl End {
    /// The end of a body whose pieces have been sent.
    fn poll(&mut self) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self {
            Self::Whole | Self::Failed(_) => Poll::Ready(None),
            Self::Stalled => Poll::Pending,
            Self::Broken => {
                *self = Self::Whole;
                Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
            }
        }
    }
}

type Respond = dyn Fn(&RestRequest) -> RestReply + Send + Sync;

/// An HTTP server in memory, and the client of it: a service of requests.
#[derive(Clone)]
pub struct RestServer {
    replies: Arc<Mutex<VecDeque<RestReply>>>,
    respond: Arc<Respond>,
    requests: Arc<Mutex<Vec<RestRequest>>>,
}

impl std::fmt::Debug for RestServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RestServer").finish_non_exhaustive()
    }
}

impl RestServer {
    /// A server with these replies, and `{}` after them.
    #[must_use]
    pub fn new(replies: impl IntoIterator<Item = RestReply>) -> Self {
        let server = Self::by(|_| RestReply::ok("{}"));
        server.replies.lock().unwrap().extend(replies);
        server
    }

    /// A server that replies to each request by itself.
    #[must_use]
    pub fn by(respond: impl Fn(&RestRequest) -> RestReply + Send + Sync + 'static) -> Self {
        Self { replies: Arc::default(), respond: Arc::new(respond), requests: Arc::default() }
    }

    /// The requests that have come.
    #[must_use]
    pub fn requests(&self) -> Vec<RestRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The requests that have come, as [`RestRequest::line`] has them.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.requests().iter().map(RestRequest::line).collect()
    }
}

impl<B> Service<Request<B>> for RestServer
where
    B: Body<Data = Bytes, Error: std::fmt::Debug> + Send + 'static,
{
    type Response = Response<RestReplyBody>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let request = RestRequest { method: parts.method, uri: parts.uri, headers: parts.headers, body };
            server.requests.lock().unwrap().push(request.clone());
            let reply = server.replies.lock().unwrap().pop_front();
            let reply = reply.unwrap_or_else(|| (server.respond)(&request));
            if !reply.delay.is_zero() {
                tokio::time::sleep(reply.delay).await;
            }
            if let End::Failed(kind) = reply.end {
                return Err(kind.into());
            }
            let body = RestReplyBody { pieces: reply.pieces.into(), end: reply.end };
            let mut response = Response::new(body);
            *response.status_mut() = StatusCode::from_u16(reply.status).unwrap();
            for (name, value) in reply.headers {
                response.headers_mut().append(name, value.parse().unwrap());
            }
            Ok(response)
        })
    }
}

/// The body of a reply.
#[derive(Debug)]
pub struct RestReplyBody {
    pieces: VecDeque<Bytes>,
    end: End,
}

impl Body for RestReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.pieces.pop_front() {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None => self.end.poll(),
        }
    }
}
