//! A real tonic server and a real tonic channel, with memory between them.

use crate::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use crate::generated::test::talk::v1::talk_server::TalkServer;
use crate::{Assets, Log, Script, Scripted, Talker};
use hyper_util::rt::TokioIo;
use std::io;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::{Channel, Endpoint, Server, Uri};

/// A server that follows a script, and a channel to it.
#[derive(Debug, Clone)]
pub struct VirtualServer {
    channel: Channel,
    log: Log,
}

impl VirtualServer {
    /// A server of the asset API and of Talk that both follow the script.
    #[must_use]
    pub fn start(script: Script) -> Self {
        let log = Log::default();
        let assets = Scripted::new(AssetServiceServer::new(Assets), script.clone(), log.clone());
        let talk = Scripted::new(TalkServer::new(Talker), script, log.clone());
        let (channel, incoming) = pipes();
        tokio::spawn(Server::builder().add_service(assets).add_service(talk).serve_with_incoming(incoming));
        Self { channel, log }
    }

    /// A channel to it; clones share the connection.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// What it saw.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// When each request came, and its `grpc-timeout`, in milliseconds.
    #[must_use]
    pub fn seen(&self) -> Vec<(u64, Option<u64>)> {
        self.log.seen()
    }
}

/// A channel, and the connections it makes: a tonic server serves them with `serve_with_incoming`.
pub fn pipes() -> (Channel, impl Stream<Item = io::Result<DuplexStream>> + Send + 'static) {
    let (sender, accepted) = mpsc::unbounded_channel();
    let incoming = tokio_stream::wrappers::UnboundedReceiverStream::new(accepted);
    (Connect::to(sender).channel(), incoming.map(Ok))
}

/// Connects by handing one end of a pipe to whoever accepts.
#[derive(Debug, Clone)]
pub(crate) struct Connect {
    accept: mpsc::UnboundedSender<DuplexStream>,
}

impl Connect {
    pub(crate) fn to(accept: mpsc::UnboundedSender<DuplexStream>) -> Self {
        Self { accept }
    }

    /// Where whoever accepts gets its ends of the pipes.
    pub(crate) fn accept(&self) -> mpsc::UnboundedSender<DuplexStream> {
        self.accept.clone()
    }

    pub(crate) fn connect(&self) -> io::Result<TokioIo<DuplexStream>> {
        const PIPE: usize = 64 * 1024;
        let (near, far) = tokio::io::duplex(PIPE);
        match self.accept.send(far) {
            Ok(()) => Ok(TokioIo::new(near)),
            Err(_) => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
        }
    }

    /// A channel that connects so, when it is first used and whenever it has to.
    pub(crate) fn channel(&self) -> Channel {
        let connect = self.clone();
        let connector = tower::service_fn(move |_: Uri| std::future::ready(connect.connect()));
        Endpoint::from_static("http://virtual.test").connect_with_connector_lazy(connector)
    }
}
