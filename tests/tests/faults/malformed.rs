//! Replies that no gRPC server should give. None of them may do more than fail the call.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

use gax_retry::{Code, RetrySettings, StopReason};
use tonic_gax::{Note, OperationError, RetryService, note};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssetClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ExportAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{
    BodyPart, Reply, Script, Setup, Stack, VirtualServer, delays, error_report, ms, plain, report_of,
};

type LayeredChannel = RetryService<tonic::transport::Channel>;

fn settings() -> RetrySettings {
    delays(100, None).total_timeout(ms(10_000)).build().unwrap()
}

fn page() -> ListAssetsResponse {
    ListAssetsResponse { next_page_token: "next".to_owned(), ..ListAssetsResponse::default() }
}

/// Replies with an error, and the code and message that the caller gets.
fn errors() -> Vec<(&'static str, Reply, Code, &'static str)> {
    const BAD_DETAILS: (&str, &str) = ("grpc-status-details-bin", "!not base64!");
    let data = || BodyPart::message(&page());
    vec![
        (
            "bad details alone",
            Reply::play_with(&[("grpc-status", "14"), ("grpc-message", "down"), BAD_DETAILS], []),
            Code::Unavailable,
            "down",
        ),
        (
            "bad details in trailers",
            Reply::play([BodyPart::trailers(&[
                ("grpc-status", "14"),
                ("grpc-message", "down"),
                BAD_DETAILS,
            ])]),
            Code::Unavailable,
            "down",
        ),
        (
            "bad details after a message",
            Reply::play([data(), BodyPart::trailers(&[("grpc-status", "14"), BAD_DETAILS])]),
            Code::Unavailable,
            "",
        ),
        ("a status of letters", Reply::play_with(&[("grpc-status", "abc")], []), Code::Unknown, ""),
        ("an empty status", Reply::play([BodyPart::trailers(&[("grpc-status", "")])]), Code::Unknown, ""),
        (
            "a status beyond all",
            Reply::play([BodyPart::trailers(&[("grpc-status", "99")])]),
            Code::Unknown,
            "",
        ),
        ("a negative status", Reply::play_with(&[("grpc-status", "-1")], []), Code::Unknown, ""),
        (
            "a status of bytes",
            Reply::play([BodyPart::trailers(&[("grpc-status", "\u{e9}")])]),
            Code::Unknown,
            "",
        ),
        (
            "a service that is down behind a proxy",
            Reply::http(503, &[("content-type", "text/html")]),
            Code::Unavailable,
            "the response has no grpc-status, but HTTP status 503",
        ),
        (
            "a proxy that limits",
            Reply::http(429, &[]),
            Code::Unavailable,
            "the response has no grpc-status, but HTTP status 429",
        ),
        (
            "another server",
            Reply::http(404, &[]),
            Code::Unimplemented,
            "the response has no grpc-status, but HTTP status 404",
        ),
        (
            "a redirect",
            Reply::http(302, &[("location", "http://elsewhere/")]),
            Code::Unknown,
            "the response has no grpc-status, but HTTP status 302",
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn errors_keep_the_code_that_can_be_read() {
    for (name, reply, code, message) in errors() {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(reply.clone()));
            let status =
                stack.list(server.channel(), &Setup::new(settings()).retrying([])).await.unwrap_err();
            assert_eq!(status.code() as i32, code.number(), "{name}, {stack:?}: {status}");
            assert_eq!(status.message(), message, "{name}, {stack:?}");
            assert_eq!(status.details(), b"", "{name}, {stack:?}");
            let report = error_report(&status);
            assert_eq!(report.attempts()[0].code(), code, "{name}, {stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{name}, {stack:?}");
            let mut expected = Vec::new();
            if name.starts_with("bad details") {
                expected.push(note::MALFORMED_STATUS_DETAILS);
            }
            if name.contains("after a message") && stack == Stack::Layer {
                // It might be a stream.
                expected.push(note::FAILED_BEHIND_MESSAGES);
            }
            assert_eq!(report.notes(), expected, "{name}, {stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn errors_are_retried_by_that_code() {
    for (name, reply, code, _) in errors() {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::at_once([reply.clone()]));
            let result = stack.list(server.channel(), &Setup::new(settings()).retrying([code])).await;
            let codes: Vec<_> = report_of(&result).attempts().iter().map(gax_retry::Attempt::code).collect();
            assert_eq!(codes, [code, Code::Ok], "{name}, {stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_a_status_is_unknown() {
    let cut = |beats: Vec<BodyPart>| Reply::play(beats);
    for beats in [vec![], vec![BodyPart::message(&page())], vec![BodyPart::trailers(&[("x-other", "1")])]] {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(cut(beats.clone())));
            let status = stack.list(server.channel(), &Setup::new(settings())).await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::Unknown, "{beats:?} {stack:?}");
            assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
        }
    }
}

/// Good replies with details that nobody asked for.
#[tokio::test(start_paused = true)]
async fn bad_details_of_a_success_do_no_harm() {
    let ok = [("grpc-status", "0"), ("grpc-status-details-bin", "!")];
    for stack in Stack::ALL {
        let reply = Reply::play([BodyPart::message(&page()), BodyPart::trailers(&ok)]);
        let server = VirtualServer::start(Script::always(reply));
        let response = stack.list(server.channel(), &Setup::new(settings())).await.unwrap();
        assert_eq!(response.into_inner(), page(), "{stack:?}");

        let server = VirtualServer::start(Script::always(Reply::play_with(&ok, [])));
        let status = stack.list(server.channel(), &Setup::new(settings())).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::Internal, "no message: {stack:?}");
    }
}

/// A message that is cut, compressed although no header says so, or no message at all. tonic's own decoder reports it.
#[tokio::test(start_paused = true)]
async fn messages_that_can_t_be_read_end_the_operation() {
    let good = || BodyPart::trailers(&[("grpc-status", "0")]);
    let data = |bytes: &'static [u8]| BodyPart::Data(bytes.into());
    let cases = [
        ("cut in the prefix", vec![data(b"\0\0"), good()]),
        ("cut in the message", vec![data(b"\0\0\0\0\x09a"), good()]),
        ("compressed", vec![data(b"\x01\0\0\0\x01a"), good()]),
        ("a flag that does not exist", vec![data(b"\x07\0\0\0\x01a"), good()]),
        ("no protobuf", vec![data(b"\0\0\0\0\x02\xff\xff"), good()]),
        ("no message", vec![good()]),
        ("longer than memory", vec![data(b"\0\xff\xff\xff\xff"), good()]),
    ];
    for (name, beats) in cases {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(Reply::play(beats.clone())));
            let setup = Setup::new(settings()).retrying([Code::Internal, Code::Unknown, Code::OutOfRange]);
            let status = stack.list(server.channel(), &setup).await.unwrap_err();
            let expected = match name {
                "longer than memory" => tonic::Code::OutOfRange,
                _ => tonic::Code::Internal,
            };
            assert_eq!(status.code(), expected, "{name}, {stack:?}: {status}");
            assert_eq!(server.seen().len(), 1, "{name}, {stack:?}");
            // Under tonic's own client it is tonic that decodes, after the operation has ended.
            if stack == Stack::Generated {
                let report = error_report(&status);
                let code = report.attempts()[0].code();
                assert_eq!((code as i32, report.attempt_count()), (expected as i32, 1), "{name}");
                assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{name}");
                assert!(report.notes().contains(&Note::UNREADABLE_RESPONSE), "{name}");
            }
        }
    }
}

/// Malformed replies to calls that are passed on: of streams, and of methods that no table knows.
#[tokio::test(start_paused = true)]
async fn streams_of_malformed_replies_fail_and_no_more() {
    for (name, reply, code, _) in errors() {
        let server = VirtualServer::start(Script::always(reply));
        let layers = [
            Setup::new(settings()).retrying([]).layer(),
            Setup::new(settings()).retrying([]).layer_with_descriptors(),
        ];
        let mut statuses = Vec::new();
        for layer in layers {
            let mut client: TonicTalkClient<LayeredChannel> =
                TonicTalkClient::new(layer.layer(server.channel()));
            statuses.push(listened(client.listen(Line::default()).await).await);
        }
        let client = TalkClient::new(server.channel());
        statuses
            .push(listened(client.listen(Line::default()).await.map(|response| response.map(plain))).await);
        for status in statuses {
            assert_eq!(status.code() as i32, code.number(), "{name}: {status}");
        }
    }
}

/// The reply of a method that no table knows is decoded by tonic's client, which must not panic over it either.
#[tokio::test(start_paused = true)]
async fn replies_of_unlisted_methods_fail_and_no_more() {
    let bad_success = [("grpc-status", "0"), ("grpc-status-details-bin", "!")];
    let more = [
        ("a good head", Reply::play_with(&bad_success, [])),
        ("good trailers", Reply::play([BodyPart::trailers(&bad_success)])),
    ];
    let replies = errors().into_iter().map(|(name, reply, ..)| (name, reply)).chain(more);
    for (name, reply) in replies {
        let server = VirtualServer::start(Script::always(reply));
        let mut client = TonicAssetClient::new(Setup::new(settings()).layer().layer(server.channel()));
        let status = client.export_assets(ExportAssetsRequest::default()).await.unwrap_err();
        assert!(OperationError::of(&status).is_none(), "{name}: {status}");
        assert_eq!(server.seen(), [(0, None)], "{name}");
    }
}

async fn listened(response: Result<tonic::Response<tonic::Streaming<Line>>, tonic::Status>) -> tonic::Status {
    let mut lines = match response {
        Ok(response) => response.into_inner(),
        Err(status) => return status,
    };
    loop {
        match lines.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended well"),
            Err(status) => return status,
        }
    }
}
