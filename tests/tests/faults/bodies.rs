//! Responses that begin and do not end, or are longer than they may be.

use bytes::Bytes;
use gax_retry::{Code, StopReason};
use prost::Message as _;
use tonic::Request;
use tonic_gax::{CallOptions, RequestExt as _, note};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::{
    BodyPart, Reply, Script, Setup, Stack, VirtualServer, error_report, ms, report_of, row, rows, settings,
};

const LATE: Code = Code::DeadlineExceeded;

fn page(token: &str) -> ListAssetsResponse {
    ListAssetsResponse { next_page_token: token.to_owned(), ..ListAssetsResponse::default() }
}

#[tokio::test(start_paused = true)]
async fn headers_without_a_body_time_out_and_are_retried() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::at_once([Reply::play([BodyPart::Hang])]));
        let result = stack.list(server.channel(), &Setup::new(settings())).await;
        let table = [row(1, 1000, 0, 0, 1000, LATE), row(2, 1000, 200, 1200, 1200, Code::Ok)];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        assert_eq!(server.log().arrivals()[0].gone, Some(ms(1000)), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn trailers_that_never_come_time_out() {
    for stack in Stack::ALL {
        let stalled = Reply::play([BodyPart::message(&page("first")), BodyPart::Hang]);
        let server = VirtualServer::start(Script::at_once([stalled]));
        let result = stack.list(server.channel(), &Setup::new(settings())).await;
        tokio::time::sleep(ms(1)).await;
        assert_eq!(server.log().arrivals()[0].gone, Some(ms(1000)), "{stack:?}");
        if stack == Stack::Layer {
            // Nobody knows whether more messages are to come: the first one was passed on.
            assert_eq!(result.unwrap_err().code(), tonic::Code::DeadlineExceeded);
            assert_eq!(server.seen().len(), 1);
        } else {
            let table = [row(1, 1000, 0, 0, 1000, LATE), row(2, 1000, 200, 1200, 1200, Code::Ok)];
            assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
            assert_eq!(result.unwrap().into_inner().next_page_token, "", "{stack:?}");
        }
    }
}

/// A message of which a byte comes every 100 ms.
fn trickling(message: &ListAssetsResponse, bytes_at_once: usize) -> Reply {
    let BodyPart::Data(data) = BodyPart::message(message) else { unreachable!() };
    let mut beats = Vec::new();
    for part in data.chunks(bytes_at_once) {
        beats.push(BodyPart::Wait(ms(100)));
        beats.push(BodyPart::Data(Bytes::copy_from_slice(part)));
    }
    beats.push(BodyPart::trailers(&[("grpc-status", "0")]));
    Reply::play(beats)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_is_timed_as_a_whole() {
    let message = page("a token of thirty-three letters, ");
    // A prefix of 5 bytes, a tag, a length and 33 letters: 40 bytes.
    assert_eq!(message.encoded_len(), 35);
    for stack in Stack::ALL {
        let script = Script::at_once([trickling(&message, 1), trickling(&message, 5)]);
        let server = VirtualServer::start(script);
        let result = stack.list(server.channel(), &Setup::new(settings())).await;
        let table = [row(1, 1000, 0, 0, 1000, LATE), row(2, 1000, 200, 1200, 2000, Code::Ok)];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        assert_eq!(result.unwrap().into_inner(), message, "{stack:?}");
    }
}

/// A message of that many bytes.
fn long(bytes: usize) -> Reply {
    let overhead = 5;
    let message = page(&"x".repeat(bytes - overhead));
    assert_eq!(message.encoded_len(), bytes);
    Reply::message(&message)
}

const MIB: usize = 1024 * 1024;

#[tokio::test(start_paused = true)]
async fn a_response_over_tonic_s_limit_is_out_of_range() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(long(6 * MIB)));
        let setup = Setup::new(settings()).retrying([Code::OutOfRange, Code::Unavailable, LATE]);
        let status = stack.list(server.channel(), &setup).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::OutOfRange, "{stack:?}");
        assert_eq!(server.seen().len(), 1, "{stack:?}");
        if stack == Stack::Generated {
            let report = error_report(&status);
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
            assert_eq!(report.notes(), [note::MESSAGE_ABOVE_DECODING_LIMIT]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_above_one_s_own_limit_is_final_and_the_note_names_the_limit() {
    let server = VirtualServer::start(Script::always(long(6 * MIB)));
    let setup = Setup::new(settings()).retrying([Code::OutOfRange]);
    let client =
        AssetServiceClient::with_settings(server.channel(), setup.client()).max_decoding_message_size(1000);
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    let report = error_report(&status);
    assert_eq!(status.code(), tonic::Code::OutOfRange);
    assert_eq!(report.notes(), [note::MESSAGE_ABOVE_DECODING_LIMIT]);
    assert!(report.to_string().contains("larger than max_decoding_message_size"), "{report}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_response_at_the_limit_is_read() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(long(4 * MIB)));
        let response = stack.list(server.channel(), &Setup::new(settings())).await.unwrap();
        assert_eq!(response.into_inner().next_page_token.len(), 4 * MIB - 5, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_greater_limit_is_the_client_s_to_set() {
    let server = VirtualServer::start(Script::always(long(6 * MIB)));
    let setup = Setup::new(settings()).reporting();
    let client = AssetServiceClient::with_settings(server.channel(), setup.client())
        .max_decoding_message_size(8 * MIB);
    let response = client.list_assets(ListAssetsRequest::default()).await;
    assert_eq!(report_of(&response).notes(), []);
    assert_eq!(response.unwrap().into_inner().next_page_token.len(), 6 * MIB - 5);

    // The layer does not know the limit of the client above it: it passes on what it can't hold.
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let mut client = TonicClient::new(layer.layer(server.channel())).max_decoding_message_size(8 * MIB);
        let request = Request::new(ListAssetsRequest::default());
        let response = client.list_assets(request.with_call_options(CallOptions::new().report(true))).await;
        assert_eq!(report_of(&response).notes().len(), 1);
        assert_eq!(response.unwrap().into_inner().next_page_token.len(), 6 * MIB - 5);
    }
}

#[tokio::test(start_paused = true)]
async fn smaller_limits_hold_as_in_tonic() {
    let server = VirtualServer::start(Script::always(Reply::message(&page("0123456789"))));
    let client = AssetServiceClient::new(server.channel());
    let small = client.clone().max_decoding_message_size(11);
    let status = small.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::OutOfRange);
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
    let enough = client.clone().max_decoding_message_size(12);
    enough.list_assets(ListAssetsRequest::default()).await.unwrap();

    let arrived = server.seen().len();
    let request = ListAssetsRequest { parent: "0123456789".to_owned(), ..ListAssetsRequest::default() };
    let small = client.clone().max_encoding_message_size(11);
    let status = small.list_assets(request.clone()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::OutOfRange);
    assert_eq!(server.seen().len(), arrived, "nothing was sent");
    let report = error_report(&status);
    assert_eq!((report.attempts(), report.stop_reason()), ([].as_slice(), Some(StopReason::NonRetryable)));
    assert_eq!(report.method(), "/google.cloud.asset.v1.AssetService/ListAssets");
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let mut client = TonicClient::new(layer.layer(server.channel())).max_encoding_message_size(11);
        let status = client.list_assets(request.clone()).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::OutOfRange);
        assert_eq!(error_report(&status).attempts(), []);
    }
    assert_eq!(server.seen().len(), arrived, "nothing was sent");
    client.max_encoding_message_size(12).list_assets(request).await.unwrap();
}
