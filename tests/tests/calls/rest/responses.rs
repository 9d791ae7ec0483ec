//! Heads and bodies of responses and requests: statuses, headers, compression.

use flate2::Compression;
use flate2::write::GzEncoder;
use gax_rest::{RestOptions, RestTransport};
use std::io::Write as _;
use tonic::{Code, Request};
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::everything_service_gax::{
    EverythingServiceClient, EverythingServiceSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::{Everything, Flat};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{
    GetByUserRequest, GetNamedRequest, Message,
};
use tonic_gax_tests::{RestReply, RestServer};

fn client(server: &RestServer, options: RestOptions) -> MessagingClient<RestTransport<RestServer>> {
    let options = options.origin("http://example.com".parse().unwrap());
    MessagingClient::rest_with_options(server.clone(), MessagingSettings::default(), options).unwrap()
}

fn request() -> GetNamedRequest {
    GetNamedRequest { name: "messages/1".to_owned(), force: false }
}

#[tokio::test]
async fn any_2xx_is_success() {
    for status in [200, 201, 202, 203, 206, 226] {
        let server = RestServer::new([RestReply::new(status, r#"{"text":"a"}"#)]);
        let response = client(&server, RestOptions::new()).get_named(request()).await.unwrap();
        assert_eq!(response.get_ref().text, "a", "{status}");
    }
    let server = RestServer::new([RestReply::new(204, ""), RestReply::ok(""), RestReply::ok("{}")]);
    let client = client(&server, RestOptions::new());
    assert_eq!(client.get_named(request()).await.unwrap().into_inner(), Message::default());
    // A message without fields needs no body.
    client.cancel(request()).await.unwrap();
    client.cancel(request()).await.unwrap();
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_response_without_a_body_is_never_compressed() {
    let blank = |status| RestReply::new(status, "").header("content-encoding", "gzip");
    let server = RestServer::new([blank(204), blank(200), blank(200), blank(404)]);
    let client = client(&server, RestOptions::new());
    assert_eq!(client.get_named(request()).await.unwrap().into_inner(), Message::default());
    client.cancel(request()).await.unwrap();
    let user = GetByUserRequest { user_id: "me".to_owned(), ..GetByUserRequest::default() };
    assert_eq!(client.watch(user).await.unwrap().into_inner().message().await.unwrap(), None);
    assert_eq!(client.get_named(request()).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn metadata_goes_through_a_grpc_gateway() {
    let reply = RestReply::ok("{}").header("grpc-metadata-x-own", "a").header("grpc-trailer-x-late", "b");
    let server = RestServer::new([reply.header("grpc-message", "nothing")]);
    let mut call = Request::new(request());
    call.metadata_mut().insert("grpc-metadata-x-mine", "c".parse().unwrap());
    let response = client(&server, RestOptions::new()).get_named(call).await.unwrap();
    let of = |name: &str| response.metadata().get(name).and_then(|value| value.to_str().ok());
    assert_eq!((of("grpc-metadata-x-own"), of("grpc-trailer-x-late")), (Some("a"), Some("b")));
    assert_eq!(of("grpc-message"), None);
    assert_eq!(server.requests()[0].header("grpc-metadata-x-mine"), Some("c"));
}

#[tokio::test]
async fn headers_of_the_response_are_metadata() {
    let reply = RestReply::ok("{}").header("x-own", "a").header("x-own", "b").header("grpc-status", "5");
    let server = RestServer::new([reply]);
    let response = client(&server, RestOptions::new()).get_named(request()).await.unwrap();
    let own: Vec<_> = response.metadata().get_all("x-own").iter().collect();
    assert_eq!(own, ["a", "b"]);
    assert!(
        response.metadata().get("content-length").is_none()
            && response.metadata().get("grpc-status").is_none()
    );
}

#[tokio::test]
async fn requests_have_the_callers_headers_and_none_of_grpcs() {
    let server = RestServer::new([]);
    let client = client(&server, RestOptions::new());
    let mut call = Request::new(request());
    call.metadata_mut().insert("authorization", "Bearer t".parse().unwrap());
    call.metadata_mut().insert("x-goog-api-client", "mine/1 grpc/9".parse().unwrap());
    client.get_named(call).await.unwrap();
    client.update_all(Message { message_id: "1".to_owned(), ..Message::default() }).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer t"));
    let version =
        requests[0].header("x-goog-api-client").and_then(|value| value.strip_prefix("mine/1 rest/"));
    assert!(version.is_some_and(|version| version.starts_with("0.")), "{version:?}");
    assert_eq!(requests[0].header("accept-encoding"), Some("gzip"));
    let content_types = requests.iter().map(|request| request.header("content-type")).collect::<Vec<_>>();
    assert_eq!(content_types, [None, Some("application/json")]);
    for request in &requests {
        let names: Vec<&str> = request.headers.keys().map(http::HeaderName::as_str).collect();
        assert!(!names.iter().any(|name| name.starts_with("grpc-") || *name == "te"), "{names:?}");
    }
}

#[tokio::test]
async fn googles_servers_learn_who_calls_and_what() {
    let server = RestServer::new([]);
    let client = EverythingServiceClient::rest(server.clone(), EverythingServiceSettings::default());
    client.query(Flat { name: "things/1".to_owned(), ..Flat::default() }).await.unwrap();
    let request = server.requests().remove(0);
    let sent = request.header("x-goog-api-client").unwrap();
    let tokens: Vec<&str> = sent.split(' ').map(|token| token.split('/').next().unwrap()).collect();
    assert_eq!(tokens, ["gl-rust", "gax", "gapic", "rest"], "{sent}");
    assert_eq!(request.header("x-goog-request-params"), Some("name=things%2F1"));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn compressed_responses_are_unpacked() {
    let packed = |status, text| RestReply::new(status, gzip(text)).header("content-encoding", "gzip").cut(3);
    let error = packed(404, r#"{"error":{"message":"not here"}}"#);
    let server = RestServer::new([
        packed(200, r#"{"text":"é"}"#),
        error,
        packed(200, r#"[{"text":"a"},{"text":"b"}]"#),
    ]);
    let client = client(&server, RestOptions::new());
    assert_eq!(client.get_named(request()).await.unwrap().get_ref().text, "é");
    assert_eq!(client.get_named(request()).await.unwrap_err().message(), "not here");
    let user = GetByUserRequest { user_id: "me".to_owned(), ..GetByUserRequest::default() };
    let mut stream = client.watch(user).await.unwrap().into_inner();
    let mut texts = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        texts.push(message.text);
    }
    assert_eq!(texts, ["a", "b"]);
}

#[tokio::test]
async fn compressed_responses_have_the_same_limits() {
    let bomb = gzip(&format!(r#"{{"text":"{}"}}"#, "a".repeat(1 << 20)));
    assert!(bomb.len() < 2000);
    let cut = gzip(r#"{"text":"a"}"#);
    let cut = cut[..cut.len() - 4].to_vec();
    for (body, encoding, code, message) in [
        (bomb, "gzip", Code::OutOfRange, "longer than max_response_bytes"),
        (cut, "gzip", Code::Unavailable, "the response is not valid gzip"),
        (b"<html>not at all</html>".to_vec(), "gzip", Code::Internal, "the response is not valid gzip"),
        (b"{}".to_vec(), "br", Code::Internal, "content-encoding \"br\", which was not requested"),
    ] {
        let replies = std::iter::repeat_n(RestReply::ok(body).header("content-encoding", encoding), 9);
        let server = RestServer::new(replies);
        let options = RestOptions::new().max_response_bytes(10_000).gzip(false);
        let mut call = Request::new(request());
        call.extensions_mut().insert(tonic_gax::CallOptions::new().max_attempts(1));
        let status = client(&server, options).get_named(call).await.unwrap_err();
        assert_eq!(status.code(), code, "{status:?}");
        assert!(status.message().contains(message), "{status:?}");
        assert_eq!(server.requests()[0].header("accept-encoding"), None);
    }
}

#[tokio::test]
async fn a_message_has_the_clients_own_limit_too() {
    let server = RestServer::new([RestReply::ok(format!(r#"{{"aString":"{}"}}"#, "a".repeat(2000)))]);
    let client = EverythingServiceClient::rest(server.clone(), EverythingServiceSettings::default());
    let status = client.max_decoding_message_size(1000).echo(Everything::default()).await.unwrap_err();
    assert_eq!((status.code(), server.requests().len()), (Code::OutOfRange, 1), "{status:?}");
}
