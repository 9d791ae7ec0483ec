//! The server.

use super::connection::{End, serve, test_id};
use super::{HttpAct, HttpArrival, HttpScript, MemoryConnector};
use crate::VirtualClock;
use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio_stream::StreamExt as _;
use tonic_gax::testing::Pipes;

/// An HTTP/1.1 server that follows a script and writes down what came.
#[derive(Debug, Clone)]
pub struct FaultServer {
    script: HttpScript,
    clock: VirtualClock,
    arrivals: Arc<Mutex<Vec<HttpArrival>>>,
    open: Arc<()>,
    accepted: Arc<AtomicUsize>,
}

impl FaultServer {
    fn new(script: HttpScript) -> Self {
        Self {
            script,
            clock: VirtualClock::start(),
            arrivals: Arc::default(),
            open: Arc::default(),
            accepted: Arc::default(),
        }
    }

    /// A server behind pipes, and what connects to it.
    #[must_use]
    pub fn in_memory(script: HttpScript) -> (Self, MemoryConnector) {
        let server = Self::new(script);
        let pipes = Pipes::new();
        let mut accepted = pipes.incoming();
        let this = server.clone();
        tokio::spawn(async move {
            while let Some(Ok(mut io)) = accepted.next().await {
                this.accepted.fetch_add(1, Ordering::SeqCst);
                let this = this.clone();
                tokio::spawn(async move {
                    let _open = Arc::clone(&this.open);
                    // However the connection ends, the test sees it from the other side.
                    drop(serve(&mut io, |arrival| this.meet(arrival)).await);
                });
            }
        });
        (server, MemoryConnector::to(pipes))
    }

    /// A connector to a server that closes every connection at once, and the number of these connections.
    #[must_use]
    pub fn closing() -> (Arc<AtomicUsize>, MemoryConnector) {
        let pipes = Pipes::new();
        let mut accepted = pipes.incoming();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        tokio::spawn(async move {
            while let Some(Ok(io)) = accepted.next().await {
                counted.fetch_add(1, Ordering::SeqCst);
                drop::<tokio::io::DuplexStream>(io);
            }
        });
        (count, MemoryConnector::to(pipes))
    }

    /// A server behind a socket on the loopback device, and its URL.
    pub async fn on_socket(script: HttpScript) -> (Self, String) {
        let server = Self::new(script);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let this = server.clone();
        tokio::spawn(async move {
            while let Ok((mut io, _)) = listener.accept().await {
                this.accepted.fetch_add(1, Ordering::SeqCst);
                let this = this.clone();
                tokio::spawn(async move {
                    let _open = Arc::clone(&this.open);
                    if let Ok(End::Reset) = serve(&mut io, |arrival| this.meet(arrival)).await {
                        // The kernel then sends RST, where an orderly close would send FIN.
                        io.set_zero_linger().unwrap();
                    }
                });
            }
        });
        (server, url)
    }

    /// hyper-util's client over the connector.
    #[must_use]
    pub fn client<B>(connector: MemoryConnector) -> Client<MemoryConnector, B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        Client::builder(TokioExecutor::new()).build(connector)
    }

    /// hyper-util's client over the connector, for bodies in memory.
    #[must_use]
    pub fn full_client(connector: MemoryConnector) -> Client<MemoryConnector, Full<Bytes>> {
        Self::client(connector)
    }

    fn meet(&self, mut arrival: HttpArrival) -> HttpAct {
        arrival.at = self.clock.elapsed();
        let mut act = self.script.next(test_id(&arrival));
        if let HttpAct::Once(after, refusal) = act {
            let is_first = self.script.carry_out(arrival.header("x-call").unwrap_or_default());
            act = if is_first { HttpAct::Slow(vec![(after, "done")]) } else { HttpAct::status(refusal) };
        }
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).push(arrival);
        act
    }

    /// Its script.
    #[must_use]
    pub fn script(&self) -> &HttpScript {
        &self.script
    }

    /// The requests that came so far.
    #[must_use]
    pub fn arrivals(&self) -> Vec<HttpArrival> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When requests came, in milliseconds.
    #[must_use]
    pub fn times(&self) -> Vec<u128> {
        self.arrivals().iter().map(|arrival| arrival.at.as_millis()).collect()
    }

    /// How many connections were made.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// How many connections are open.
    #[must_use]
    pub fn connections(&self) -> usize {
        Arc::strong_count(&self.open) - self.servers()
    }

    /// Copies of this server, which hold the count as well.
    fn servers(&self) -> usize {
        Arc::strong_count(&self.arrivals)
    }

    /// The time since the server's start.
    #[must_use]
    pub fn elapsed(&self) -> std::time::Duration {
        self.clock.elapsed()
    }
}
