//! `{:?}` of clients, layers, settings and reports prints no more than a log can bear.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::CallSettings;
use gax_http::{HttpRetryLayer, presets};
use gax_retry::{Code, RetrySettings};
use gax_table::RetryTable;
use tonic_gax::{CallOptions, Hedging};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest,
};
use tonic_gax_tests::{Reply, Script, Setup, VirtualServer, error_report, ms};

fn settings() -> RetrySettings {
    RetrySettings::builder().max_attempts(2).initial_retry_delay(ms(5)).jittered(false).build().unwrap()
}

#[test]
fn settings_leave_out_what_is_not_set() {
    assert_eq!(format!("{:?}", RetrySettings::default()), "RetrySettings");
    let expected = "RetrySettings { initial_retry_delay: 5ms, max_attempts: 2, jittered: false }";
    assert_eq!(format!("{:?}", settings()), expected);
    assert_eq!(
        format!("{:?}", CallSettings::new(settings(), Code::Aborted)),
        format!("CallSettings {{ retry_settings: {expected}, retryable_codes: {{Aborted}} }}")
    );
    assert_eq!(format!("{:?}", CallOptions::new()), "CallOptions");
    let options =
        CallOptions::new().without_timeout().max_attempts(3).retryable_codes(Code::Aborted).report(true);
    assert_eq!(
        format!("{options:?}"),
        "CallOptions { overrides: SettingsOverrides { total_timeout: Disabled, max_attempts: Set(3) }, \
         retryable_codes: {Aborted}, report: true }"
    );
    let mut stub = AssetServiceStubSettings::builder();
    assert!(format!("{stub:?}").contains("changed: {}"), "{stub:?}");
    stub.list_assets().set_retry_settings(settings());
    let text = format!("{stub:?}");
    assert!(text.contains("\"ListAssets\": CallSettings") && text.len() < 400, "{text}");
}

#[tokio::test(start_paused = true)]
async fn clients_and_layers_are_a_line_or_two() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let setup = Setup::new(settings());
    let layer = setup.layer_with_descriptors();
    let texts = [
        format!("{:?}", RetryTable::parse(r#"{"methodConfig": []}"#).unwrap()),
        format!("{layer:?}"),
        format!("{:?}", TonicClient::new(layer.layer(server.channel()))),
        format!("{:?}", AssetServiceClient::new(server.channel())),
        format!("{:?}", AssetServiceSettings::default()),
        format!("{:?}", HttpRetryLayer::new(&settings(), Code::Unavailable).layer(server.channel())),
    ];
    for text in &texts {
        assert!(text.len() < 600, "{}: {text}", text.len());
    }
    // A preset has a line of its formula, and no rule of its table.
    let preset = format!("{:?}", presets::storage());
    assert!(
        preset.contains("IdempotencyTable { rules: ") && preset.len() < 1000,
        "{}: {preset}",
        preset.len()
    );
    // Neither is what a layer has made of it, with a percentile for each rule.
    let layer = HttpRetryLayer::preset(&presets::storage()).hedging(Hedging::new(2).percentile(0.95));
    let service = layer.layer(server.channel());
    for text in [format!("{layer:?}"), format!("{service:?}")] {
        assert!(text.len() < 1300, "{}: {text}", text.len());
    }
    let client = AssetServiceClient::with_settings(server.channel(), setup.client());
    let report = error_report(&client.list_assets(ListAssetsRequest::default()).await.unwrap_err());
    assert_eq!(
        format!("{report:?}"),
        "OperationReport { method: /google.cloud.asset.v1.AssetService/ListAssets, attempts: 2, elapsed: 5ms, \
         stop_reason: Some(MaxAttempts), .. }"
    );
}
