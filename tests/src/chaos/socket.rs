//! A server over a real socket, to be killed and started again.

use crate::generated::test::talk::v1::talk_server::TalkServer;
use crate::{Log, NamedScripted, Script, Talker};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// A server of Talk that follows a script, with a runtime of its own, so that it can be killed with all it holds.
#[derive(Debug)]
pub struct SocketServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
}

impl SocketServer {
    /// A server on a port of its own.
    #[must_use]
    pub fn start(script: Script, log: Log) -> Self {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script, log)
    }

    /// The same at an address that is free.
    #[must_use]
    pub fn start_at(address: SocketAddr, script: Script, log: Log) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let incoming = {
            let _context = runtime.enter();
            TcpIncoming::bind(address).unwrap().with_nodelay(Some(true))
        };
        let address = incoming.local_addr().unwrap();
        let service = NamedScripted::new(TalkServer::new(Talker), script, log);
        runtime.spawn(async move {
            Server::builder().add_service(service).serve_with_incoming(incoming).await.unwrap();
        });
        Self { runtime: Some(runtime), address }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every socket at once, and returns when that is done, so that the port is free again.
    pub fn kill(mut self) {
        if let Some(runtime) = self.runtime.take() {
            let patience = Duration::from_secs(30);
            std::thread::spawn(move || runtime.shutdown_timeout(patience)).join().unwrap();
        }
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
