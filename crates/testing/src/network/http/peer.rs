//! The peer.

use super::connection::{End, serve};
use super::{HttpArrival, HttpScript};
use crate::network::{Acceptor, Pipes};
use gax_driver::__private::{Clock, Locked};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// An HTTP/1.1 server, or a proxy, that follows a script, and keeps the requests that arrived. It writes bytes itself, so that it can
/// do what no library would: wrong lengths, duplicate replies, replies that were not requested.
///
/// Clones share everything. It serves until its runtime ends.
///
/// # Examples
///
/// ```
/// use gax_testing::{HttpPeer, HttpReply, HttpScript};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let busy = HttpReply::status(429).with_header("retry-after", "3600");
/// let (peer, pipes) = HttpPeer::in_memory(HttpScript::new([busy, HttpReply::Reset]));
/// # drop(pipes);
/// assert!(peer.arrivals().is_empty());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct HttpPeer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    script: HttpScript,
    origin: Option<Pipes>,
    clock: Clock,
    arrivals: Locked<Vec<HttpArrival>>,
    accepted: AtomicUsize,
    open: AtomicUsize,
}

impl HttpPeer {
    /// A peer that serves what it is [given](Self::serve).
    #[must_use]
    pub fn new(script: HttpScript) -> Self {
        Self::with_origin(script, None)
    }

    fn with_origin(script: HttpScript, origin: Option<Pipes>) -> Self {
        let (arrivals, accepted, open) = (Locked::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        Self { shared: Arc::new(Shared { script, origin, clock: Clock::start(), arrivals, accepted, open }) }
    }

    /// A peer behind pipes, and what connects to it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn in_memory(script: HttpScript) -> (Self, Pipes) {
        Self::new(script).over_pipes()
    }

    /// A proxy behind pipes, in front of an HTTP/1.1 server behind pipes, and what connects to the proxy. The replies
    /// [`HttpReply::Forward`](super::HttpReply::Forward) come from that server.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn before(origin: Pipes, script: HttpScript) -> (Self, Pipes) {
        Self::with_origin(script, Some(origin)).over_pipes()
    }

    fn over_pipes(self) -> (Self, Pipes) {
        let pipes = Pipes::new();
        self.accept(Acceptor::of(&pipes));
        (self, pipes)
    }

    fn accept(&self, acceptor: Acceptor) {
        let this = self.clone();
        tokio::spawn(acceptor.each(move |mut io| {
            let this = this.clone();
            async move {
                if this.run(&mut io).await == End::Reset {
                    io.resets();
                }
            }
        }));
    }

    /// A peer behind a socket of the loopback device, and its URL.
    ///
    /// # Errors
    ///
    /// No port can be had.
    pub async fn on_socket(script: HttpScript) -> io::Result<(Self, String)> {
        let peer = Self::new(script);
        let url = peer.listen().await?;
        Ok((peer, url))
    }

    /// Listens at a free port of the loopback device too; returns the URL.
    ///
    /// # Errors
    ///
    /// No port can be had.
    #[expect(clippy::unused_async, reason = "it has to be called in a runtime")]
    pub async fn listen(&self) -> io::Result<String> {
        let (acceptor, address) = Acceptor::on_loopback()?;
        self.accept(acceptor);
        Ok(format!("http://{address}"))
    }

    /// Serves a connection to its end, such as one over TLS.
    pub async fn serve(&self, io: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
        self.run(io).await;
    }

    async fn run(&self, io: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> End {
        let shared = &*self.shared;
        shared.accepted.fetch_add(1, Ordering::SeqCst);
        shared.open.fetch_add(1, Ordering::SeqCst);
        let note = |arrival| {
            let arrival = HttpArrival { at: shared.clock.elapsed(), ..arrival };
            shared.arrivals.lock().push(arrival.clone());
            arrival
        };
        let end = serve(io, &shared.script, shared.origin.as_ref(), note).await;
        shared.open.fetch_sub(1, Ordering::SeqCst);
        // However else the connection ends, the client sees it.
        end.unwrap_or(End::Closed)
    }

    gax_text::getters! { self:
        /// Its script.
        pub script: &HttpScript = &self.shared.script;

        /// The requests that arrived so far.
        pub arrivals: Vec<HttpArrival> = self.shared.arrivals.lock().clone();

        /// When requests arrived, in milliseconds.
        pub times: Vec<u128> = self.arrivals().iter().map(|arrival| arrival.at.as_millis()).collect();

        /// How many connections were made.
        pub accepted: usize = self.shared.accepted.load(Ordering::SeqCst);

        /// How many connections are open.
        pub connections: usize = self.shared.open.load(Ordering::SeqCst);

        /// The time since the peer's start.
        pub elapsed: Duration = self.shared.clock.elapsed();
    }
}
