//! A proxy that goes silent: it acknowledges everything and forwards nothing, as a network does that forgot a connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A proxy in front of a server. It lives in the runtime of the test.
#[derive(Debug)]
pub struct SilentProxy {
    address: SocketAddr,
    /// Connections up to this number are silent.
    silent: Arc<watch::Sender<usize>>,
    accepted: Arc<AtomicUsize>,
    serving: tokio::task::AbortHandle,
}

impl SilentProxy {
    /// A proxy that forwards to that server.
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (silent, accepted) = (Arc::new(watch::Sender::new(0)), Arc::new(AtomicUsize::new(0)));
        let (switch, count) = (Arc::clone(&silent), Arc::clone(&accepted));
        let serving = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                connections.spawn(forward(client, server, number, switch.subscribe()));
            }
        });
        Self { address, silent, accepted, serving: serving.abort_handle() }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Forwards nothing any more on the connections that it has. Others are not concerned.
    pub fn go_silent(&self) {
        self.silent.send_replace(self.accepted());
    }

    /// How many connections it has taken.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for SilentProxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn forward(client: TcpStream, server: SocketAddr, number: usize, silent: watch::Receiver<usize>) {
    client.set_nodelay(true).unwrap();
    let Ok(server) = TcpStream::connect(server).await else { return };
    server.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let up = tokio::spawn(copy(from_client, to_server, number, silent.clone()));
    copy(from_server, to_client, number, silent).await;
    up.abort();
}

async fn copy(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    number: usize,
    silent: watch::Receiver<usize>,
) {
    let mut buffer = vec![0; 1 << 14];
    while let Ok(read) = from.read(&mut buffer).await {
        let is_silent = *silent.borrow() >= number;
        if read == 0 && !is_silent {
            return;
        }
        if read == 0 {
            // Nobody hears of the end either.
            std::future::pending::<()>().await;
        }
        if !is_silent && to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
