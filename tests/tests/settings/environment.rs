//! Environment variables of operators.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_http::{HttpRetryLayer, presets};
use gax_retry::{Code, Compatibility, Environment, Hedging, RetrySettings, StopReason};
use http_body_util::Full;
use tonic::Request;
use tonic_gax::{CallOptions, OperationOptions, OperationReport, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Reply, Script, Setup, VirtualServer, error_report, ms, spaced,
};

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::from_variables(|name| {
        variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into())
    })
    .unwrap()
}

/// Four attempts, 100 ms apart, of a second each.
fn settings() -> RetrySettings {
    spaced(100, 60_000).to_builder().max_attempts(4).build().unwrap()
}

/// How many attempts a call makes and when it ends, by the generated client and by the layer.
async fn calls(
    setup: &Setup,
    environment: Environment,
    reply: Reply,
    options: &CallOptions,
) -> [(u32, u128); 2] {
    let request = || Request::new(ListAssetsRequest::default()).with_call_options(options.clone());
    let server = VirtualServer::start(Script::always(reply));
    let bounded = OperationOptions::new().environment(environment);
    let generated = setup.client().with_options(bounded.clone());
    let generated = AssetServiceClient::with_settings(server.channel(), generated);
    let layered = TonicClient::new(setup.layer().options(bounded).layer(server.channel()));
    let mut layered = layered;
    let reports = [
        error_report(&generated.list_assets(request()).await.unwrap_err()),
        error_report(&layered.list_assets(request()).await.unwrap_err()),
    ];
    reports.map(|report| (report.attempt_count(), report.elapsed().as_millis()))
}

#[tokio::test(start_paused = true)]
async fn retries_that_are_off_are_off_whatever_else_is_said() {
    let off = environment(&[("GAX_RETRIES", "off"), ("GAX_MAX_ATTEMPTS", "3")]);
    let hedging = Hedging::new(3).delay(ms(10)).non_fatal_codes(Code::Unavailable);
    for setup in [Setup::new(settings()), Setup::new(settings()).hedged(hedging)] {
        let options = CallOptions::new().retry_settings(settings()).max_attempts(5);
        let made = calls(&setup, off, Reply::unavailable(), &options).await;
        assert_eq!(made.map(|(attempts, _)| attempts), [1, 1]);
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_and_time_are_lowered_after_a_call_s_options() {
    let setup = Setup::new(settings());
    let lower = environment(&[("GAX_MAX_ATTEMPTS", "2"), ("GAX_TOTAL_TIMEOUT", "1500ms")]);
    let refused = Reply::unavailable;
    for options in [CallOptions::new(), CallOptions::new().max_attempts(9).timeout(ms(90_000))] {
        assert_eq!(calls(&setup, lower, refused(), &options).await, [(2, 100); 2]);
        // A second, 100 ms, and what is left.
        assert_eq!(calls(&setup, lower, Reply::Hang, &options).await, [(2, 1500); 2]);
    }
    // A lower limit stays.
    let options = CallOptions::new().max_attempts(1).timeout(ms(700));
    assert_eq!(calls(&setup, lower, Reply::Hang, &options).await, [(1, 700); 2]);
    let higher = environment(&[("GAX_MAX_ATTEMPTS", "9"), ("GAX_TOTAL_TIMEOUT", "9h")]);
    assert_eq!(calls(&setup, higher, refused(), &CallOptions::new()).await, [(4, 300); 2]);
}

#[tokio::test(start_paused = true)]
async fn time_is_lowered_by_every_rule_set() {
    let lower = environment(&[("GAX_TOTAL_TIMEOUT", "2500ms")]);
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let setup = Setup::new(settings()).compatible(compatibility);
        for (_, end) in calls(&setup, lower, Reply::Hang, &CallOptions::new()).await {
            assert!(end <= 2500, "{compatibility}: {end} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn http_requests_and_closures_are_bounded_as_well() {
    let lower = environment(&[("GAX_MAX_ATTEMPTS", "2")]);
    let get = || http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    let codes = [Code::Unavailable];
    for layer in [HttpRetryLayer::new(&settings(), codes), HttpRetryLayer::preset(&presets::storage())] {
        for (environment, attempts) in [(lower, 2), (environment(&[("GAX_RETRIES", "off")]), 1)] {
            let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(503)));
            let layer =
                layer.clone().options(OperationOptions::new().without_jitter().environment(environment));
            let client = layer.layer(FaultServer::full_client(connector));
            let mut request = get();
            request.extensions_mut().insert(CallOptions::new().max_attempts(7));
            let response = client.send(request).await.unwrap();
            let report = response.extensions().get::<OperationReport>().unwrap();
            assert_eq!(report.attempt_count(), attempts);
        }
    }

    let retryer = Retryer::new(&settings(), codes).options(OperationOptions::new().environment(lower));
    let failed = retryer.run(|_| async { Err::<(), _>(tonic::Status::unavailable("")) }).await.unwrap_err();
    assert_eq!(failed.report().attempt_count(), 2);
    assert_eq!(failed.report().stop_reason(), Some(StopReason::MaxAttempts));
}
