//! The real handlers of the asset API.

use crate::generated::google::cloud::asset::v1 as asset;
use crate::generated::google::longrunning::Operation;
use asset::asset_service_server::AssetService;
use tonic::{Request, Response, Status};

/// Replies with what it was asked; the other RPCs are not implemented.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Assets;

#[tonic::async_trait]
impl AssetService for Assets {
    async fn export_assets(
        &self,
        request: Request<asset::ExportAssetsRequest>,
    ) -> Result<Response<Operation>, Status> {
        let name = format!("operations/{}", request.into_inner().parent);
        Ok(Response::new(Operation { name, ..Operation::default() }))
    }

    async fn list_assets(
        &self,
        request: Request<asset::ListAssetsRequest>,
    ) -> Result<Response<asset::ListAssetsResponse>, Status> {
        let asset::ListAssetsRequest { parent, page_token, page_size, .. } = request.into_inner();
        let asset = asset::Asset { name: parent, ..asset::Asset::default() };
        let assets = vec![asset; usize::try_from(page_size).unwrap_or_default()];
        let page = asset::ListAssetsResponse { assets, next_page_token: page_token, read_time: None };
        Ok(Response::new(page))
    }

    async fn search_all_resources(
        &self,
        _: Request<asset::SearchAllResourcesRequest>,
    ) -> Result<Response<asset::SearchAllResourcesResponse>, Status> {
        Ok(Response::new(asset::SearchAllResourcesResponse::default()))
    }

    async fn analyze_iam_policy(
        &self,
        _: Request<asset::AnalyzeIamPolicyRequest>,
    ) -> Result<Response<asset::AnalyzeIamPolicyResponse>, Status> {
        Ok(Response::new(asset::AnalyzeIamPolicyResponse { fully_explored: true }))
    }
}
