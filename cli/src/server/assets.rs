//! An `AssetService` that follows a script.

use super::Script;
use crate::generated::google::cloud::asset::v1 as asset;
use crate::generated::google::longrunning::Operation;
use asset::asset_service_server::AssetService;
use tonic::{Request, Response, Status};

/// Replies the RPCs that the demo calls; the others are not implemented.
#[derive(Debug)]
pub(crate) struct Assets {
    script: Script,
}

impl Assets {
    pub(crate) fn new(script: Script) -> Self {
        Self { script }
    }
}

#[tonic::async_trait]
impl AssetService for Assets {
    async fn list_assets(
        &self,
        request: Request<asset::ListAssetsRequest>,
    ) -> Result<Response<asset::ListAssetsResponse>, Status> {
        self.script.play(&request).await?;
        let name = format!("{}/assets/disk-1", request.into_inner().parent);
        let disk = asset::Asset { name, ..asset::Asset::default() };
        Ok(Response::new(asset::ListAssetsResponse { assets: vec![disk], ..Default::default() }))
    }

    async fn export_assets(
        &self,
        request: Request<asset::ExportAssetsRequest>,
    ) -> Result<Response<Operation>, Status> {
        self.script.play(&request).await?;
        let name = format!("{}/operations/export-1", request.into_inner().parent);
        Ok(Response::new(Operation { name, ..Operation::default() }))
    }
}
