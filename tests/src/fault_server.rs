//! An HTTP/1.1 server that follows a script, and hyper-util's clients of it.

use bytes::Bytes;
use gax_testing::{HttpPeer, HttpScript, Pipes};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::ops::Deref;
use std::time::Duration;

/// A server, for tests that fail where there is none.
#[derive(Debug, Clone)]
pub struct FaultServer(HttpPeer);

impl Deref for FaultServer {
    type Target = HttpPeer;

    fn deref(&self) -> &HttpPeer {
        &self.0
    }
}

impl FaultServer {
    /// A server behind pipes, and what connects to it.
    #[must_use]
    pub fn in_memory(script: HttpScript) -> (Self, Pipes) {
        let (peer, pipes) = HttpPeer::in_memory(script);
        (Self(peer), pipes)
    }

    /// A server behind a socket on the loopback device, and its URL.
    pub async fn on_socket(script: HttpScript) -> (Self, String) {
        let (peer, url) = HttpPeer::on_socket(script).await.unwrap();
        (Self(peer), url)
    }

    /// hyper-util's client over the connector.
    #[must_use]
    pub fn client<B>(connector: Pipes) -> Client<Pipes, B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        Client::builder(TokioExecutor::new()).build(connector)
    }

    /// hyper-util's client over the connector, for bodies in memory.
    #[must_use]
    pub fn full_client(connector: Pipes) -> Client<Pipes, Full<Bytes>> {
        Self::client(connector)
    }
}

/// An HTTP client that speaks HTTP/2 only, and asks every five seconds whether the server is there.
#[must_use]
pub fn http2_client<B>(connector: Pipes) -> Client<Pipes, B>
where
    B: http_body::Body + Send,
    B::Data: Send,
{
    let mut builder = Client::builder(TokioExecutor::new());
    builder.http2_only(true).timer(TokioTimer::new());
    builder.http2_keep_alive_interval(Duration::from_secs(5));
    builder.http2_keep_alive_timeout(Duration::from_secs(1)).build(connector)
}
