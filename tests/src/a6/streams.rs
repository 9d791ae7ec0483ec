//! Requirements 30 and 31: what is sent again, byte for byte, and the limits that commit.

use super::client::A6Client;
use super::config::{DOWN, FIRST, U, config};
use crate::generated::google::cloud::asset::v1::ListAssetsRequest;
use crate::generated::test::talk::v1::Line;
use crate::{RawFrame, RawRequest, RawServer, ms};
use tonic::Code;
use tonic_gax::ReplayOptions;
use tonic_gax::{StopReason, note};

const ALL: RawFrame = RawFrame::ReadAll;
const GOOD: RawFrame = RawFrame::Good;

fn written(message: &impl prost::Message) -> Vec<u8> {
    let message = message.encode_to_vec();
    [&[0], u32::try_from(message.len()).unwrap().to_be_bytes().as_slice(), &message].concat()
}

fn line(letter: &str, length: usize) -> Line {
    Line { text: letter.repeat(length), count: 0 }
}

/// The waits between requests are the policy's.
fn assert_gap(seen: &[RawRequest]) {
    for (earlier, later) in seen.iter().zip(seen.iter().skip(1)) {
        let gap = u64::try_from(later.at.abs_diff(earlier.at).as_millis()).unwrap();
        assert!((FIRST.0..=FIRST.1 + 1).contains(&gap), "{gap}");
    }
}

/// c03 and c04, of unary requests: the limit of the call is 1000 bytes.
pub async fn a_unary_request_over_the_limit_is_sent_once<C: A6Client>() {
    for (name, length, attempts) in [("c03", 4000, 1), ("c04", 900, 2)] {
        let server = RawServer::start([vec![ALL, U], vec![ALL, GOOD]]);
        let client = C::connect(&server, &config(&[], ""), ReplayOptions::new().max_replay_bytes(1000));
        let request = ListAssetsRequest { parent: "p".repeat(length), ..ListAssetsRequest::default() };
        let code = client.list(request.clone(), None).await;
        assert_eq!(code, if attempts == 1 { DOWN } else { Code::Ok }, "{name}");
        let seen = server.seen();
        assert_eq!(seen.len(), attempts, "{name}");
        assert!(seen.iter().all(|sent| sent.has_ended && sent.body == written(&request)), "{name}");
        assert_gap(&seen);
    }
}

/// c03 and c04, of streams of requests, over the limit of the call and over that of all calls.
pub async fn a_stream_of_requests_over_a_limit_is_committed<C: A6Client>() {
    for (name, length, call, all, note) in [
        ("c03", 4000, 1000, 100_000, Some(note::STREAM_TOO_LARGE_TO_REPLAY)),
        ("c03 of the channel", 4000, 100_000, 1000, Some(note::REPLAY_MEMORY_USED_UP)),
        ("c04", 400, 1000, 1000, None),
    ] {
        let server = RawServer::start([vec![ALL, U], vec![ALL, GOOD]]);
        let limits = ReplayOptions::new().max_replay_bytes(call).max_total_replay_bytes(all);
        let client = C::connect(&server, &config(&[], ""), limits);
        let lines = [line("a", length), line("b", length)];
        let (code, report) = client.tell(tokio_stream::iter(lines.clone())).await;
        let (seen, sent) = (server.seen(), lines.map(|line| written(&line)).concat());
        assert_eq!(seen.len(), if note.is_some() { 1 } else { 2 }, "{name}");
        assert!(seen.iter().all(|request| request.has_ended && request.body == sent), "{name}");
        assert_gap(&seen);
        assert_eq!(code, if note.is_some() { DOWN } else { Code::Ok }, "{name}");
        if let Some(note) = note {
            let report = report.unwrap();
            assert_eq!((report.notes(), report.stop_reason()), (&[note][..], Some(StopReason::Committed)));
        }
    }
}

/// 31: what was sent so far is sent again, and then what comes.
pub async fn messages_so_far_are_replayed<C: A6Client>() {
    let lines = ["a", "b", "c"].map(|letter| line(letter, 100));
    let sent = lines.clone().map(|line| written(&line));
    let server = RawServer::start([vec![RawFrame::Read(sent[..2].concat().len()), U], vec![ALL, GOOD]]);
    let client = C::connect(&server, &config(&[], ""), ReplayOptions::new());
    let (sender, stream) = tokio::sync::mpsc::unbounded_channel();
    let stream = tokio_stream::wrappers::UnboundedReceiverStream::new(stream);
    let call = tokio::spawn(async move { client.tell(stream).await });
    for line in lines {
        sender.send(line).unwrap();
        tokio::time::sleep(ms(125)).await;
    }
    drop(sender);
    assert_eq!(call.await.unwrap().0, Code::Ok);
    let seen: Vec<_> = server.seen().into_iter().map(|request| (request.body, request.has_ended)).collect();
    let shapes: Vec<_> = seen.iter().map(|(body, has_ended)| (body.len(), *has_ended)).collect();
    assert!(seen == [(sent[..2].concat(), false), (sent.concat(), true)], "{shapes:?}");
}

/// 31, hedged: the message over the limit commits to the attempt that has sent most, and the others are cancelled.
pub async fn a_message_over_the_limit_ends_hedging<C: A6Client>() {
    let config = r#"{"methodConfig": [{"name": [{}], "hedgingPolicy": {
        "maxAttempts": 4, "hedgingDelay": "0.1s", "nonFatalStatusCodes": ["UNAVAILABLE"]}}]}"#;
    let server = RawServer::start([vec![], vec![], vec![], vec![]]);
    let client = C::connect(&server, config, ReplayOptions::new().max_replay_bytes(1000));
    let (sender, stream) = tokio::sync::mpsc::unbounded_channel();
    let stream = tokio_stream::wrappers::UnboundedReceiverStream::new(stream);
    let call = tokio::spawn(async move { client.tell(stream).await });
    let lines = [line("a", 500), line("b", 600)];
    sender.send(lines[0].clone()).unwrap();
    tokio::time::sleep(ms(150)).await;
    sender.send(lines[1].clone()).unwrap();
    tokio::time::sleep(ms(500)).await;
    let sent = lines.map(|line| written(&line));
    let mut seen: Vec<_> = server
        .seen()
        .into_iter()
        .map(|request| (request.reset.map(|(reason, _)| reason), request.body))
        .collect();
    seen.sort();
    // 8 is CANCEL.
    assert!(seen == [(None, sent.concat()), (Some(8), sent[0].clone())], "{}", seen.len());
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
}
