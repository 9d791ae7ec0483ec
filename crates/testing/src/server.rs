//! A server in memory that follows a script.

use super::connection::serve;
use super::{Arrival, Log, Pipes, Script, Scripted};
use http::HeaderValue;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tokio_stream::StreamExt as _;
use tonic::body::Body;
use tonic::transport::Channel;
use tower_service::Service;

/// A gRPC server in memory that follows a script, with a channel to it and a log of what it saw.
///
/// It speaks HTTP/2 over pipes, so that what a client does on the wire is what it does over a network: resets, `GOAWAY` and
/// broken connections included.
///
/// # Examples
///
/// ```
/// use gax_testing::{Reply, Script, VirtualServer};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let server = VirtualServer::start(Script::always(Reply::unavailable()));
/// let channel = server.channel();
/// # drop(channel);
/// assert!(server.arrivals().is_empty());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct VirtualServer {
    pipes: Pipes,
    channel: Channel,
    log: Log,
}

impl VirtualServer {
    /// A server without handlers: where the script has no reply, there is an empty message, and OK.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self::serving(Empty, script)
    }

    /// A server around a real service, such as a generated server or tonic's `Routes`, which replies where the script lets
    /// it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn serving<S>(service: S, script: Script) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
    {
        Self::run(service, script, None)
    }

    /// A server of whose connections none has more than so many streams at a time: further requests wait in the client for their
    /// turn.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn with_stream_limit<S>(streams: u32, service: S, script: Script) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
    {
        Self::run(service, script, Some(streams))
    }

    fn run<S>(service: S, script: Script, streams: Option<u32>) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
    {
        let (pipes, log) = (Pipes::new(), Log::default());
        let scripted = Scripted::new(service, script, log.clone());
        let mut incoming = pipes.incoming();
        tokio::spawn(async move {
            while let Some(Ok(io)) = incoming.next().await {
                tokio::spawn(serve(io, scripted.clone(), streams));
            }
        });
        Self { channel: pipes.channel(), pipes, log }
    }

    /// A channel to it; clones share the connection.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Makes connections to it, for clients of another kind: a tower service, as hyper-util's clients take one. They have to
    /// speak HTTP/2 from the start.
    #[must_use]
    pub fn connector(&self) -> Pipes {
        self.pipes.clone()
    }

    /// The log of the requests that reached it.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The requests that reached it.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.log.arrivals()
    }

    /// When each request came, and its `grpc-timeout`, in milliseconds.
    #[must_use]
    pub fn seen(&self) -> Vec<(u64, Option<u64>)> {
        self.log.seen()
    }
}

/// Replies to everything with an empty message.
#[derive(Debug, Clone, Copy)]
struct Empty;

impl Service<http::Request<Body>> for Empty {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        let body = super::reply::message_and_status(bytes::Bytes::from_static(&[0; 5]));
        let mut response = http::Response::new(body);
        response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
        ready(Ok(response))
    }
}
