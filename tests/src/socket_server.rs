//! A server over a real socket, to be killed and started again.

use crate::generated::test::talk::v1::talk_server::TalkServer;
use crate::{Log, Script, Scripted, Talker};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tonic::transport::Server;
use tonic::transport::server::{Router, TcpIncoming};

/// A server with a runtime of its own, so that it can be killed with all that it holds, and its tasks are not the clients'.
///
/// Whatever has to outlive it, such as its script and its log, is shared with it.
#[derive(Debug)]
pub struct SocketServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
    goodbye: Arc<Notify>,
    gone: Arc<Notify>,
}

impl SocketServer {
    /// A port of its own, for a server that starts for the first time.
    pub const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    /// Listens at an address that is free. The closure makes what serves the connections, until it is dropped or has
    /// reacted to the goodbye that it is given.
    #[must_use]
    pub fn start<F>(address: SocketAddr, serve: impl FnOnce(TcpListener, OwnedNotified) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let builder = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = builder.unwrap();
        let listener = {
            let _context = runtime.enter();
            listen(address)
        };
        let address = listener.local_addr().unwrap();
        let (goodbye, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (serving, served) = (serve(listener, Arc::clone(&goodbye).notified_owned()), Arc::clone(&gone));
        runtime.spawn(async move {
            serving.await;
            served.notify_one();
        });
        Self { runtime: Some(runtime), address, goodbye, gone }
    }

    /// A gRPC server.
    #[must_use]
    pub fn grpc(address: SocketAddr, router: Router) -> Self {
        Self::start(address, |listener, goodbye| async move {
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            router.serve_with_incoming_shutdown(incoming, goodbye).await.unwrap();
        })
    }

    /// A server of Talk that follows a script.
    #[must_use]
    pub fn scripted(address: SocketAddr, script: Script, log: Log) -> Self {
        let service = Scripted::new(TalkServer::new(Talker), script, log);
        Self::grpc(address, Server::builder().add_service(service))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Says goodbye, and returns when every request that had come has its reply and the port is free again.
    pub async fn leave(self) {
        self.goodbye.notify_one();
        self.gone.notified().await;
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

/// Listens, in the context of a runtime. A port whose connections have just ended may be taken again.
fn listen(address: SocketAddr) -> TcpListener {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    socket.listen(1024).unwrap()
}
