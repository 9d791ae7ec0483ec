//! A server in memory that follows a script.

use super::connection::serve;
use super::network::{Acceptor, wait};
use super::{Arrival, Log, Pipes, Script, Scripted};
use http::HeaderValue;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::{AbortHandle, JoinSet};
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
    pub fn serving(service: impl GrpcHandler, script: Script) -> Self {
        Self::run(service, script, None)
    }

    /// A server of whose connections none has more than so many streams at a time: further requests wait in the client for their
    /// turn.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn with_stream_limit(streams: u32, service: impl GrpcHandler, script: Script) -> Self {
        Self::run(service, script, Some(streams))
    }

    fn run(service: impl GrpcHandler, script: Script, streams: Option<u32>) -> Self {
        let (pipes, log) = (Pipes::new(), Log::default());
        let scripted = Scripted::new(service, script, log.clone());
        tokio::spawn(accept(Acceptor::of(&pipes), scripted, streams, usize::MAX));
        Self { channel: pipes.channel(), pipes, log }
    }

    gax_text::getters! { self:
        /// A channel to it; clones share the connection.
        pub channel: Channel = self.channel.clone();

        /// Makes connections to it, for clients of another kind: a tower service, as hyper-util's clients take one. They have to
        /// speak HTTP/2 from the start.
        pub connector: Pipes = self.pipes.clone();

        /// The log of the requests that reached it.
        pub log: &Log = &self.log;

        /// The requests that reached it.
        pub arrivals: Vec<Arrival> = self.log.arrivals();

        /// When each request came, and its `grpc-timeout`, in milliseconds.
        pub seen: Vec<(u64, Option<u64>)> = self.log.seen();
    }
}

/// A gRPC server at a socket, whose service may follow a [`Script`]: an outage for a client in any language. It carries out what
/// [`VirtualServer`] does. Dropping it closes its connections.
///
/// # Examples
///
/// ```
/// use gax_testing::{Log, Reply, Script, Scripted, SocketServer};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// // Two attempts of each call are refused; the next gets an empty message.
/// let script = Script::of([Reply::unavailable(), Reply::unavailable()]).each_call();
/// let log = Log::default();
/// let server = SocketServer::start("127.0.0.1:0".parse().unwrap(), Scripted::empty(script, log.clone()))?;
/// assert_ne!(server.address().port(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SocketServer {
    address: SocketAddr,
    accepting: AbortHandle,
}

impl SocketServer {
    /// The most connections at a time; further ones are closed.
    const MAX_CONNECTIONS: usize = 1000;
    /// The most streams at a time on each of them.
    const MAX_STREAMS: u32 = 1000;

    /// Listens at that address, whose port is a free one if it is 0.
    ///
    /// # Errors
    ///
    /// The address can't be had.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(address: SocketAddr, service: impl GrpcHandler) -> io::Result<Self> {
        let (acceptor, address) = Acceptor::listen(address)?;
        let accepting = accept(acceptor, service, Some(Self::MAX_STREAMS), Self::MAX_CONNECTIONS);
        Ok(Self { address, accepting: tokio::spawn(accepting).abort_handle() })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Serves connections until nobody connects any longer and the last one has ended.
async fn accept(mut acceptor: Acceptor, service: impl GrpcHandler, streams: Option<u32>, most: usize) {
    let (sender, mut refusals) = unbounded_channel();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(time) = refusals.recv() => {
                acceptor.refuse();
                connections.shutdown().await;
                wait(time).await;
            }
            accepted = acceptor.accept() => match accepted {
                Ok(Some(io)) if connections.len() < most => {
                    connections.spawn(serve(io, service.clone(), streams, sender.clone()));
                }
                Ok(Some(_)) => {}
                Ok(None) => return while connections.join_next().await.is_some() {},
                // The machine has no sockets left for now.
                Err(_) => wait(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// A gRPC service that can be served: a generated server, tonic's `Routes`, or any other of that form.
pub trait GrpcHandler:
    Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + 'static
{
}

impl<S> GrpcHandler for S where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static
{
}

/// Replies to everything with an empty message.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Empty;

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
