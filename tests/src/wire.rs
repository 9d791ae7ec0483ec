//! A real server, and a real tonic channel, with memory between them.

use crate::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use crate::generated::test::talk::v1::talk_server::TalkServer;
use crate::{Assets, Talker};
use gax_testing::{Script, VirtualServer as Server};
use std::ops::Deref;
use tonic::service::Routes;

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
}

impl Deref for VirtualServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

fn routes() -> Routes {
    Routes::new(AssetServiceServer::new(Assets::default())).add_service(TalkServer::new(Talker)).prepare()
}
