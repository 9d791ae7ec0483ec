//! The port that a server listens on.

use super::{Assets, Script};
use crate::failure::Failure;
use crate::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use std::net::SocketAddr;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// Opens the port and serves the script there, until the runtime ends. Returns the address, whose port is a free one if
/// 0 was asked for.
pub(crate) fn serve(address: SocketAddr, script: Script) -> Result<SocketAddr, Failure> {
    let refused = |error: &dyn std::fmt::Display| {
        Failure::Run(format!(
            "the server can't listen on {address} ({error}); name another port, or 0 for one that is free"
        ))
    };
    let incoming = TcpIncoming::bind(address).map_err(|error| refused(&error))?.with_nodelay(Some(true));
    let address = incoming.local_addr().map_err(|error| refused(&error))?;
    let service = AssetServiceServer::new(Assets::new(script));
    tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
    Ok(address)
}
