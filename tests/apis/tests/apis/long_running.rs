//! Long-running operations of whole APIs: generated clients find the types that protos name, wherever they are.

use gax_client::longrunning::{Operation, operation};
use gax_testing::{Reply, Script, VirtualServer};
use googleapis_tonic_google_cloud_asset_v1::google::cloud::asset::v1 as published_types;
use prost::Message;
use prost_types::Any;
use tonic_gax_api_tests::own::google::cloud::asset::v1 as own;
use tonic_gax_api_tests::own_published::google::cloud::asset::v1 as own_published;

/// A server whose RPC starts an operation, which is done when it is asked for the second time.
fn server(method: &str, metadata: (&str, &impl Message), response: (&str, &impl Message)) -> VirtualServer {
    let any = |name: &str, value: Vec<u8>| Any { type_url: format!("type.googleapis.com/{name}"), value };
    let metadata = Some(any(metadata.0, metadata.1.encode_to_vec()));
    let running = Operation { name: "operations/7".to_owned(), metadata, ..Operation::default() };
    let result = operation::Result::Response(any(response.0, response.1.encode_to_vec()));
    let done = Operation { done: true, result: Some(result), ..running.clone() };
    let [started, polled, done] = [&running, &running, &done].map(Reply::message);
    VirtualServer::start(Script::new().on(method, [started]).on("GetOperation", [polled, done]))
}

const REQUEST: &str = "google.cloud.asset.v1.ExportAssetsRequest";
const RESPONSE: &str = "google.cloud.asset.v1.ExportAssetsResponse";

fn exporting() -> VirtualServer {
    let request =
        own::ExportAssetsRequest { parent: "projects/1".to_owned(), ..own::ExportAssetsRequest::default() };
    server("ExportAssets", (REQUEST, &request), (RESPONSE, &own::ExportAssetsResponse::default()))
}

#[tokio::test(start_paused = true)]
async fn messages_are_the_generator_s_own() {
    let client = own::asset_service_gax::AssetServiceClient::new(exporting().channel());
    let mut export = client.export_assets_operation(own::ExportAssetsRequest::default());
    assert_eq!((&mut export).await.unwrap(), own::ExportAssetsResponse::default());
    assert_eq!(export.metadata().unwrap().parent, "projects/1");
}

#[tokio::test(start_paused = true)]
async fn messages_are_those_of_a_published_crate() {
    let client = own_published::asset_service_gax::AssetServiceClient::new(exporting().channel());
    let mut export = client.export_assets_operation(published_types::ExportAssetsRequest::default());
    let response: published_types::ExportAssetsResponse = (&mut export).await.unwrap();
    assert_eq!(response, published_types::ExportAssetsResponse::default());
    assert_eq!(export.metadata().unwrap().parent, "projects/1");
}

#[cfg(google_protos)]
mod with_protos {
    use super::{exporting, server};
    use tonic_gax_api_tests::asset::google::cloud::asset::v1 as asset;
    use tonic_gax_api_tests::redis::google::cloud::redis::v1 as redis;

    #[tokio::test(start_paused = true)]
    async fn google_s_apis_are_polled() {
        let client = asset::asset_service_gax::AssetServiceClient::new(exporting().channel());
        let mut export = client.export_assets_operation(asset::ExportAssetsRequest::default());
        assert_eq!((&mut export).await.unwrap(), asset::ExportAssetsResponse::default());
        assert_eq!(export.metadata().unwrap().parent, "projects/1");

        let metadata =
            redis::OperationMetadata { target: "a".to_owned(), ..redis::OperationMetadata::default() };
        let metadata = ("google.cloud.redis.v1.OperationMetadata", &metadata);
        let instance = redis::Instance { name: "a".to_owned(), ..redis::Instance::default() };
        let create = server("CreateInstance", metadata, ("google.cloud.redis.v1.Instance", &instance));
        let client = redis::cloud_redis_gax::CloudRedisClient::new(create.channel());
        let mut create = client.create_instance_operation(redis::CreateInstanceRequest::default());
        assert_eq!((&mut create).await.unwrap().name, "a");
        assert_eq!(create.metadata().unwrap().target, "a");
        let delete = server("DeleteInstance", metadata, ("google.protobuf.Empty", &()));
        let client = redis::cloud_redis_gax::CloudRedisClient::new(delete.channel());
        client.delete_instance_operation(redis::DeleteInstanceRequest::default()).await.unwrap();
    }
}
