//! The names that people type, each as they would.

use gax_driver::Retryer;
use gax_driver::report::AttemptKind;
use gax_http::{HttpCallOptions, HttpRetryLayer, ReplayBody, ReqwestService, presets};
use gax_table::RetryTable;
use std::io;
use std::time::Duration;
use tonic_gax::settings::IntoCodes as _;
use tonic_gax::{
    CallOptions, Code, CodeExt as _, CodeSet, Compatibility, OperationError, OperationOptions,
    OperationReport, ReplayOptions, RequestExt as _, RetryLayer, RetrySettings, StartedAttempt, StopReason,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest,
};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, ms};

#[tokio::test(start_paused = true)]
async fn options_of_a_call_in_any_order() {
    let options = CallOptions::new()
        .report(true)
        .max_retry_delay(ms(300))
        .retry_delay_multiplier(3.0)
        .initial_retry_delay(ms(100))
        .max_attempts(3)
        .attempt_timeout(ms(1000))
        .timeout(ms(5000));
    let lifted = CallOptions::new().without_timeout().without_attempt_timeout().without_max_attempts();
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let mut caller =
        Stack::Generated.caller(server.channel(), &Setup::new(RetrySettings::no_retry(ms(60_000))));
    let request = tonic::Request::new(ListAssetsRequest::default());
    let status = caller.list(request.with_call_options(options)).await.unwrap_err();
    let error = OperationError::of(&status).unwrap();
    assert_eq!((error.stop_reason(), error.report().attempt_count()), (Some(StopReason::MaxAttempts), 3));
    for once in [CallOptions::new().without_retries(), lifted] {
        let request = tonic::Request::new(ListAssetsRequest::default());
        let status = caller.list(request.with_call_options(once)).await.unwrap_err();
        assert_eq!(OperationError::of(&status).unwrap().report().attempt_count(), 1);
    }
}

#[test]
fn codes_of_tonic_and_ours() {
    assert_eq!(
        (tonic::Code::Aborted.to_gax(), Code::Aborted.to_tonic()),
        (Code::Aborted, tonic::Code::Aborted)
    );
    let ours = [Code::Aborted, Code::Unavailable].into_codes().unwrap();
    assert_eq!([tonic::Code::Aborted, tonic::Code::Unavailable].into_codes().unwrap(), ours);
    assert_eq!(vec![10, 14].into_codes().unwrap(), ours);
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets().set_retryable_codes([tonic::Code::Unavailable]);
    stub.export_assets().set_retryable_codes(CodeSet::EMPTY);
    let options = CallOptions::new().retryable_codes([tonic::Code::Unavailable]);
    drop((stub.build().unwrap(), options));
}

#[test]
fn setters_of_layers_and_settings() {
    let options = OperationOptions::new().server_delays(true).nested_retries(false);
    let layer = RetryLayer::new(RetryTable::parse(r#"{"methodConfig": []}"#).unwrap())
        .options(OperationOptions::new().compatibility(Compatibility::Grpc))
        .replay(ReplayOptions::new().without_replay_limit().previous_attempts_header(false))
        .options(OperationOptions::new().reports(true).retries_enabled(false))
        .options(options.clone());
    let settings = AssetServiceSettings::create(AssetServiceStubSettings::builder().build().unwrap())
        .with_options(OperationOptions::new().compatibility(Compatibility::Grpc))
        .with_replay(ReplayOptions::new().max_replay_bytes(0))
        .with_options(OperationOptions::new().reports(true).retries_enabled(false))
        .with_options(options);
    drop((layer, settings));
}

#[tokio::test(start_paused = true)]
async fn reports_are_found() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let mut caller =
        Stack::Generated.caller(server.channel(), &Setup::new(RetrySettings::no_retry(ms(60_000))));
    let request = tonic::Request::new(ListAssetsRequest::default());
    let response = caller.list(request.with_call_options(CallOptions::new().report(true))).await.unwrap();
    assert_eq!(OperationReport::of(response.extensions()).unwrap().attempt_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn http_without_a_trait_dance() {
    let settings = RetrySettings::builder().max_attempts(2).build().unwrap();
    let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(503)));
    let client = FaultServer::client::<ReplayBody>(connector);
    let client = HttpRetryLayer::new(&settings, tonic::Code::Unavailable).layer(client);
    let body = ReplayBody::from_async_fn(|| async { Ok::<_, io::Error>(String::from("from somewhere")) });
    let request = http::Request::put("http://server/thing")
        .extension(HttpCallOptions::new().max_response_buffer(0))
        .body(body)
        .unwrap();
    let response = client.send(request).await.unwrap();
    assert_eq!(OperationReport::of(response.extensions()).unwrap().attempt_count(), 2);
}

#[tokio::test]
async fn http_as_with_reqwest() {
    let (server, url) =
        FaultServer::on_socket(HttpScript::always(HttpAct::status(200).with_body("[1]"))).await;
    let client = ReqwestService::without_redirects(reqwest::Client::builder()).unwrap();
    let client = HttpRetryLayer::preset(&presets::docs().without_deadline().with_delay(ms(1), 2.0, ms(5)))
        .layer(client);
    let posted = client.post(&url).bearer_auth("token").json(&[1]).send().await.unwrap();
    assert_eq!(posted.json::<Vec<u32>>().await.unwrap(), [1]);
    let form = reqwest::multipart::Form::new().text("name", "value");
    client.post(&url).multipart(form).send().await.unwrap();
    let request = reqwest::Client::new().get(&url).build().unwrap();
    let response: reqwest::Response = client.execute(request).await.unwrap();
    assert_eq!((response.status().as_u16(), server.arrivals().len()), (200, 3));
}

#[tokio::test(start_paused = true)]
async fn closures_get_their_attempt() {
    let settings =
        RetrySettings::builder().max_attempts(2).initial_retry_delay(Duration::ZERO).build().unwrap();
    let retryer = Retryer::new(&settings, [Code::Unavailable]).attempt_timeout(ms(50));
    let second = |attempt: StartedAttempt| async move {
        match attempt.kind() {
            AttemptKind::Original => Err(tonic::Status::unavailable("")),
            _ => Ok(attempt.number()),
        }
    };
    assert_eq!(retryer.run(second).await.unwrap().into_value(), 2);
}

#[test]
fn generated_statics_read_as_settings() {
    let (_, codes) = AssetServiceStubSettings::retryable_code_definitions()[0];
    let (_, settings) = &AssetServiceStubSettings::retry_param_definitions()[0];
    let of_settings: &RetrySettings = settings;
    let own: CodeSet = codes;
    drop((of_settings.clone(), own, Line::default()));
}
