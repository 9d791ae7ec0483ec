//! The table that the package ships, in a generated client and, read at run time, in a layer.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::Code;
use gax_table::{Dialect, RetryTable};
use std::path::Path;
use tonic::transport::Channel;
use tonic_gax::{RetryLayer, RetryService};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AnalyzeIamPolicyRequest, AssetServiceClient, ExportAssetsRequest, ListAssetsRequest,
    SearchAllResourcesRequest,
};
use tonic_gax_tests::{Reply, Script, VirtualServer, ms, report_of};

const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../proto/google/cloud/asset/v1/cloudasset_grpc_service_config.json"
);

fn layered(server: &VirtualServer) -> TonicClient<RetryService<Channel>> {
    let table = RetryTable::from_path(Path::new(TABLE)).unwrap();
    TonicClient::new(RetryLayer::new(table).layer(server.channel()))
}

/// First the method's timeout, then, after one failure, whether it was retried.
#[tokio::test(start_paused = true)]
async fn both_do_what_the_table_says() {
    let expected = [vec![60_000], vec![60_000, 60_000], vec![30_000, 30_000], vec![300_000, 300_000]];
    for (method, expected) in expected.into_iter().enumerate() {
        for generated in [true, false] {
            let server = VirtualServer::start(Script::at_once([Reply::unavailable()]));
            let client = AssetServiceClient::new(server.channel());
            let mut layered = layered(&server);
            let ok = match (method, generated) {
                (0, true) => client.export_assets(ExportAssetsRequest::default()).await.is_ok(),
                (0, false) => layered.export_assets(ExportAssetsRequest::default()).await.is_ok(),
                (1, true) => client.list_assets(ListAssetsRequest::default()).await.is_ok(),
                (1, false) => layered.list_assets(ListAssetsRequest::default()).await.is_ok(),
                (2, true) => client.search_all_resources(SearchAllResourcesRequest::default()).await.is_ok(),
                (2, false) => {
                    layered.search_all_resources(SearchAllResourcesRequest::default()).await.is_ok()
                }
                (_, true) => client.analyze_iam_policy(AnalyzeIamPolicyRequest::default()).await.is_ok(),
                (_, false) => layered.analyze_iam_policy(AnalyzeIamPolicyRequest::default()).await.is_ok(),
            };
            let arrivals = server.log().arrivals();
            assert_eq!(arrivals.len(), expected.len(), "{method} {generated}");
            assert_eq!(ok, expected.len() == 2, "{method} {generated}");
            // The wait before the second attempt is drawn from 1 ms to 100 ms, and its time counts.
            for (arrival, total) in arrivals.iter().zip(&expected) {
                assert!(arrival.at <= ms(100), "{method} {generated}");
                let text = arrival.grpc_timeout().unwrap();
                let (digits, unit) = text.split_at(text.len() - 1);
                let scale = if unit == "u" { 1000 } else { 1 };
                let timeout = digits.parse::<u64>().unwrap() / scale;
                assert!(timeout <= *total && timeout >= total - 101, "{method} {generated} {text}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_minute_s_outage_ends_within_the_minute() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    for result in [
        AssetServiceClient::new(server.channel()).list_assets(ListAssetsRequest::default()).await,
        layered(&server).list_assets(ListAssetsRequest::default()).await,
    ] {
        let report = report_of(&result);
        assert!(report.elapsed() < ms(60_000), "{report}");
        // Were every wait drawn at its longest: 100 x 1.3^n fits 19 times into a minute.
        assert!(report.attempts().len() >= 20, "{report}");
        assert!(report.attempts().iter().all(|attempt| attempt.code() == Code::Unavailable));
    }
}

/// As Google's generator reads the same file: the same here, since it has no `maxAttempts`.
#[tokio::test(start_paused = true)]
async fn the_dialects_agree_on_it() {
    let read = |dialect| RetryTable::reader().dialect(dialect).read_path(TABLE).unwrap();
    let (written, java) = (read(Dialect::AsWritten), read(Dialect::GaxJava));
    for method in ["ExportAssets", "ListAssets", "SearchAllResources", "AnalyzeIamPolicy"] {
        let of = |table: &RetryTable| {
            let policy = table.lookup("google.cloud.asset.v1.AssetService", method).unwrap();
            (policy.codes(), policy.settings().clone(), policy.codes_key().to_owned())
        };
        assert_eq!(of(&written), of(&java), "{method}");
    }
}
