//! The gRPC servers.

use crate::chaos::{Draw, EndlessService};
use crate::generated::test::talk::v1::talk_server::TalkServer;
use crate::{SocketServer, Talker};
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use tonic::transport::Server;

/// A random server of Talk over a socket.
#[derive(Debug)]
pub(super) struct GrpcServer {
    server: SocketServer,
    draw: Arc<Mutex<Draw>>,
    breaks: bool,
    pub(super) arrived: Arc<AtomicU64>,
}

impl GrpcServer {
    pub(super) fn start(seed: u64, breaks: bool) -> Self {
        let (draw, arrived) = (Arc::new(Mutex::new(Draw::new(seed))), Arc::default());
        let server = listen(SocketServer::ANY_PORT, &draw, breaks, &arrived);
        Self { server, draw, breaks, arrived }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Closes every socket at once, and listens again at the same address.
    pub(super) fn restart(self) -> Self {
        let Self { server, draw, breaks, arrived } = self;
        let address = server.address();
        server.kill();
        let server = listen(address, &draw, breaks, &arrived);
        Self { server, draw, breaks, arrived }
    }
}

fn listen(
    address: SocketAddr,
    draw: &Arc<Mutex<Draw>>,
    breaks: bool,
    arrived: &Arc<AtomicU64>,
) -> SocketServer {
    let talk = TalkServer::new(Talker);
    let service = EndlessService::new(talk, Arc::clone(draw), breaks, Arc::clone(arrived));
    SocketServer::grpc(address, Server::builder().add_service(service))
}
