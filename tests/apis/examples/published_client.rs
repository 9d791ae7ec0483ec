//! A published client of Google's APIs, `googleapis-tonic-google-cloud-asset-v1`, with the retries that the API's own
//! retry table asks for. Nothing is generated for it: the layer goes between the client and its channel.
//!
//! The server is a fake in this process, so that no network and no account is needed. In a program, it is a channel:
//!
//! ```text
//! let tls = ClientTlsConfig::new().with_enabled_roots();
//! let endpoint = Endpoint::from_static("https://cloudasset.googleapis.com").tls_config(tls)?;
//! let channel = gax_client::connect(endpoint).await?;
//! ```
//!
//! ```text
//! cargo run -p tonic-gax-api-tests --example published_client
//! ```

use gax_table::RetryTable;
use googleapis_tonic_google_cloud_asset_v1::google::cloud::asset::v1::ListAssetsRequest;
use googleapis_tonic_google_cloud_asset_v1::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tonic::{Request, Response, Status};
use tonic_gax::{OperationReport, RetryLayer};
use tonic_gax_api_tests::own::google::cloud::asset::v1 as served;

/// The table that Google publishes beside the API's protos, or as much of it as these need.
const TABLE: &str = include_str!("../../../proto/google/cloud/asset/v1/cloudasset_grpc_service_config.json");

/// Refuses two calls.
#[derive(Default)]
struct Assets {
    calls: Arc<AtomicU32>,
}

#[tonic::async_trait]
impl served::asset_service_server::AssetService for Assets {
    async fn list_assets(
        &self,
        request: Request<served::ListAssetsRequest>,
    ) -> Result<Response<served::ListAssetsResponse>, Status> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < 2 {
            return Err(Status::unavailable("try again"));
        }
        let name = format!("{}/assets/disk-1", request.into_inner().parent);
        let assets = vec![served::Asset { name, ..served::Asset::default() }];
        Ok(Response::new(served::ListAssetsResponse { assets, ..served::ListAssetsResponse::default() }))
    }
}

// The clock is paused for the sake of the tests: the table waits up to 230 ms.
#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let server = served::asset_service_server::AssetServiceServer::new(Assets::default());
    let layer = RetryLayer::new(RetryTable::parse(TABLE)?);
    let mut client = AssetServiceClient::new(layer.layer(server));

    let request = ListAssetsRequest { parent: "projects/p".to_owned(), ..ListAssetsRequest::default() };
    let response = client.list_assets(request).await?;
    let report = OperationReport::of(response.extensions()).ok_or("a retry is reported")?;
    println!("{report}");
    assert_eq!(report.attempt_count(), 3);
    println!("{:?}", response.into_inner().assets.first().map(|asset| &asset.name));
    Ok(())
}
