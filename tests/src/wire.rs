//! A real server, and a real tonic channel, with memory between them.

use crate::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use crate::generated::test::talk::v1::talk_server::TalkServer;
use crate::{Assets, Log, Talker};
use tonic::service::Routes;
use tonic::transport::Channel;
use tonic_gax::testing::{Pipes, Script, VirtualServer as Server};

/// A server that follows a script, and a channel to it.
#[derive(Debug, Clone)]
pub struct VirtualServer {
    server: Server,
}

impl VirtualServer {
    /// A server of the asset API and of Talk that both follow the script.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self { server: Server::serving(routes(), script) }
    }

    /// A server of both APIs, no connection of which has more than so many streams at a time.
    #[must_use]
    pub fn with_stream_limit(streams: u32, script: Script) -> Self {
        Self { server: Server::with_stream_limit(streams, routes(), script) }
    }

    /// A channel to it; clones share the connection.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.server.channel()
    }

    /// Connects an HTTP client to it.
    #[must_use]
    pub fn connector(&self) -> Pipes {
        self.server.connector()
    }

    /// The requests that it saw.
    #[must_use]
    pub fn log(&self) -> &Log {
        self.server.log()
    }

    /// When each request came, and its `grpc-timeout`, in milliseconds.
    #[must_use]
    pub fn seen(&self) -> Vec<(u64, Option<u64>)> {
        self.server.seen()
    }
}

fn routes() -> Routes {
    Routes::new(AssetServiceServer::new(Assets::default())).add_service(TalkServer::new(Talker)).prepare()
}
