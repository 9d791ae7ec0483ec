//! Connections over memory.

use super::pipe::Pipe;
use gax_driver::__private::{Clock, Locked, Timer};
use http::Uri;
use hyper_util::rt::TokioIo;
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::DuplexStream;
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

/// Makes connections over memory: one end for the client, the other for the acceptor. A tower connector.
#[derive(Debug, Clone)]
pub struct Pipes {
    maker: Arc<Maker>,
}

/// All clones of a connector. Once it is dropped, no connection follows.
#[derive(Debug, Default)]
struct Maker {
    queue: Arc<Locked<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    made: std::collections::VecDeque<DuplexStream>,
    acceptor: Option<Waker>,
    /// Nobody accepts any longer.
    is_closed: bool,
    /// Nobody connects any longer.
    is_over: bool,
    /// How many connections are refused.
    refusals: u32,
}

impl Drop for Maker {
    fn drop(&mut self) {
        let acceptor = {
            let mut queue = self.queue.lock();
            queue.is_over = true;
            queue.acceptor.take()
        };
        if let Some(acceptor) = acceptor {
            acceptor.wake();
        }
    }
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
        Self { maker: Arc::default() }
    }

    /// The server's ends of the connections, as they are made. It ends once the connector is dropped with all its clones,
    /// those in channels included. Dropping it refuses all that follow, until there is another one.
    pub fn incoming(&self) -> impl Stream<Item = io::Result<DuplexStream>> + Send + Unpin + use<> {
        self.accepting()
    }

    pub(super) fn accepting(&self) -> Incoming {
        self.maker.queue.lock().is_closed = false;
        Incoming { queue: Arc::clone(&self.maker.queue) }
    }

    /// Refuses so many connections from now on.
    pub fn refuse(&self, connections: u32) {
        self.maker.queue.lock().refusals = connections;
    }

    /// The client's end of a new connection.
    ///
    /// # Errors
    ///
    /// Nobody accepts any longer, or [`refuse`](Self::refuse) says so: the connection is refused.
    pub fn connect(&self) -> io::Result<TokioIo<Pipe<DuplexStream>>> {
        const PIPE: usize = 64 * 1024;
        let (near, far) = tokio::io::duplex(PIPE);
        let mut queue = self.maker.queue.lock();
        let refuses = queue.refusals > 0;
        queue.refusals = queue.refusals.saturating_sub(1);
        if queue.is_closed || refuses {
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
        }
        queue.made.push_back(far);
        if let Some(acceptor) = queue.acceptor.take() {
            acceptor.wake();
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
    queue: Arc<Locked<Queue>>,
}

impl Incoming {
    /// Refuses all connections, or no longer does.
    pub(super) fn refuse(&self, refuses: bool) {
        let mut queue = self.queue.lock();
        queue.is_closed = refuses;
        if refuses {
            queue.made.clear();
        }
    }
}

impl Stream for Incoming {
    type Item = io::Result<DuplexStream>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut queue = self.queue.lock();
        if let Some(made) = queue.made.pop_front() {
            return Poll::Ready(Some(Ok(made)));
        }
        if queue.is_over {
            return Poll::Ready(None);
        }
        queue.acceptor = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.refuse(true);
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
