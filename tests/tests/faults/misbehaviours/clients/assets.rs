//! Long-running operations and pages.

use crate::faults::misbehaviours::clients::client::{Calls, End};
use crate::faults::misbehaviours::clients::connector::Connector;
use crate::faults::misbehaviours::clients::settings::{CODES, TOTAL, settings};
use crate::faults::misbehaviours::server::LENGTH;
use tonic_gax::RetrySettings;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ExportAssetsRequest,
    ListAssetsRequest,
};
use tonic_gax_tests::ms;

pub(crate) fn assets(connector: &Connector) -> AssetServiceClient<tonic::transport::Channel> {
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets().set_retry_settings(settings()).set_retryable_codes(CODES);
    let polling =
        RetrySettings::builder().initial_retry_delay(ms(200)).max_retry_delay(ms(1000)).total_timeout(TOTAL);
    stub.export_assets().set_retry_settings(settings()).set_retryable_codes(CODES);
    stub.export_assets_operation().set_polling_settings(polling.build().unwrap());
    AssetServiceClient::with_settings(
        connector.channel(false),
        AssetServiceSettings::create(stub.build().unwrap()).with_options(connector.options()),
    )
}

pub(crate) fn operations(connector: &Connector) -> Calls {
    let client = assets(connector);
    Box::new(move |call| {
        let parent = call.to_string();
        let export =
            client.export_assets_operation(ExportAssetsRequest { parent, ..ExportAssetsRequest::default() });
        Box::pin(async move { export.await.map_or_else(End::failed, |_| End::Done) })
    })
}

pub(crate) fn pages(connector: &Connector) -> Calls {
    let client = assets(connector);
    Box::new(move |call| {
        let parent = call.to_string();
        let mut list = client.list_assets_paged(ListAssetsRequest { parent, ..ListAssetsRequest::default() });
        Box::pin(async move {
            let mut numbers = Vec::new();
            while let Some(item) = list.next().await {
                match item {
                    Ok(item) => numbers.push(item.name.parse().unwrap()),
                    Err(error) => return End::failed(error),
                }
            }
            End::numbers(&numbers, 0, LENGTH - 1, None)
        })
    })
}
