//! The HTTP/1.1 server.

use crate::chaos::{Draw, RandomHttpServer};
use crate::{HttpAct, HttpScript, SocketServer};
use gax_testing::HttpPeer;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A random server over a socket: seven of ten requests get a 200.
#[derive(Debug)]
pub(super) struct HttpServer {
    server: SocketServer,
    pub(super) arrived: Arc<AtomicU64>,
}

impl HttpServer {
    pub(super) fn start(seed: u64) -> Self {
        let (draw, arrived) = (Arc::new(Mutex::new(Draw::new(seed))), Arc::<AtomicU64>::default());
        let count = Arc::clone(&arrived);
        let server = SocketServer::start(SocketServer::ANY_PORT, |listener, _| async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (draw, count) = (Arc::clone(&draw), Arc::clone(&count));
                // One for each connection, so that no request is kept for ever.
                let peer = HttpPeer::new(HttpScript::by(move |_, _| act(&draw, &count)));
                tokio::spawn(async move { peer.serve(&mut stream).await });
            }
        });
        Self { server, arrived }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

fn act(draw: &Mutex<Draw>, count: &AtomicU64) -> HttpAct {
    count.fetch_add(1, Ordering::SeqCst);
    let mut draw = draw.lock().unwrap_or_else(PoisonError::into_inner);
    if draw.percent(70) { HttpAct::status(200) } else { RandomHttpServer::act(&mut draw, true) }
}
