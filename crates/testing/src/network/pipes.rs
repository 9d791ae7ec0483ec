//! Connections over memory.

use gax_driver::__private::{Clock, Locked, Timer};
use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::Stream;
use tonic::transport::{Channel, Endpoint};
use tower_service::Service;

/// A channel, and the connections it makes: a tonic server serves them with `serve_with_incoming`.
///
/// # Examples
///
/// ```no_run
/// # fn routes() -> tonic::service::Routes { tonic::service::Routes::default() }
/// let (channel, incoming) = gax_testing::pipes();
/// tokio::spawn(tonic::transport::Server::builder().add_routes(routes()).serve_with_incoming(incoming));
/// # drop(channel);
/// ```
pub fn pipes() -> (Channel, impl Stream<Item = io::Result<DuplexStream>> + Send + Unpin + 'static) {
    let pipes = Pipes::new();
    (pipes.channel(), pipes.incoming())
}

/// Makes connections over memory: one end for the client, the other for the acceptor. A tower connector. Once it is dropped with all its
/// clones, no connection follows.
#[derive(Debug, Clone)]
pub struct Pipes {
    made: UnboundedSender<DuplexStream>,
    gate: Arc<Locked<Gate>>,
}

#[derive(Debug)]
struct Gate {
    /// Where connections come out, while nobody accepts them.
    incoming: Option<UnboundedReceiver<DuplexStream>>,
    /// Nobody accepts any longer.
    is_closed: bool,
    /// How many connections are refused.
    refusals: u32,
}

impl Default for Pipes {
    fn default() -> Self {
        Self::new()
    }
}

impl Pipes {
    /// Without a connection so far.
    #[must_use]
    pub fn new() -> Self {
        let (made, incoming) = unbounded_channel();
        let gate = Gate { incoming: Some(incoming), is_closed: false, refusals: 0 };
        Self { made, gate: Arc::new(Locked::new(gate)) }
    }

    /// The server's ends of the connections, as they are made. It ends once the connector is dropped with all its clones,
    /// those in channels included. Dropping it refuses all that follow, until there is another one.
    pub fn incoming(&self) -> impl Stream<Item = io::Result<DuplexStream>> + Send + Unpin + use<> {
        self.accepting()
    }

    pub(super) fn accepting(&self) -> Incoming {
        let made = self.gate.change(|gate| {
            gate.is_closed = false;
            gate.incoming.take()
        });
        Incoming { made, gate: Arc::clone(&self.gate) }
    }

    /// Refuses so many connections from now on.
    pub fn refuse(&self, connections: u32) {
        self.gate.lock().refusals = connections;
    }

    /// The client's end of a new connection.
    ///
    /// # Errors
    ///
    /// Nobody accepts any longer, or [`refuse`](Self::refuse) says so: the connection is refused.
    pub fn connect(&self) -> io::Result<TokioIo<Pipe<DuplexStream>>> {
        const PIPE: usize = 64 * 1024;
        let (near, far) = tokio::io::duplex(PIPE);
        let mut gate = self.gate.lock();
        let refuses = gate.refusals > 0;
        gate.refusals = gate.refusals.saturating_sub(1);
        if gate.is_closed || refuses || self.made.send(far).is_err() {
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
        }
        Ok(TokioIo::new(Pipe::new(near)))
    }

    /// A channel that connects so, when it is first used and whenever it has to.
    #[must_use]
    pub fn channel(&self) -> Channel {
        Endpoint::from_static("http://virtual.test").connect_with_connector_lazy(self.clone())
    }
}

impl Service<Uri> for Pipes {
    type Response = TokioIo<Pipe<DuplexStream>>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.connect())
    }
}

/// The server's ends of connections over memory.
#[derive(Debug)]
pub(crate) struct Incoming {
    made: Option<UnboundedReceiver<DuplexStream>>,
    gate: Arc<Locked<Gate>>,
}

impl Incoming {
    /// Refuses all connections, or no longer does.
    pub(super) fn refuse(&mut self, refuses: bool) {
        let mut gate = self.gate.lock();
        gate.is_closed = refuses;
        if let Some(made) = self.made.as_mut().filter(|_| refuses) {
            while made.try_recv().is_ok() {}
        }
    }
}

impl Stream for Incoming {
    type Item = io::Result<DuplexStream>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.made {
            Some(made) => made.poll_recv(cx).map(|made| made.map(Ok)),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.refuse(true);
        self.gate.lock().incoming = self.made.take();
    }
}

/// Even a wait of nothing would take a turn of the runtime.
pub(crate) async fn wait(time: Duration) {
    if time.is_zero() {
        return;
    }
    let (until, mut timer) = (Clock::start().at(time), Timer::default());
    poll_fn(|cx| timer.poll_at(until, cx)).await;
}

/// The client's end of a connection that is not a socket: it has nothing to say of itself.
#[derive(Debug)]
pub struct Pipe<S>(S);

impl<S> Pipe<S> {
    /// Around one end of it.
    #[must_use]
    pub fn new(io: S) -> Self {
        Self(io)
    }
}

impl<S> Connection for Pipe<S> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Pipe<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Pipe<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
