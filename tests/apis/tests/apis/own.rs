//! Calls through clients that are generated from this repository's protos.

use googleapis_tonic_google_cloud_asset_v1::google::cloud::asset::v1 as published_types;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tonic::{Code, Request, Response, Status};
use tonic_gax::settings::MethodKind;
use tonic_gax::{CodeSet, OperationReport};
use tonic_gax_api_tests::own::google::cloud::asset::v1 as own;
use tonic_gax_api_tests::own_published::google::cloud::asset::v1 as own_published;

/// A server that is down for the first calls.
#[derive(Clone, Default)]
struct Outage {
    calls: Arc<AtomicU32>,
    down: u32,
}

#[tonic::async_trait]
impl own::asset_service_server::AssetService for Outage {
    async fn list_assets(
        &self,
        request: Request<own::ListAssetsRequest>,
    ) -> Result<Response<own::ListAssetsResponse>, Status> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.down {
            return Err(Status::unavailable("down"));
        }
        let name = request.into_inner().parent;
        Ok(Response::new(own::ListAssetsResponse {
            assets: vec![own::Asset { name, ..own::Asset::default() }],
            ..own::ListAssetsResponse::default()
        }))
    }

    async fn create_feed(&self, _: Request<own::CreateFeedRequest>) -> Result<Response<own::Feed>, Status> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Err(Status::unavailable("down"))
    }
}

fn outage(down: u32) -> own::asset_service_server::AssetServiceServer<Outage> {
    own::asset_service_server::AssetServiceServer::new(Outage { down, ..Outage::default() })
}

#[tokio::test(start_paused = true)]
async fn a_retryable_call_survives_the_outage() {
    let client = own::AssetServiceClient::new(outage(2));
    let request =
        own::ListAssetsRequest { parent: "projects/1".to_owned(), ..own::ListAssetsRequest::default() };
    let response = client.list_assets(request).await.unwrap();
    let report = response.extensions().get::<OperationReport>().unwrap();
    assert_eq!(report.attempts().len(), 3);
    assert_eq!(response.get_ref().assets[0].name, "projects/1");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_table_does_not_retry_fails_at_once() {
    let server = Outage::default();
    let client =
        own::AssetServiceClient::new(own::asset_service_server::AssetServiceServer::new(server.clone()));
    let status = client.create_feed(own::CreateFeedRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(server.calls.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn settings_and_client_work_over_published_messages() {
    let client = own_published::AssetServiceClient::new(outage(1));
    let request = published_types::ListAssetsRequest {
        parent: "projects/2".to_owned(),
        ..published_types::ListAssetsRequest::default()
    };
    let response = client.list_assets(request).await.unwrap();
    assert_eq!(response.get_ref().assets[0].name, "projects/2");
    assert_eq!(response.extensions().get::<OperationReport>().unwrap().attempts().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn lists_work_over_published_messages() {
    let client = own_published::AssetServiceClient::new(outage(1));
    let request = published_types::ListAssetsRequest {
        parent: "projects/2".to_owned(),
        ..published_types::ListAssetsRequest::default()
    };
    let mut assets = client.list_assets_paged(request);
    let asset: published_types::Asset = assets.next().await.unwrap().unwrap();
    assert_eq!(asset.name, "projects/2");
    assert!(assets.next().await.is_none());
}

#[test]
fn both_ways_give_the_same_settings() {
    let definitions = own::AssetServiceStubSettings::retry_param_definitions();
    assert_eq!(definitions, own_published::AssetServiceStubSettings::retry_param_definitions());
    let names: Vec<&str> = definitions.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["no_retry_0_params", "retry_policy_1_params", "retry_policy_2_params", "retry_policy_3_params"]
    );
    let methods = own::AssetServiceStubSettings::methods();
    assert_eq!(methods.len(), 11);
    let paged = methods.iter().filter(|method| method.kind() == MethodKind::Paged);
    assert_eq!(
        paged.map(gax_client::MethodInfo::name).collect::<Vec<_>>(),
        ["ListAssets", "SearchAllResources", "SearchAllIamPolicies"]
    );
}

#[test]
fn a_user_changes_what_the_table_says() {
    let mut settings = own::AssetServiceStubSettings::builder();
    settings.apply_to_all_unary_methods(|call| {
        call.set_retryable_codes([tonic_gax::Code::Aborted]);
    });
    settings.get_feed().set_retryable_codes(CodeSet::EMPTY);
    let settings = settings.build().unwrap();
    assert!(settings.get_feed().retryable_codes().is_empty());
    assert!(settings.export_assets().retryable_codes().contains(tonic_gax::Code::Aborted));
    let _client = own::AssetServiceClient::with_settings(outage(0), settings.into());
}
