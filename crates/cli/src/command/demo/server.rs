//! The demo's service.

use crate::failure::Failure;
use crate::generated::google::cloud::asset::v1 as asset;
use crate::generated::google::longrunning::Operation;
use asset::asset_service_server::{AssetService, AssetServiceServer};
use gax_testing::{Arrival, Log, Script, Scripted};
use std::net::SocketAddr;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// Opens the port and serves the script there, until the runtime ends. Returns the address, whose port is a free one if
/// 0 was asked for.
pub(super) fn serve(address: SocketAddr, script: Script, log: Log) -> Result<SocketAddr, Failure> {
    let refused = |error: &dyn std::fmt::Display| {
        Failure::Run(format!(
            "the server can't listen on {address} ({error}); name another port, or 0 for one that is free"
        ))
    };
    let incoming = TcpIncoming::bind(address).map_err(|error| refused(&error))?.with_nodelay(Some(true));
    let address = incoming.local_addr().map_err(|error| refused(&error))?;
    let service = Scripted::new(AssetServiceServer::new(Assets), script, log);
    tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
    Ok(address)
}

/// A log, and all that it sees of requests.
pub(super) fn log() -> (Log, UnboundedReceiver<Arrival>) {
    let (sender, arrivals) = mpsc::unbounded_channel();
    let log = Log::notifying(move |arrival| {
        // Nobody listens when the demo is over.
        let _unheard = sender.send(arrival);
    });
    (log, arrivals)
}

/// Replies to the RPCs that the demo calls; the others are not implemented.
#[derive(Debug)]
struct Assets;

#[tonic::async_trait]
impl AssetService for Assets {
    async fn list_assets(
        &self,
        request: Request<asset::ListAssetsRequest>,
    ) -> Result<Response<asset::ListAssetsResponse>, Status> {
        let name = format!("{}/assets/disk-1", request.into_inner().parent);
        let disk = asset::Asset { name, ..asset::Asset::default() };
        Ok(Response::new(asset::ListAssetsResponse { assets: vec![disk], ..Default::default() }))
    }

    async fn export_assets(
        &self,
        request: Request<asset::ExportAssetsRequest>,
    ) -> Result<Response<Operation>, Status> {
        let name = format!("{}/operations/export-1", request.into_inner().parent);
        Ok(Response::new(Operation { name, ..Operation::default() }))
    }
}
