//! Settings that a user overrides: per client, for all calls of a kind, and per call.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, CodeSet, RetrySettings, StopReason};
use tonic::Request;
use tonic_gax::{CallOptions, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AnalyzeIamPolicyRequest, AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings,
    ExportAssetsRequest, ListAssetsRequest, SearchAllResourcesRequest,
};
use tonic_gax_tests::{
    Reply, Script, Setup, Stack, VirtualServer, delays, error_report, ms, report_of, row, rows,
};

fn custom() -> RetrySettings {
    delays(200, 2.0)
        .max_retry_delay(ms(500))
        .initial_rpc_timeout(ms(1500))
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(ms(3000))
        .total_timeout(ms(5000))
        .build()
        .unwrap()
}

fn custom2() -> RetrySettings {
    custom().to_builder().initial_rpc_timeout(ms(500)).max_rpc_timeout(ms(2000)).build().unwrap()
}

/// The sample of the documentation, as a user types it.
fn sample() -> AssetServiceSettings {
    let mut settings = AssetServiceStubSettings::builder();
    settings.export_assets().set_retry_settings(custom()).set_retryable_codes([Code::DeadlineExceeded]);
    settings.list_assets().set_retry_settings(custom2()).set_retryable_codes([Code::Unavailable]);
    AssetServiceSettings::create(settings.build().unwrap())
}

#[tokio::test(start_paused = true)]
async fn export_assets_follows_the_first_override() {
    let server = VirtualServer::start(Script::always(Reply::Hang));
    let client = AssetServiceClient::with_settings(server.channel(), sample());
    let status = client.export_assets(ExportAssetsRequest::default()).await.unwrap_err();
    let report = error_report(&status);
    let late = Code::DeadlineExceeded;
    assert_eq!(rows(&report), [row(1, 1500, 0, 0, 1500, late), row(2, 3000, 200, 1700, 4700, late)]);
    assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(report.method(), "/google.cloud.asset.v1.AssetService/ExportAssets");
    assert_eq!(server.seen(), [(0, Some(1500)), (1700, Some(3000))]);
}

#[tokio::test(start_paused = true)]
async fn a_code_that_an_override_leaves_out_is_not_retried() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let client = AssetServiceClient::with_settings(server.channel(), sample());
    let status = client.export_assets(ExportAssetsRequest::default()).await.unwrap_err();
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
    assert_eq!(server.seen(), [(0, Some(1500))]);

    let server = VirtualServer::start(Script::always(Reply::Hang));
    let client = AssetServiceClient::with_settings(server.channel(), sample());
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
    assert_eq!(server.seen(), [(0, Some(500))]);
}

#[tokio::test(start_paused = true)]
async fn list_assets_follows_the_second_override() {
    let outage = [(ms(300), Reply::unavailable()), (ms(0), Reply::unavailable())];
    let server = VirtualServer::start(Script::of(outage));
    let client = AssetServiceClient::with_settings(server.channel(), sample());
    let request = ListAssetsRequest { page_token: "next".to_owned(), ..ListAssetsRequest::default() };
    let response = client.list_assets(request).await;
    let table = [
        row(1, 500, 0, 0, 300, Code::Unavailable),
        row(2, 1000, 200, 500, 500, Code::Unavailable),
        row(3, 2000, 400, 900, 900, Code::Ok),
    ];
    assert_eq!(rows(&report_of(&response)), table);
    assert_eq!(report_of(&response).stop_reason(), None);
    assert_eq!(response.unwrap().into_inner().next_page_token, "next");
    assert_eq!(server.seen(), [(0, Some(500)), (500, Some(1000)), (900, Some(2000))]);
}

#[tokio::test(start_paused = true)]
async fn other_rpcs_keep_what_the_table_says() {
    let settings = sample();
    let server = VirtualServer::start(Script::always(Reply::code(tonic::Code::Internal)));
    let client = AssetServiceClient::with_settings(server.channel(), settings);
    client.search_all_resources(SearchAllResourcesRequest::default()).await.unwrap_err();
    client.analyze_iam_policy(AnalyzeIamPolicyRequest::default()).await.unwrap_err();
    assert_eq!(server.seen(), [(0, Some(30_000)), (0, Some(300_000))]);

    let mut built = AssetServiceStubSettings::builder();
    built.export_assets().set_retry_settings(custom());
    let built = built.build().unwrap();
    let defaults = AssetServiceStubSettings::default();
    assert_eq!(built.export_assets().retry_settings(), &custom());
    assert_eq!(built.list_assets(), defaults.list_assets());
    assert_eq!(built.analyze_iam_policy(), defaults.analyze_iam_policy());
    let codes = [Code::DeadlineExceeded, Code::Unavailable];
    assert_eq!(defaults.list_assets().retryable_codes(), CodeSet::from(codes));
    assert_eq!(defaults.export_assets().retryable_codes(), CodeSet::EMPTY);
    assert_eq!(defaults.export_assets().retry_settings().total_timeout(), Some(ms(60_000)));
}

#[tokio::test(start_paused = true)]
async fn one_change_applies_to_all_unary_methods() {
    let mut settings = AssetServiceStubSettings::builder();
    settings.apply_to_all_unary_methods(|call| {
        call.set_simple_timeout_no_retries(ms(5000));
    });
    let settings = AssetServiceSettings::create(settings.build().unwrap());
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let client = AssetServiceClient::with_settings(server.channel(), settings);
    client.export_assets(ExportAssetsRequest::default()).await.unwrap_err();
    client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    client.analyze_iam_policy(AnalyzeIamPolicyRequest::default()).await.unwrap_err();
    assert_eq!(server.seen(), [(0, Some(5000)); 3]);
}

fn listing(options: CallOptions) -> Request<ListAssetsRequest> {
    Request::new(ListAssetsRequest::default()).with_call_options(options)
}

#[tokio::test(start_paused = true)]
async fn a_call_may_bring_settings_and_codes_of_its_own() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::code(tonic::Code::Aborted)));
        let mut caller = stack.caller(server.channel(), &Setup::new(custom()));
        let own = delays(50, 1.0).total_timeout(ms(900)).max_attempts(3).build().unwrap();
        let options = CallOptions::new().retry_settings(own).retryable_codes([Code::Aborted]);
        let report = report_of(&caller.list(listing(options)).await);
        assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(900)), (50, Some(850)), (100, Some(800))], "{stack:?}");

        // The next call has the client's settings again.
        let report = report_of(&caller.list(ListAssetsRequest::default()).await);
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{stack:?}");
        assert_eq!(server.seen().last(), Some(&(100, Some(1500))), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_try_may_get_another_timeout_than_the_settings_give() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(server.channel(), &Setup::new(custom()));
        let options = CallOptions::new().attempt_timeout(ms(2000));
        let report = report_of(&caller.list(listing(options)).await);
        let late = Code::DeadlineExceeded;
        let table = [
            row(1, 2000, 0, 0, 2000, late),
            row(2, 2000, 200, 2200, 4200, late),
            row(3, 400, 400, 4600, 5000, late),
        ];
        assert_eq!(rows(&report), table, "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(2000)), (2200, Some(2000)), (4600, Some(400))], "{stack:?}");
    }
}

/// Settings that can't work are refused where they are set, RPC by RPC; a table's are not the program's fault.
#[test]
fn settings_in_code_that_can_t_work_are_refused() {
    assert!(AssetServiceStubSettings::builder().build().is_ok());
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets()
        .set_retry_settings(RetrySettings::default())
        .set_retryable_codes([tonic::Code::Unavailable, tonic::Code::Aborted]);
    stub.get_feed().set_retryable_codes([14, 17]);
    stub.delete_feed().set_retryable_codes(Code::Ok);
    stub.export_assets().set_retry_settings(RetrySettings::default());
    let unbounded = RetrySettings::builder().initial_retry_delay(ms(1000)).build().unwrap();
    stub.export_assets_operation().set_polling_settings(unbounded);
    let error = stub.build().unwrap_err();
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "ListAssets: retryable_codes is ABORTED, UNAVAILABLE, \
             but nothing is retried without a limit: set total_timeout or max_attempts",
            "GetFeed: retryable_codes is 17, but gRPC status codes are numbered from 0 to 16",
            "DeleteFeed: retryable_codes is OK, but OK is a success, which is never retried",
            "ExportAssets: polling_settings is without limits, \
             but nothing is polled without a limit: set total_timeout or max_attempts",
        ]
    );
    assert_eq!(error.problems()[0].rpc(), Some("ListAssets"));
}

#[test]
fn a_table_in_code_refuses_a_number_that_is_no_code() {
    let table = gax_table::RetryTable::builder().method("/a.B/C", custom(), [14, 99]);
    let error = table.build().unwrap_err().to_string();
    assert_eq!(
        error,
        "\"a.B/C\": \"99\" is not a gRPC status code (a name such as UNAVAILABLE, or a number from 0 to 16); \
         give codes from 0 to 16"
    );
}
