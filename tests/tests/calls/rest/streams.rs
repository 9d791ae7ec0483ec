//! Streams of responses: JSON arrays, wherever they are cut.

use flate2::Compression;
use flate2::write::GzEncoder;
use gax_rest::{RestOptions, RestTransport};
use std::io::{ErrorKind, Write as _};
use tonic::{Code, Status};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::GetByUserRequest;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings,
};
use tonic_gax_tests::{RestReply, RestServer, ms};

fn client(server: &RestServer) -> MessagingClient<RestTransport<RestServer>> {
    let options = RestOptions::new().origin("http://example.com".parse().unwrap()).max_response_bytes(200);
    MessagingClient::rest_with_options(server.clone(), MessagingSettings::default(), options).unwrap()
}

/// The texts of a stream, and how it ended.
async fn watched(replies: impl IntoIterator<Item = RestReply>) -> (Vec<String>, Result<(), Status>, usize) {
    let server = RestServer::new(replies);
    let request = GetByUserRequest { user_id: "me".to_owned(), message_id: String::new() };
    let mut stream = match client(&server).watch(request).await {
        Ok(response) => response.into_inner(),
        Err(status) => return (Vec::new(), Err(status), server.requests().len()),
    };
    let mut texts = Vec::new();
    let end = loop {
        match stream.message().await {
            Ok(Some(message)) => texts.push(message.text),
            Ok(None) => break Ok(()),
            Err(status) => break Err(status),
        }
    };
    (texts, end, server.requests().len())
}

const THREE: &str = "[{\"text\":\"a]\"} ,\n{\"text\":\"b\\\"}\"},{\"text\":\"ü€\"}]\n";

#[tokio::test(start_paused = true)]
async fn an_array_is_read_wherever_it_is_cut() {
    for length in 1..=THREE.len() {
        let (texts, end, _) = watched([RestReply::ok(THREE).cut(length)]).await;
        assert_eq!(texts, ["a]", "b\"}", "ü€"], "{length}");
        end.unwrap();
    }
}

/// The texts of a stream that goes on, up to the moment from which on nothing comes.
async fn texts_so_far(reply: RestReply) -> Vec<String> {
    let server = RestServer::new([reply.stalled()]);
    let request = GetByUserRequest { user_id: "me".to_owned(), message_id: String::new() };
    let mut stream = client(&server).watch(request).await.unwrap().into_inner();
    let mut texts = Vec::new();
    while let Ok(next) = tokio::time::timeout(ms(1), stream.message()).await {
        texts.push(next.unwrap().unwrap().text);
    }
    texts
}

#[tokio::test(start_paused = true)]
async fn messages_are_handed_on_as_they_come() {
    let begun = r#"[{"text":"a"},{"text":"b"},{"te"#;
    assert_eq!(texts_so_far(RestReply::ok(begun)).await, ["a", "b"]);
    // A server that compresses flushes after each message.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(begun.as_bytes()).unwrap();
    encoder.flush().unwrap();
    let packed = encoder.get_ref().clone();
    for length in [3, packed.len()] {
        let reply = RestReply::ok(packed.clone()).header("content-encoding", "gzip").cut(length);
        assert_eq!(texts_so_far(reply).await, ["a", "b"], "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_compressed_stream_may_be_longer_than_its_messages_may_be() {
    let text = format!("[{}]", vec![r#"{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#; 5000].join(","));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    // In one piece: a few bytes become many.
    let (texts, end, _) = watched([RestReply::ok(packed).header("content-encoding", "gzip")]).await;
    assert_eq!((texts.len(), end.is_ok()), (5000, true), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_have_no_messages_and_no_body() {
    for body in ["", " \n", "[]", " [ ] "] {
        let (texts, end, _) = watched([RestReply::ok(body)]).await;
        assert!(texts.is_empty() && end.is_ok(), "{body:?}: {end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_may_follow_messages() {
    let error = r#"{"error":{"code":500,"message":"later","status":"UNAVAILABLE"}}"#;
    for body in [
        format!(r#"[{{"text":"a"}}]{error}"#),
        format!(r#"[{{"text":"a"}},{error}]"#),
        format!(r#"[{{"text":"a"}},{error}"#),
    ] {
        for length in [1, 7, 1000] {
            let (texts, end, _) = watched([RestReply::ok(body.clone()).cut(length)]).await;
            let status = end.unwrap_err();
            assert_eq!(texts, ["a"], "{body}");
            assert_eq!((status.code(), status.message()), (Code::Unavailable, "later"), "{body}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_number_of_an_error_in_a_stream_is_a_status_or_a_code() {
    for (number, code) in [
        ("404", Code::NotFound),
        // Of google.rpc.Status itself.
        ("14", Code::Unavailable),
        ("0", Code::Unknown),
        ("-1", Code::Unknown),
        ("17", Code::Unknown),
        ("99999", Code::Unknown),
        ("1.5", Code::Unknown),
        ("\"x\"", Code::Unknown),
        ("null", Code::Unknown),
    ] {
        let body = format!(r#"[{{"text":"a"}},{{"error":{{"code":{number}}}}}]"#);
        let (texts, end, _) = watched([RestReply::ok(body)]).await;
        assert_eq!((texts.len(), end.unwrap_err().code()), (1, code), "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_before_the_first_message_is_retried() {
    let error = r#"{"error":{"code":503,"message":"later"}}"#;
    for first in [
        RestReply::new(503, error),
        RestReply::ok(format!("[{error}]")),
        RestReply::ok(error),
        RestReply::failure(ErrorKind::ConnectionReset),
        RestReply::ok("[").broken(),
        RestReply::ok("["),
    ] {
        let (texts, end, count) = watched([first.clone(), RestReply::ok(THREE)]).await;
        assert_eq!((texts.len(), end.is_ok(), count), (3, true, 2), "{first:?} {end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_says_how() {
    for (reply, code, message) in [
        (RestReply::ok(r#"[{"text":"a"},{"te"#), Code::Unavailable, "it ends too early"),
        (RestReply::ok(r#"[{"text":"a"}"#).broken(), Code::Unavailable, "connection reset"),
        (RestReply::ok(r#"[{"text":"a"},{"text":7}]"#), Code::Internal, "text: invalid type: integer `7`"),
        (RestReply::ok(r#"[{"text":"a"}]["#), Code::Internal, "it has '[' behind its array"),
        (
            RestReply::ok(r#"[{"text":"a"}]{"x":1}"#),
            Code::Internal,
            "an object outside of its array that is not an error",
        ),
        (
            RestReply::ok(format!(r#"[{{"text":"a"}},{{"text":"{}"#, "b".repeat(300))),
            Code::OutOfRange,
            "which is 200",
        ),
    ] {
        let (texts, end, count) = watched([reply]).await;
        let status = end.unwrap_err();
        assert_eq!((texts.len(), status.code(), count), (1, code, 1), "{status:?}");
        assert!(status.message().contains(message), "{status:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_stream_is_final() {
    for (body, problem) in [
        ("<html>", "it has '<' where its array should begin"),
        (r#"{"text":"a"},{}"#, "it has ',' between its objects"),
    ] {
        let (_, end, count) = watched([RestReply::ok(body)]).await;
        let status = end.unwrap_err();
        assert_eq!((status.code(), count), (Code::Internal, 1));
        assert!(status.message().contains(problem), "{status:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_field_error_in_a_message_is_no_error() {
    // The server has a field that this client doesn't know yet.
    for field in [r#""error":{"code":5}"#, r#""error":"none""#] {
        let body = format!(r#"[{{"text":"a",{field}}},{{{field},"text":"b"}},{{"error":{{"reason":"c"}}}}]"#);
        let (texts, end, _) = watched([RestReply::ok(body)]).await;
        assert_eq!(texts, ["a", "b", ""], "{end:?}");
        end.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn objects_may_come_one_after_the_other() {
    // As grpc-gateway and Envoy stream.
    let gateway = "{\"result\":{\"text\":\"a\"}}\n{\"result\":{\"text\":\"b\"}}\n";
    let envoy = "{\"text\":\"a\"}\n{\"text\":\"b\"}";
    let error = r#"{"error":{"code":14,"message":"later"}}"#;
    for body in [gateway, envoy] {
        for length in [1, 7, 1000] {
            let (texts, end, _) = watched([RestReply::ok(body).cut(length)]).await;
            assert_eq!(texts, ["a", "b"], "{body}: {end:?}");
            end.unwrap();
            let (texts, end, _) = watched([RestReply::ok(format!("{body}{error}")).cut(length)]).await;
            assert_eq!((texts.len(), end.unwrap_err().code()), (2, Code::Unavailable), "{body}");
        }
        assert_eq!(texts_so_far(RestReply::ok(body)).await, ["a", "b"]);
        let (texts, end, _) = watched([RestReply::ok(format!("{body}{{\"te"))]).await;
        let status = end.unwrap_err();
        assert_eq!((texts.len(), status.code()), (2, Code::Unavailable));
        assert!(status.message().contains("it ends too early"), "{status:?}");
    }
}
