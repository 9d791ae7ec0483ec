//! Errors of servers and of what is below HTTP, and the attempts that follow.

use gax_rest::{RestOptions, RestTransport};
use prost::Message as _;
use std::io::ErrorKind;
use tonic::{Code, Request, Status};
use tonic_gax::{
    CallOptions, Code as GaxCode, Compatibility, Note, OperationError, OperationOptions, RequestExt as _,
    RetrySettings, StopReason,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings, MessagingStubSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{
    GetByUserRequest, GetNamedRequest, Message,
};
use tonic_gax_tests::{RestReply, RestServer, Row, error_report, ms, report_of, row, rows};

type Client = MessagingClient<RestTransport<RestServer>>;

/// A client without jitter.
fn client(server: &RestServer, compatibility: Compatibility) -> Client {
    client_with(server, compatibility, RestOptions::new())
}

fn client_with(server: &RestServer, compatibility: Compatibility, options: RestOptions) -> Client {
    let mut stub = MessagingStubSettings::builder();
    stub.apply_to_all_unary_methods(|call| {
        let settings = call.retry_settings().to_builder().jittered(false).build().unwrap();
        call.set_retry_settings(settings);
    });
    let settings = MessagingSettings::create(stub.build().unwrap())
        .with_options(OperationOptions::new().compatibility(compatibility));
    let options = options.origin("http://example.com".parse().unwrap());
    MessagingClient::rest_with_options(server.clone(), settings, options).unwrap()
}

fn request() -> GetNamedRequest {
    GetNamedRequest { name: "messages/1".to_owned(), force: false }
}

async fn call(client: &Client) -> Result<tonic::Response<Message>, Status> {
    client.get_named(Request::new(request()).with_call_options(CallOptions::new().report(true))).await
}

/// The status that a call of one attempt ends with.
async fn status_of(reply: RestReply) -> Status {
    status_by(reply, Compatibility::Documented).await
}

async fn status_by(reply: RestReply, compatibility: Compatibility) -> Status {
    let server = RestServer::new([reply]);
    let client = client(&server, compatibility);
    let options = CallOptions::new().retryable_codes([] as [GaxCode; 0]);
    client.get_named(Request::new(request()).with_call_options(options)).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn codes_are_those_of_the_http_status_where_the_body_names_none() {
    for (status, code) in [
        (300, Code::Unknown),
        (400, Code::InvalidArgument),
        (402, Code::FailedPrecondition),
        (401, Code::Unauthenticated),
        (403, Code::PermissionDenied),
        (404, Code::NotFound),
        (408, Code::FailedPrecondition),
        (409, Code::Aborted),
        (412, Code::FailedPrecondition),
        (416, Code::OutOfRange),
        (429, Code::ResourceExhausted),
        (499, Code::Cancelled),
        (500, Code::Internal),
        (501, Code::Unimplemented),
        (502, Code::Internal),
        (503, Code::Unavailable),
        (504, Code::DeadlineExceeded),
        (505, Code::Internal),
        (599, Code::Internal),
        (600, Code::Unknown),
        (999, Code::Unknown),
        (302, Code::Unknown),
        (304, Code::Unknown),
    ] {
        for (name, compatibility) in [
            ("NEW", Compatibility::Documented),
            ("OK", Compatibility::Documented),
            ("DATA_LOSS", Compatibility::GaxJava),
        ] {
            let body = format!(r#"{{"error":{{"code":418,"message":"so it is","status":"{name}"}}}}"#);
            let reply = RestReply::new(status, body).header("grpc-status", "0");
            let got = status_by(reply, compatibility).await;
            assert_eq!((got.code(), got.message()), (code, "so it is"), "{status} {name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_code_that_the_body_names_takes_precedence_over_the_http_status() {
    for (status, name, code) in [
        (409, "ALREADY_EXISTS", Code::AlreadyExists),
        (400, "FAILED_PRECONDITION", Code::FailedPrecondition),
        (400, "OUT_OF_RANGE", Code::OutOfRange),
        (500, "UNKNOWN", Code::Unknown),
        (500, "DATA_LOSS", Code::DataLoss),
        (502, "UNAVAILABLE", Code::Unavailable),
    ] {
        let body = format!(r#"{{"error":{{"code":{status},"message":"so it is","status":"{name}"}}}}"#);
        let got = status_of(RestReply::new(status, body)).await;
        assert_eq!((got.code(), got.message()), (code, "so it is"), "{status}");
    }
    // As over gRPC, it decides whether another attempt follows.
    for (name, count) in [("UNAVAILABLE", 2), ("INTERNAL", 1)] {
        let body = format!(r#"{{"error":{{"code":500,"status":"{name}"}}}}"#);
        let server = RestServer::new([RestReply::new(500, body)]);
        let (rows, ..) = attempts(&server, Compatibility::Documented).await;
        assert_eq!(rows.len(), count, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_no_errors_leave_the_status() {
    for body in ["", "<html>", "[]", "{}", "7", r#"{"error":"no object"}"#, r#"{"error":{"message":7}}"#] {
        let got = status_of(RestReply::new(404, body).header("x-seen", "yes")).await;
        assert_eq!(
            (got.code(), got.message()),
            (Code::NotFound, "the server replied with HTTP status 404 Not Found")
        );
        assert_eq!(got.metadata().get("x-seen").unwrap(), "yes");
    }
    let broken = RestReply::new(403, r#"{"error":{"message":"cut"#).broken();
    assert_eq!(status_of(broken).await.code(), Code::PermissionDenied);
    // More than is read of an error: the status is left.
    let huge = format!(r#"{{"error":{{"message":"{}"}}}}"#, "a".repeat(300_000));
    assert_eq!(
        status_of(RestReply::new(429, huge).cut(10_000)).await.message(),
        "the server replied with HTTP status 429 Too Many Requests"
    );
    let in_array = RestReply::new(403, r#"[{"error":{"message":"in an array"}}]"#);
    assert_eq!(status_of(in_array).await.message(), "in an array");
}

#[tokio::test(start_paused = true)]
async fn a_status_may_be_the_whole_body() {
    // As grpc-gateway and Envoy have it.
    let body = r#"{"code":5,"message":"no such book","details":[
        {"@type":"type.googleapis.com/google.rpc.ResourceInfo","resourceName":"books/1"}]}"#;
    let status = status_of(RestReply::new(404, body)).await;
    assert_eq!((status.code(), status.message()), (Code::NotFound, "no such book"));
    let details = RpcStatus::decode(status.details()).unwrap().details;
    assert_eq!(details[0].type_url, "type.googleapis.com/google.rpc.ResourceInfo");
    let exists = || RestReply::new(409, r#"{"code":6,"message":"there is one"}"#);
    let status = status_of(exists()).await;
    assert_eq!((status.code(), status.message()), (Code::AlreadyExists, "there is one"));
    assert_eq!(status_by(exists(), Compatibility::GaxJava).await.code(), Code::Aborted);
    // The error of an API that isn't one of Google's.
    let status = status_of(RestReply::new(403, r#"{"message":"Forbidden"}"#)).await;
    assert_eq!((status.code(), status.message()), (Code::PermissionDenied, "Forbidden"));
}

/// `google.rpc.Status`
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<prost_types::Any>,
}

#[tokio::test(start_paused = true)]
async fn details_are_those_of_the_body() {
    let body = r#"{"error":{"code":403,"message":"größer","details":[
        {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"OFF","domain":"a.b","metadata":{"k":"v"}},
        {"@type":"type.googleapis.com/nobody.knows.This","a":1},
        {"@type":"type.googleapis.com/rest.messaging.v1.Message","text":"one of ours"},
        {"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"f"}]}]}}"#;
    let status = status_of(RestReply::new(403, body)).await;
    assert_eq!(status.message(), "größer");
    let details = RpcStatus::decode(status.details()).unwrap();
    assert_eq!((details.code, &*details.message), (7, "größer"));
    let types: Vec<&str> =
        details.details.iter().map(|any| any.type_url.rsplit('/').next().unwrap()).collect();
    let ours = "rest.messaging.v1.Message";
    assert_eq!(types, ["google.rpc.ErrorInfo", "google.protobuf.Struct", ours, "google.rpc.BadRequest"]);
    // Of a type that the client doesn't know there is the JSON.
    let unknown = prost_types::Struct::decode(&*details.details[1].value).unwrap();
    assert_eq!(unknown.fields.keys().collect::<Vec<_>>(), ["@type", "a"]);
    let own = Message::decode(&*details.details[2].value).unwrap();
    assert_eq!(own.text, "one of ours");
    assert!(status_of(RestReply::new(403, "{}")).await.details().is_empty());
}

/// The attempts of a call, and how it ended.
async fn attempts(server: &RestServer, compatibility: Compatibility) -> (Vec<Row>, Option<StopReason>, Code) {
    let result = call(&client(server, compatibility)).await;
    let code = result.as_ref().map_or_else(Status::code, |_| Code::Ok);
    let report = report_of(&result);
    (rows(&report), report.stop_reason(), code)
}

#[tokio::test(start_paused = true)]
async fn retryable_statuses_are_retried_by_the_settings() {
    let server = RestServer::new([
        RestReply::new(503, "{}"),
        RestReply::new(504, "").after(ms(10)),
        RestReply::ok(r#"{"text":"at last"}"#),
    ]);
    let (rows, stop, code) = attempts(&server, Compatibility::Documented).await;
    let expected = [
        row(1, 5000, 0, 0, 0, GaxCode::Unavailable),
        row(2, 4900, 100, 100, 110, GaxCode::DeadlineExceeded),
        row(3, 4690, 200, 310, 310, GaxCode::Ok),
    ];
    assert_eq!((rows.as_slice(), stop, code), (&expected[..], None, Code::Ok));
    assert_eq!(server.lines(), ["GET /v1/messages/1"; 3]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_has_its_timeout_and_no_header_says_so() {
    let server = RestServer::new([RestReply::ok("{}").after(ms(60_000))]);
    let (rows, stop, code) = attempts(&server, Compatibility::Documented).await;
    assert_eq!(rows, [row(1, 5000, 0, 0, 5000, GaxCode::DeadlineExceeded)]);
    assert_eq!((stop, code), (Some(StopReason::TotalTimeout), Code::DeadlineExceeded));
    for name in server.requests()[0].headers.keys() {
        assert!(!name.as_str().contains("timeout") && !name.as_str().starts_with("grpc"), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn to_java_each_attempt_has_a_timer_of_its_own() {
    // GAX_JAVA 68: no server says this, and another attempt follows by the rules of gax-java.
    let server = RestServer::by(|_| RestReply::ok("{}").after(ms(60_000)));
    let retry = RetrySettings::builder()
        .initial_retry_delay(ms(200))
        .retry_delay_multiplier(2.0)
        .max_retry_delay(ms(500))
        .initial_rpc_timeout(ms(1500))
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(ms(3000))
        .total_timeout(ms(5000))
        .jittered(false)
        .build()
        .unwrap();
    let options = CallOptions::new().retry_settings(retry).retryable_codes([GaxCode::DeadlineExceeded]);
    let request = Request::new(request()).with_call_options(options);
    let status = client(&server, Compatibility::GaxJava).get_named(request).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let report = error_report(&status);
    let timed_out = GaxCode::DeadlineExceeded;
    assert_eq!(
        rows(&report),
        [row(1, 1500, 0, 0, 1500, timed_out), row(2, 3000, 200, 1700, 4700, timed_out)]
    );
    assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_unavailable() {
    for kind in [ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset, ErrorKind::UnexpectedEof] {
        let server = RestServer::new([RestReply::failure(kind)]);
        let (rows, stop, code) = attempts(&server, Compatibility::Documented).await;
        let codes: Vec<GaxCode> = rows.iter().map(|row| row.5).collect();
        assert_eq!(codes, [GaxCode::Unavailable, GaxCode::Ok], "{kind}");
        assert_eq!((stop, code), (None, Code::Ok));
    }
    let server = RestServer::new([RestReply::ok(r#"{"text":"#).broken()]);
    let (rows, ..) = attempts(&server, Compatibility::Documented).await;
    assert_eq!(rows.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn java_never_retries_a_broken_connection() {
    for reply in [RestReply::failure(ErrorKind::ConnectionRefused), RestReply::ok("{").broken()] {
        let server = RestServer::new([reply]);
        let client = client(&server, Compatibility::GaxJava);
        // Not even where the code is retryable.
        let options = CallOptions::new().retryable_codes([GaxCode::Unknown, GaxCode::Unavailable]);
        let status = client.get_named(Request::new(request()).with_call_options(options)).await.unwrap_err();
        assert_eq!((status.code(), server.requests().len()), (Code::Unknown, 1), "{status:?}");
        assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_cannot_be_read_is_final() {
    for (body, problem) in [
        ("<html>", "it is not JSON: expected value at line 1 column 1"),
        (r#"{"text":7}"#, "text: invalid type: integer `7`, expected a string at line 1 column 9"),
        (r#"{"text":"a"} x"#, "it is not JSON: trailing characters at line 1 column 14"),
        ("[]", "invalid type: sequence, expected a map at line 1 column 0"),
        (r#"{"number":"7x"}"#, "number: invalid digit found in string at line 1 column 14"),
        (r#"{"number":1.5}"#, "number: expected integer value at line 1 column 13"),
        (r#"{"text":"\ud800"}"#, "text: it is not JSON: unexpected end of hex escape at line 1 column 16"),
    ] {
        let server = RestServer::new([RestReply::ok(body)]);
        let client = client(&server, Compatibility::Documented);
        let options = CallOptions::new().retryable_codes([GaxCode::Internal]);
        let status = client.get_named(Request::new(request()).with_call_options(options)).await.unwrap_err();
        let expected = format!("the response is not a rest.messaging.v1.Message: {problem}");
        assert_eq!((status.code(), status.message()), (Code::Internal, &*expected));
        let error = OperationError::of(&status).unwrap();
        assert!(error.report().notes().contains(&Note::UNREADABLE_RESPONSE));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_cut_counts_as_a_broken_connection() {
    for body in [r#"{"text":"a"#, r#"{"text":"#, "{", ""] {
        let server = RestServer::new([RestReply::ok(body)]);
        let (rows, _, code) = attempts(&server, Compatibility::Documented).await;
        assert_eq!((rows[0].5, rows.len(), code), (GaxCode::Unavailable, 2, Code::Ok), "{body:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_field_as_response_is_json_by_itself() {
    for (body, code, problem) in [
        (r#"[{"text":"a"},"#, Code::Unavailable, "it ends too early"),
        ("", Code::Unavailable, "it ends too early"),
        (r#"[],"other":[]"#, Code::Internal, "it is not JSON: trailing characters"),
        ("[]}", Code::Internal, "it is not JSON: trailing characters"),
        (r#"[{"text":7}]"#, Code::Internal, "messages[0].text: invalid type: integer `7`"),
        (r#"{"messages":[]}"#, Code::Internal, "messages: invalid type: map, expected a list"),
    ] {
        let server = RestServer::new([RestReply::ok(body)]);
        let request = GetByUserRequest { user_id: "me".to_owned(), ..GetByUserRequest::default() };
        let options = CallOptions::new().retryable_codes([] as [GaxCode; 0]);
        let call =
            client(&server, Compatibility::Documented).list(Request::new(request).with_call_options(options));
        let status = call.await.unwrap_err();
        let expected = format!("the response is not a rest.messaging.v1.ListReply: {problem}");
        assert!(status.code() == code && status.message().starts_with(&expected), "{body}: {status:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn to_java_a_response_that_cannot_be_read_is_cancelled() {
    for body in ["<html>", r#"{"text":7}"#, "{"] {
        let server = RestServer::new([RestReply::ok(body)]);
        let (rows, _, code) = attempts(&server, Compatibility::GaxJava).await;
        assert_eq!((rows.len(), code), (1, Code::Cancelled), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_too_long_is_final() {
    let options = RestOptions::new().max_response_bytes(100);
    let long = format!(r#"{{"text":"{}"}}"#, "a".repeat(90));
    let server = RestServer::new([RestReply::ok(long.clone()).cut(7)]);
    let status = call(&client_with(&server, Compatibility::Documented, options.clone())).await.unwrap_err();
    let message = "the response is longer than max_response_bytes, which is 100";
    assert_eq!((status.code(), status.message()), (Code::OutOfRange, message));
    assert_eq!(server.requests().len(), 1);
    let fits = long.replacen('a', "", 1);
    assert_eq!(fits.len(), 100);
    let server = RestServer::new([RestReply::ok(fits)]);
    call(&client_with(&server, Compatibility::Documented, options)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for() {
    let server = RestServer::new([RestReply::new(503, "{}").header("retry-after", "2")]);
    let (rows, ..) = attempts(&server, Compatibility::Documented).await;
    // The delay and the back-off on top, without jitter.
    assert_eq!(rows[1], row(2, 2900, 2100, 2100, 2100, GaxCode::Ok));
    let server = RestServer::new([RestReply::new(503, "{}").header("retry-after", "60")]);
    let (rows, stop, code) = attempts(&server, Compatibility::Documented).await;
    assert_eq!(
        (rows.len(), stop, code),
        (1, Some(StopReason::ServerDelayExceedsTotalTimeout), Code::Unavailable)
    );
    // The body's own goes first.
    let body = r#"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.500s"}]}}"#;
    let server = RestServer::new([RestReply::new(503, body).header("retry-after", "2")]);
    let (rows, ..) = attempts(&server, Compatibility::Documented).await;
    assert_eq!(rows[1].2, 600);
}
