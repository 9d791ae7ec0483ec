//! Every attempt carries the caller's metadata and extensions, and whatever interceptors add.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, RetrySettings, StopReason};
use http::HeaderMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tonic::metadata::{Ascii, Binary, MetadataKey, MetadataMap, MetadataValue};
use tonic::service::interceptor::InterceptedService;
use tonic::{Extensions, GrpcMethod, Request, Status};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::{Reply, Script, Setup, Stack, Tap, VirtualServer, delays, error_report, ms, report_of};

fn settings() -> RetrySettings {
    delays(200, None)
        .initial_rpc_timeout(ms(1000))
        .rpc_timeout_multiplier(2.0)
        .total_timeout(ms(10_000))
        .build()
        .unwrap()
}

fn two_failures() -> VirtualServer {
    VirtualServer::start(Script::at_once([Reply::unavailable(), Reply::unavailable()]))
}

/// Puts another token into each request it sees.
fn fresh_tokens() -> impl FnMut(Request<()>) -> Result<Request<()>, Status> + Clone + Send + Sync + 'static {
    let number = Arc::new(AtomicU32::new(0));
    move |mut request: Request<()>| {
        let token = format!("token {}", number.fetch_add(1, Ordering::Relaxed) + 1);
        request.metadata_mut().insert("authorization", token.parse().unwrap());
        Ok(request)
    }
}

fn tokens(server: &VirtualServer) -> Vec<String> {
    let arrivals = server.log().arrivals();
    arrivals.iter().map(|arrival| arrival.header("authorization").unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn inside_the_layer_an_interceptor_runs_once_per_attempt() {
    for stack in Stack::ALL {
        let server = two_failures();
        let channel = InterceptedService::new(server.channel(), fresh_tokens());
        let mut caller = stack.caller(channel, &Setup::new(settings()));
        caller.list(ListAssetsRequest::default()).await.unwrap();
        assert_eq!(tokens(&server), ["token 1", "token 2", "token 3"], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_generated_client_s_interceptor_is_inside() {
    let server = two_failures();
    let client = AssetServiceClient::with_interceptor(server.channel(), fresh_tokens());
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    assert_eq!(tokens(&server), ["token 1", "token 2", "token 3"]);
}

#[tokio::test(start_paused = true)]
async fn outside_the_layer_an_interceptor_runs_once_per_operation() {
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let server = two_failures();
        let mut client = TonicClient::with_interceptor(layer.layer(server.channel()), fresh_tokens());
        client.list_assets(ListAssetsRequest::default()).await.unwrap();
        assert_eq!(tokens(&server), ["token 1"; 3]);
        client.list_assets(ListAssetsRequest::default()).await.unwrap();
        assert_eq!(tokens(&server), ["token 1", "token 1", "token 1", "token 2"]);
    }
}

/// An interceptor's status is a reply, and retried by its code.
#[tokio::test(start_paused = true)]
async fn an_interceptor_may_fail_an_attempt() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let moody = move |request: Request<()>| match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Status::unavailable("no token yet")),
            1 => Ok(request),
            _ => Err(Status::unauthenticated("no token any more")),
        };
        let channel = InterceptedService::new(server.channel(), moody);
        let mut caller = stack.caller(channel, &Setup::new(settings()));
        let result = caller.list(ListAssetsRequest::default()).await;
        assert_eq!(report_of(&result).attempts().len(), 2, "{stack:?}");
        let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(status.message(), "no token any more", "{stack:?}");
        assert_eq!(status.code(), tonic::Code::Unauthenticated, "{stack:?}");
        assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable), "{stack:?}");
        assert_eq!((calls.load(Ordering::Relaxed), server.seen().len()), (3, 1), "{stack:?}");
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Tenant(&'static str);

fn request() -> Request<ListAssetsRequest> {
    let mut request = Request::new(ListAssetsRequest::default());
    let metadata = request.metadata_mut();
    metadata.insert("x-one", "1".parse().unwrap());
    metadata.append("x-many", "a".parse().unwrap());
    metadata.append("x-many", "b".parse().unwrap());
    metadata.append("x-many", "a".parse().unwrap());
    metadata.insert_bin("x-bytes-bin", MetadataValue::<Binary>::from_bytes(&[0, 255, 7]));
    // These belong to the protocol, and are not the caller's to send.
    metadata.insert("grpc-status", "0".parse().unwrap());
    metadata.insert("grpc-message", "hello".parse().unwrap());
    request.extensions_mut().insert(Tenant("acme"));
    request
}

/// The second of the day may change between two calls, where a server sends it.
fn without_date(metadata: MetadataMap) -> HeaderMap {
    let mut headers = metadata.into_headers();
    headers.remove("date");
    headers
}

fn without_own(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove("grpc-timeout");
    headers.remove("grpc-previous-rpc-attempts");
    headers
}

#[tokio::test(start_paused = true)]
async fn metadata_and_extensions_reach_every_attempt() {
    for stack in Stack::ALL {
        let server = two_failures();
        let tap = Tap::new(server.channel());
        let mut caller = stack.caller(tap.clone(), &Setup::new(settings()));
        caller.list(request()).await.unwrap();

        let (sent, arrivals) = (tap.sent(), server.log().arrivals());
        assert_eq!((sent.len(), arrivals.len()), (3, 3), "{stack:?}");
        for (attempt, arrival) in sent.iter().zip(&arrivals) {
            assert_eq!(attempt.extensions.get::<Tenant>(), Some(&Tenant("acme")), "{stack:?}");
            let method = attempt.extensions.get::<GrpcMethod<'static>>().unwrap();
            assert_eq!(method.service(), "google.cloud.asset.v1.AssetService");
            assert_eq!(method.method(), "ListAssets");
            assert_eq!(attempt.uri.path(), "/google.cloud.asset.v1.AssetService/ListAssets");

            let headers = MetadataMap::from_headers(arrival.headers.clone());
            assert_eq!(headers.get("x-one").unwrap(), "1");
            assert_eq!(headers.get_all("x-many").iter().collect::<Vec<_>>(), ["a", "b", "a"]);
            assert_eq!(headers.get_bin("x-bytes-bin").unwrap().to_bytes().unwrap().as_ref(), [0, 255, 7]);
            assert!(!arrival.headers.contains_key("grpc-status"), "{stack:?}");
            assert!(!arrival.headers.contains_key("grpc-message"), "{stack:?}");
            assert_eq!(arrival.header("te"), Some("trailers"));
            assert_eq!(arrival.header("content-type"), Some("application/grpc"));
            assert_eq!(without_own(&arrival.headers), without_own(&arrivals[0].headers), "{stack:?}");
        }
        let timeouts: Vec<_> = arrivals.iter().map(|arrival| arrival.timeout().unwrap()).collect();
        assert_eq!(timeouts, [1000, 2000, 4000], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_extension_that_names_the_method_can_be_left_out() {
    let server = two_failures();
    let tap = Tap::new(server.channel());
    let settings = Setup::new(settings()).client().with_method_extension(false);
    let client = AssetServiceClient::with_settings(tap.clone(), settings);
    client.list_assets(request()).await.unwrap();
    assert_eq!(tap.sent().len(), 3);
    for attempt in tap.sent() {
        assert!(attempt.extensions.get::<GrpcMethod<'static>>().is_none());
        assert_eq!(attempt.extensions.get::<Tenant>(), Some(&Tenant("acme")));
    }
}

#[tokio::test(start_paused = true)]
async fn the_generated_client_sends_what_tonic_s_client_sends() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    TonicClient::new(server.channel()).list_assets(request()).await.unwrap();
    for stack in Stack::ALL {
        stack.caller(server.channel(), &Setup::new(settings())).list(request()).await.unwrap();
    }
    let arrivals = server.log().arrivals();
    for arrival in &arrivals {
        assert_eq!(without_own(&arrival.headers), without_own(&arrivals[0].headers));
        assert_eq!(arrival.body, arrivals[0].body);
    }
}

#[tokio::test(start_paused = true)]
async fn an_origin_stands_before_the_method_s_path() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let tap = Tap::new(server.channel());
    let setup = Setup::new(settings());
    let client = AssetServiceClient::with_settings(tap.clone(), setup.client())
        .with_origin(&"https://example.test:8443/prefix".parse().unwrap());
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    let method = "/prefix/google.cloud.asset.v1.AssetService/ListAssets";
    assert_eq!(error_report(&status).method(), method);
    assert!(tap.sent().len() > 2);
    for attempt in tap.sent() {
        let expected = "https://example.test:8443/prefix/google.cloud.asset.v1.AssetService/ListAssets";
        assert_eq!(attempt.uri, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_keeps_its_code_message_details_and_metadata() {
    let mut sent = Status::with_details(tonic::Code::Aborted, "conflict: \u{e9}", vec![1, 2, 3].into());
    let key = MetadataKey::<Ascii>::from_static("x-reason");
    sent.metadata_mut().insert(key, "lock".parse().unwrap());
    sent.metadata_mut().insert_bin("x-bytes-bin", MetadataValue::<Binary>::from_bytes(&[9, 0]));
    let head = [("x-served-by", "7")];
    let in_trailers = Reply::play_with(&head, [tonic_gax_tests::BodyPart::status(&sent)]);
    for reply in [Reply::status(sent.clone()), in_trailers] {
        let server = VirtualServer::start(Script::always(reply.clone()));
        let expected =
            TonicClient::new(server.channel()).list_assets(ListAssetsRequest::default()).await.unwrap_err();
        for stack in Stack::ALL {
            let script = Script::at_once([Reply::unavailable()]).then_always(ms(0), reply.clone());
            let server = VirtualServer::start(script);
            let status = stack.list(server.channel(), &Setup::new(settings())).await.unwrap_err();
            assert_eq!((status.code(), status.message()), (sent.code(), sent.message()), "{stack:?}");
            assert_eq!(status.details(), [1, 2, 3], "{stack:?}");
            assert_eq!(
                status.metadata().clone().into_headers(),
                expected.metadata().clone().into_headers(),
                "{stack:?}"
            );
            let codes: Vec<_> =
                error_report(&status).attempts().iter().map(gax_retry::Attempt::code).collect();
            assert_eq!(codes, [Code::Unavailable, Code::Aborted], "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_keeps_its_metadata_trailers_and_message_and_a_generated_client_leaves_out_the_status() {
    let page = tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsResponse {
        next_page_token: "next".to_owned(),
        ..Default::default()
    };
    let status = ("grpc-status", "0");
    let head = [("x-served-by", "7"), ("x-both", "head"), status];
    for (head, trailers) in [
        (&head[..2], vec![status, ("x-cost", "12"), ("x-both", "trailers")]),
        (&head[..2], vec![status]),
        (&head[..], vec![status]),
    ] {
        let beats =
            [tonic_gax_tests::BodyPart::message(&page), tonic_gax_tests::BodyPart::trailers(&trailers)];
        let reply = Reply::play_with(head, beats);
        let server = VirtualServer::start(Script::always(reply.clone()));
        let expected =
            TonicClient::new(server.channel()).list_assets(ListAssetsRequest::default()).await.unwrap();
        let (metadata, _, no_extensions) = expected.into_parts();
        assert_eq!(no_extensions.len(), 0);
        for stack in Stack::ALL {
            let script = Script::at_once([Reply::unavailable()]).then_always(ms(0), reply.clone());
            let server = VirtualServer::start(script);
            let mut caller = stack.caller(server.channel(), &Setup::new(settings()));
            let (got, message, extensions): (_, _, Extensions) =
                caller.list(ListAssetsRequest::default()).await.unwrap().into_parts();
            assert_eq!(message, page, "{stack:?}");
            let mut expected = without_date(metadata.clone());
            assert_eq!(expected["grpc-status"], "0");
            if stack == Stack::Generated {
                expected.remove("grpc-status");
            }
            assert_eq!(without_date(got), expected, "{stack:?}");
            assert_eq!(extensions.len(), 1, "the report: {stack:?}");
        }
    }
}
