//! Switches of a client or layer, and what its public types promise.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::CallSettings;
use gax_client::OperationCallSettings;
use gax_client::{ResponseStream, StreamingCall, UnaryCall};
use gax_driver::Retryer;
use gax_retry::{Code, Compatibility, RetrySettings, StopReason};
use gax_table::RetryTable;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_gax::grpc::{ResponseBody, ResponseFuture};
use tonic_gax::{
    CallOptions, OperationError, OperationOptions, OperationReport, RequestExt as _, RetryLayer,
    RetryService, RetrySettingsBuilder, SettingsError,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::{Reply, Script, Setup, VirtualServer, error_report, ms, reported, spaced};

fn settings() -> RetrySettings {
    spaced(100, 9000).to_builder().max_attempts(4).build().unwrap()
}

fn listing(options: CallOptions) -> Request<ListAssetsRequest> {
    Request::new(ListAssetsRequest::default()).with_call_options(options)
}

/// The service has one type, whether it retries or not.
fn layered(server: &VirtualServer, setup: &Setup, retries: bool) -> TonicClient<RetryService<Channel>> {
    TonicClient::new(
        setup.layer().options(OperationOptions::new().retries_enabled(retries)).layer(server.channel()),
    )
}

#[tokio::test(start_paused = true)]
async fn retries_are_switched_off_and_deadlines_stay() {
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let setup = Setup::new(settings()).compatible(compatibility);
        let timeout = if compatibility == Compatibility::Grpc { 9000 } else { 1000 };
        for retries in [false, true] {
            let attempts = if retries { 4 } else { 1 };
            let server = VirtualServer::start(Script::always(Reply::unavailable()));
            let status = layered(&server, &setup, retries).list_assets(ListAssetsRequest::default()).await;
            let report = error_report(&status.unwrap_err());
            assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{compatibility:?}");
            assert_eq!((report.attempt_count(), server.seen().len()), (attempts, attempts as usize));
            assert_eq!(server.seen()[0], (0, Some(timeout)), "{compatibility:?}");

            let server = VirtualServer::start(Script::always(Reply::unavailable()));
            let client = setup.client().with_options(OperationOptions::new().retries_enabled(retries));
            let client = AssetServiceClient::with_settings(server.channel(), client);
            let options = CallOptions::new().max_attempts(4);
            let report = error_report(&client.list_assets(listing(options)).await.unwrap_err());
            assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{compatibility:?}");
            assert_eq!((report.attempt_count(), server.seen().len()), (attempts, attempts as usize));
        }
    }
}

/// A closure is called once, and keeps its timeout and its report.
#[tokio::test(start_paused = true)]
async fn retries_of_closures_are_switched_off() {
    for (retries, attempts) in [(false, 1), (true, 4)] {
        let retryer = Retryer::new(&settings(), [Code::Unavailable, Code::DeadlineExceeded]);
        let retryer = retryer.options(OperationOptions::new().retries_enabled(retries));
        let error = retryer.run(|_| std::future::pending::<Result<(), Status>>()).await.unwrap_err();
        let report = error.report();
        assert_eq!((report.attempt_count(), report.stop_reason()), (attempts, Some(StopReason::MaxAttempts)));
        assert_eq!(report.attempts()[0].end(), ms(1000));
        let error = retryer.run_blocking(|_| Err::<(), _>(Status::data_loss(""))).unwrap_err();
        assert_eq!(error.report().attempt_count(), 1);
    }
}

/// `google.rpc.RetryInfo` and pushback are heeded as the compatibility says, unless a switch says otherwise.
#[tokio::test(start_paused = true)]
async fn delays_that_servers_ask_for_are_switched() {
    let pushback = || Reply::play_with(&[("grpc-status", "14"), ("grpc-retry-pushback-ms", "700")], []);
    for (compatibility, switch, second) in [
        (Compatibility::Documented, None, 700),
        (Compatibility::Documented, Some(false), 100),
        (Compatibility::GaxJava, None, 100),
        (Compatibility::GaxJava, Some(true), 700),
        (Compatibility::Grpc, None, 700),
        (Compatibility::Grpc, Some(false), 100),
    ] {
        let setup = Setup::new(settings()).compatible(compatibility);
        let server = VirtualServer::start(Script::of([(ms(0), pushback())]));
        let options = switch.into_iter().fold(OperationOptions::new(), OperationOptions::server_delays);
        let layer = setup.layer().options(options.clone());
        TonicClient::new(layer.layer(server.channel()))
            .list_assets(ListAssetsRequest::default())
            .await
            .unwrap();
        assert_eq!(server.seen()[1].0, second, "{compatibility:?} {switch:?}");

        let server = VirtualServer::start(Script::of([(ms(0), pushback())]));
        let client = setup.client().with_options(options);
        let client = AssetServiceClient::with_settings(server.channel(), client);
        client.list_assets(ListAssetsRequest::default()).await.unwrap();
        assert_eq!(server.seen()[1].0, second, "{compatibility:?} {switch:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_is_found_in_its_response() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let client = AssetServiceClient::with_settings(server.channel(), Setup::new(settings()).client());
    let response = client.list_assets(reported(ListAssetsRequest::default())).await.unwrap();
    let report = OperationReport::of(response.extensions()).unwrap();
    assert_eq!(report.attempts().iter().map(gax_retry::Attempt::code).collect::<Vec<_>>(), [Code::Ok]);
    let response = client.list_assets(ListAssetsRequest::default()).await.unwrap();
    assert!(OperationReport::of(response.extensions()).is_none());
}

#[test]
fn public_types_can_be_shared_and_sent() {
    fn shared<T: Send + Sync + Unpin + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<RetryLayer>();
    shared::<RetryService<Channel>>();
    shared::<RetryTable>();
    shared::<RetrySettings>();
    shared::<RetrySettingsBuilder>();
    shared::<SettingsError>();
    shared::<CallOptions>();
    shared::<CallSettings>();
    shared::<OperationCallSettings>();
    shared::<OperationReport>();
    shared::<OperationError>();
    shared::<AssetServiceStubSettings>();
    shared::<AssetServiceSettings>();
    shared::<AssetServiceClient<Channel>>();
    sent::<ResponseFuture<Channel>>();
    sent::<ResponseBody>();
    sent::<UnaryCall<Channel, ListAssetsResponse>>();
    sent::<StreamingCall<ResponseStream<ListAssetsResponse>>>();
    sent::<StreamingCall<ListAssetsResponse>>();
}

/// Types that are cloned or moved with each call stay small.
#[cfg(target_pointer_width = "64")]
#[test]
fn public_types_are_small() {
    let channel = size_of::<Channel>();
    assert!(size_of::<AssetServiceClient<Channel>>() <= channel + 16);
    assert!(size_of::<RetryService<Channel>>() <= channel + 8);
    assert!(size_of::<OperationError>() <= 24, "{}", size_of::<OperationError>());
    assert!(size_of::<CallOptions>() <= 320, "{}", size_of::<CallOptions>());
}
