//! The operations that observers see of a generated client's long-running operation.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::replies::{exported, fails, replies, request, running, server, with_error};
use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary};
use std::sync::{Arc, Mutex};
use tonic_gax::OperationOptions;
use tonic_gax_tests::VirtualServer;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_gax::{
    AssetServiceClient, AssetServiceSettings,
};

/// Each operation as it ends: transport, method, whether it is known, its code and how many attempts it made.
#[derive(Debug, Default)]
struct EndedOperations(Mutex<Vec<String>>);

impl EndedOperations {
    fn add(&self, operation: &OperationInfo, summary: &OperationSummary) {
        let known = if operation.is_registered() { "" } else { " unknown" };
        let (transport, method) = (operation.transport().name(), operation.full_method());
        let method = method.rsplit('.').next().unwrap();
        let line = format!("{transport} {method}{known} {} {}", summary.code(), summary.attempts());
        self.0.lock().unwrap().push(line);
    }
}

impl OperationObserver for EndedOperations {
    fn operation_succeeded(&self, operation: &OperationInfo, summary: &OperationSummary) {
        self.add(operation, summary);
    }

    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        self.add(operation, summary);
    }
}

async fn ends(server: &VirtualServer) -> Vec<String> {
    let ends = Arc::new(EndedOperations::default());
    let options = OperationOptions::new().without_jitter().observer(ends.clone());
    let client = AssetServiceClient::with_settings(
        server.channel(),
        AssetServiceSettings::default().with_options(options),
    );
    client.export_assets_operation(request()).await.ok();
    std::mem::take(&mut *ends.0.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn the_first_call_each_poll_and_all_of_them_are_operations() {
    let unavailable = fails(tonic::Code::Unavailable);
    let finished = server(replies(&running()), [replies(&running()), unavailable, replies(&exported())]);
    let expected = [
        "grpc AssetService/ExportAssets OK 1",
        "grpc Operations/GetOperation OK 1",
        "grpc Operations/GetOperation OK 2",
        "long-running AssetService/ExportAssets OK 3",
    ];
    assert_eq!(ends(&finished).await, expected);
    let never = server(replies(&running()), [replies(&running())]);
    assert_eq!(ends(&never).await.last().unwrap(), "long-running AssetService/ExportAssets OK 11");
    let failed = with_error(tonic::Code::FailedPrecondition, "the bucket is gone", vec![]);
    let failed = server(replies(&running()), [replies(&failed)]);
    assert_eq!(
        ends(&failed).await.last().unwrap(),
        "long-running AssetService/ExportAssets FAILED_PRECONDITION 2"
    );
    let nothing = server(replies(&running()), [replies(&super::replies::done(None))]);
    assert_eq!(ends(&nothing).await.last().unwrap(), "long-running AssetService/ExportAssets INTERNAL 2");
}
