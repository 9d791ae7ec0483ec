//! Streams of requests that are buffered as they are sent, so that another attempt can be sent them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, Hedging, StopReason};
use prost::Message as _;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status};
use tonic_gax::{CallOptions, Note, RequestExt as _, note};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::{
    RawFrame, RawRequest, RawServer, Recorder, Setup, Stack, delays, error_report, ms, report_of, row, rows,
};

const U: RawFrame = RawFrame::Status(14, None);
const GOOD: RawFrame = RawFrame::Good;
const ALL: RawFrame = RawFrame::ReadAll;
const CANCEL: u32 = 8;

/// Three attempts, 100 ms apart, in ten seconds.
fn setup() -> Setup {
    let settings = delays(100, None).max_attempts(3).total_timeout(ms(10_000)).build().unwrap();
    Setup::new(settings).retrying([Code::Unavailable])
}

/// A stream of requests that asks for a report.
fn sent<S>(lines: S) -> Request<S> {
    Request::new(lines).with_call_options(CallOptions::new().report(true))
}

/// A line of about so many bytes.
fn line(number: u32, bytes: usize) -> Line {
    Line { text: format!("{number}").repeat(bytes), count: number }
}

/// The lines as they are written.
fn written(lines: &[Line]) -> Vec<u8> {
    let one = |line: &Line| {
        let message = line.encode_to_vec();
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&[0], length.as_slice(), &message].concat()
    };
    lines.iter().flat_map(one).collect()
}

/// A stream whose lines come when the test says so.
fn live() -> (UnboundedSender<Line>, UnboundedReceiverStream<Line>) {
    let (sender, lines) = unbounded_channel();
    (sender, UnboundedReceiverStream::new(lines))
}

/// The numbers of the lines that a request has brought, and a full stop at its end.
fn heard(request: &RawRequest) -> String {
    let (mut rest, mut numbers) = (request.body.as_slice(), Vec::new());
    while let Some((prefix, message)) = rest.split_first_chunk::<5>() {
        let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
        let (message, after) = message.split_at(usize::try_from(length).unwrap());
        let line = Line::decode(message).unwrap();
        assert_eq!(line.text.replace(&line.count.to_string(), ""), "");
        numbers.push(line.count.to_string());
        rest = after;
    }
    assert!(rest.is_empty(), "{rest:?}");
    numbers.join(" ") + if request.has_ended { "." } else { "" }
}

/// The body of each request.
fn bodies(server: &RawServer) -> Vec<String> {
    server.seen().iter().map(heard).collect()
}

fn notes(result: &Result<Response<Line>, Status>) -> Vec<Note> {
    report_of(result).notes().to_vec()
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_sent_the_whole_stream_and_its_end() {
    let lines = vec![line(1, 300), line(2, 300), line(3, 300)];
    for (compatibility, replay_streams, max_replay_bytes, times) in [
        (Compatibility::Grpc, None, None, 3),
        (Compatibility::Grpc, Some(false), None, 1),
        (Compatibility::Documented, Some(true), None, 3),
        (Compatibility::Documented, None, None, 1),
        (Compatibility::GaxJava, Some(true), None, 3),
        (Compatibility::GaxJava, None, None, 1),
        (Compatibility::Grpc, Some(true), Some(0), 1),
    ] {
        for stack in Stack::ALL {
            for lines in [lines.clone(), vec![]] {
                let server = RawServer::start([vec![ALL, U], vec![ALL, U], vec![ALL, GOOD]]);
                let mut setup = setup().compatible(compatibility);
                if let Some(replays) = replay_streams {
                    setup = setup.replaying_streams(replays);
                }
                if let Some(bytes) = max_replay_bytes {
                    setup = setup.replaying(bytes);
                }
                let mut client = stack.talk(server.channel(), &setup);
                let result = client.tell(sent(tokio_stream::iter(lines.clone()))).await;
                let name = format!("{stack:?} {compatibility:?} {replay_streams:?} {}", lines.len());
                let all = if lines.is_empty() { "." } else { "1 2 3." };
                assert_eq!(bodies(&server), vec![all; times], "{name}");
                assert!(server.seen().iter().all(|request| request.body == written(&lines)), "{name}");
                let report = report_of(&result);
                assert_eq!(report.attempts().len(), times, "{name}");
                if times == 3 {
                    assert_eq!(result.unwrap().into_inner(), Line::default(), "{name}");
                } else {
                    assert_eq!(report.notes(), [Note::REQUEST_IS_A_STREAM], "{name}");
                    assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{name}");
                }
            }
        }
    }
}

/// An attempt is dropped in the middle: the next one gets what it was sent, and then what comes.
#[tokio::test(start_paused = true)]
async fn the_next_attempt_goes_on_with_the_rest_of_the_stream() {
    let [one, two, three] = [line(1, 400), line(2, 400), line(3, 400)];
    let length = written(&[one.clone(), two.clone()]).len();
    for stack in Stack::ALL {
        for chats in [false, true] {
            let server = RawServer::start([vec![RawFrame::Read(length), U], vec![ALL, GOOD]]);
            let setup = setup().compatible(Compatibility::Grpc);
            let mut client = stack.talk(server.channel(), &setup);
            let (sender, lines) = live();
            sender.send(one.clone()).unwrap();
            sender.send(two.clone()).unwrap();
            let call = tokio::spawn(async move {
                if chats {
                    let mut replies = client.chat(sent(lines)).await?.into_inner();
                    assert_eq!(replies.message().await?, Some(Line::default()));
                    assert_eq!(replies.message().await?, None);
                    return Ok(());
                }
                client.tell(sent(lines)).await.map(drop)
            });
            // The second attempt is there, and has been sent what the first was.
            tokio::time::sleep(ms(150)).await;
            assert_eq!(bodies(&server), ["1 2", "1 2"], "{stack:?}");
            sender.send(three.clone()).unwrap();
            drop(sender);
            call.await.unwrap().unwrap();
            assert_eq!(bodies(&server), ["1 2", "1 2 3."], "{stack:?}");
        }
    }
}

/// The lines come one by one, and no attempt lives for long.
#[tokio::test(start_paused = true)]
async fn no_message_is_lost_or_moved_however_many_attempts_it_takes() {
    let lines: Vec<Line> = (1..=40).map(|number| line(number, 20)).collect();
    for stack in Stack::ALL {
        let down = |count: usize| vec![RawFrame::Read(written(&lines[..count]).len()), U];
        let server = RawServer::start([down(3), down(4), down(20), down(38), vec![ALL, GOOD]]);
        let mut setup = setup().compatible(Compatibility::Grpc);
        setup.settings = setup.settings.to_builder().max_attempts(5).build().unwrap();
        let mut client = stack.talk(server.channel(), &setup);
        let (sender, live) = live();
        let call = tokio::spawn(async move { client.tell(sent(live)).await });
        for line in &lines {
            sender.send(line.clone()).unwrap();
            tokio::time::sleep(ms(15)).await;
        }
        drop(sender);
        call.await.unwrap().unwrap();
        let (all, seen) = (written(&lines), server.seen());
        assert_eq!(seen.len(), 5, "{stack:?}");
        assert!(seen.iter().all(|request| all.starts_with(&request.body)), "{stack:?}");
        let last = seen.last().unwrap();
        assert!(last.has_ended && last.body == all, "{stack:?} {}", heard(last));
    }
}

/// Headers have come, so that the transport goes on sending, and then an error.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_failed_takes_no_message_from_the_next() {
    let [one, two] = [line(1, 400), line(2, 400)];
    let length = written(std::slice::from_ref(&one)).len();
    let setup = setup();
    for stack in Stack::KNOWING {
        let failing = vec![RawFrame::Headers, RawFrame::Read(length), RawFrame::Trailers(14)];
        let server = RawServer::start([failing, vec![ALL, GOOD]]);
        let mut client = stack.talk(server.channel(), &setup.clone().replaying_streams(true));
        let (sender, lines) = live();
        sender.send(one.clone()).unwrap();
        let call = tokio::spawn(async move { client.tell(sent(lines)).await });
        tokio::time::sleep(ms(50)).await;
        sender.send(two.clone()).unwrap();
        tokio::time::sleep(ms(100)).await;
        drop(sender);
        let result = call.await.unwrap();
        assert_eq!(report_of(&result).attempts().len(), 2, "{stack:?}");
        assert_eq!(notes(&result), [], "{stack:?}");
        assert_eq!(bodies(&server), ["1", "1 2."], "{stack:?}");
        // The rest of the first request is cancelled.
        assert_eq!(server.seen()[0].reset.map(|(reason, _)| reason), Some(CANCEL), "{stack:?}");
    }
}

/// By gRPC's rules it would be committed by then; a conversation is by any.
#[tokio::test(start_paused = true)]
async fn headers_commit_a_conversation() {
    for compatibility in [Compatibility::Grpc, Compatibility::Documented] {
        for stack in Stack::ALL {
            let server =
                RawServer::start([vec![RawFrame::Headers, RawFrame::Read(1), RawFrame::Trailers(14)]]);
            let mut client =
                stack.talk(server.channel(), &setup().compatible(compatibility).replaying_streams(true));
            let (sender, lines) = live();
            // Nothing has been said when the response comes.
            let mut replies = client.chat(sent(lines)).await.unwrap().into_inner();
            sender.send(line(1, 10)).unwrap();
            let status = replies.message().await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::Unavailable, "{stack:?}");
            assert_eq!(server.seen().len(), 1, "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_outgrows_the_limit_goes_on_and_is_committed() {
    let lines = [line(1, 500), line(2, 600), line(3, 9000)];
    for stack in Stack::ALL {
        for (end, is_good) in [(GOOD, true), (U, false)] {
            let server = RawServer::start([vec![ALL, end]]);
            let recorder = Recorder::default();
            let setup = setup()
                .compatible(Compatibility::Grpc)
                .recorded(&recorder)
                .replaying_streams(true)
                .replaying(1000);
            let mut client = stack.talk(server.channel(), &setup);
            let (sender, live) = live();
            let call = tokio::spawn(async move { client.tell(sent(live)).await });
            for line in &lines {
                sender.send(line.clone()).unwrap();
                tokio::time::sleep(ms(10)).await;
            }
            // Observers are notified when it happens.
            let events = recorder.take();
            assert!(events.contains(&"committed 1".to_owned()), "{stack:?} {events:?}");
            drop(sender);
            let result = call.await.unwrap();
            assert_eq!(bodies(&server), ["1 2 3."], "{stack:?}");
            if is_good {
                assert!(notes(&result).contains(&note::STREAM_TOO_LARGE_TO_REPLAY), "{:?}", notes(&result));
            } else {
                let report = error_report(result.as_ref().unwrap_err());
                assert_eq!(report.notes(), [note::STREAM_TOO_LARGE_TO_REPLAY], "{stack:?}");
                assert_eq!(report.stop_reason(), Some(StopReason::Committed), "{stack:?}");
                assert_eq!(rows(&report), [row(1, 10_000, 0, 0, 30, Code::Unavailable)], "{stack:?}");
            }
        }
    }
}

/// A request of the limit's size is replayed; a frame of a few bytes counts for 32.
#[tokio::test(start_paused = true)]
async fn the_limit_counts_bytes() {
    let (long, short) = (written(&[line(1, 500)]).len(), 32);
    for (bytes, attempts) in [(long + short, 3), (long + short - 1, 1)] {
        let server = RawServer::start([vec![ALL, U], vec![ALL, U], vec![ALL, U]]);
        let setup = setup().compatible(Compatibility::Grpc).replaying_streams(true).replaying(bytes);
        let mut client = Stack::LayerWithDescriptors.talk(server.channel(), &setup);
        let (sender, lines) = live();
        let call = tokio::spawn(async move { client.tell(sent(lines)).await });
        for line in [line(1, 500), line(2, 1)] {
            sender.send(line).unwrap();
            tokio::time::sleep(ms(10)).await;
        }
        drop(sender);
        call.await.unwrap().unwrap_err();
        assert_eq!(server.seen().len(), attempts, "{bytes}");
    }
}

/// All calls of a client share the memory, and of its clones.
#[tokio::test(start_paused = true)]
async fn calls_share_the_memory_and_give_it_back() {
    let lines = [line(1, 250), line(2, 250)];
    let length = written(&lines).len();
    for stack in Stack::ALL {
        let committed = vec![RawFrame::Read(length), RawFrame::Headers];
        let server = RawServer::start([vec![], vec![ALL, GOOD], committed, vec![ALL, U], vec![ALL, GOOD]]);
        let setup = setup().compatible(Compatibility::Grpc).replaying_streams(true).replaying_in_all(length);
        let client = stack.talk(server.channel(), &setup);
        // A call that has all of it, and waits for more to send.
        let begin = || {
            let (sender, live) = live();
            for line in &lines {
                sender.send(line.clone()).unwrap();
            }
            let mut client = client.clone();
            (sender, tokio::spawn(async move { client.tell(sent(live)).await }))
        };
        let (_first_sender, first) = begin();
        tokio::time::sleep(ms(10)).await;
        // The next one is committed, and does not wait.
        let result = client.clone().tell(sent(tokio_stream::iter(lines.clone()))).await;
        assert!(notes(&result).contains(&note::REPLAY_MEMORY_USED_UP), "{stack:?} {:?}", notes(&result));
        assert_eq!(server.times()[1], ms(10), "{stack:?}");
        // One that is dropped gives it back, and so does one whose response has headers.
        first.abort();
        first.await.unwrap_err();
        let (_second_sender, _second) = begin();
        tokio::time::sleep(ms(10)).await;
        // And so does each attempt's end: this call has it for both of its attempts.
        for _ in 0..2 {
            let result = client.clone().tell(sent(tokio_stream::iter(lines.clone()))).await;
            assert!(!notes(&result).contains(&note::REPLAY_MEMORY_USED_UP), "{stack:?}");
        }
        assert_eq!(server.seen().len(), 6, "{stack:?}");
    }
}

/// Whoever drops the call gets the stream back: nobody goes on reading it.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_drops_its_stream() {
    for stack in Stack::ALL {
        for after in [10, 50] {
            let server = RawServer::start([vec![RawFrame::Wait(ms(20)), U], vec![]]);
            let mut client = stack.talk(server.channel(), &setup().replaying_streams(true));
            let (sender, lines) = live();
            sender.send(line(1, 300)).unwrap();
            let call = tokio::spawn(async move { client.tell(sent(lines)).await });
            tokio::time::sleep(ms(after)).await;
            call.abort();
            call.await.unwrap_err();
            tokio::time::sleep(ms(20)).await;
            assert!(sender.is_closed(), "{stack:?} {after}");
            assert_eq!(server.seen().len(), 1, "{stack:?} {after}");
        }
    }
}

/// A stream that was refused is sent again at once, also where nothing is retried.
#[tokio::test(start_paused = true)]
async fn a_stream_is_sent_again_transparently() {
    let lines = vec![line(1, 300), line(2, 300)];
    for stack in Stack::ALL {
        let server = RawServer::start([vec![ALL, RawFrame::Reset(7)], vec![ALL, GOOD]]);
        let mut setup = setup().compatible(Compatibility::Grpc);
        setup.codes = [].into();
        let mut client = stack.talk(server.channel(), &setup);
        let result = client.tell(sent(tokio_stream::iter(lines.clone()))).await;
        let report = report_of(&result);
        assert_eq!((report.attempts().len(), report.transparent_retries()), (1, 1), "{stack:?}");
        assert_eq!(bodies(&server), ["1 2.", "1 2."], "{stack:?}");
        assert_eq!(server.times(), [ms(0), ms(0)], "{stack:?}");
    }
}

/// The stream itself can't be encoded: no other attempt would do better.
#[tokio::test(start_paused = true)]
async fn a_stream_that_fails_ends_the_call_with_its_own_error() {
    let server = RawServer::start([vec![ALL], vec![ALL]]);
    for described in [false, true] {
        let setup = setup().compatible(Compatibility::Grpc).retrying(Code::ALL);
        let layer = if described { setup.layer_with_descriptors() } else { setup.layer() };
        let mut client = TonicTalkClient::new(layer.layer(server.channel())).max_encoding_message_size(1000);
        let (sender, lines) = live();
        let call = tokio::spawn(async move { client.tell(sent(lines)).await });
        for line in [line(1, 10), line(2, 2000)] {
            tokio::time::sleep(ms(10)).await;
            sender.send(line).unwrap();
        }
        let status = call.await.unwrap().unwrap_err();
        assert_eq!(status.code(), tonic::Code::OutOfRange);
        let report = error_report(&status);
        assert_eq!((report.attempts().len(), report.stop_reason()), (1, Some(StopReason::NonRetryable)));
    }
    assert_eq!(server.seen().len(), 2);
}

/// Hedges are sent what the attempts before them were, and what comes then goes to all.
#[tokio::test(start_paused = true)]
async fn hedges_share_the_stream() {
    let [one, two] = [line(1, 400), line(2, 400)];
    let hedging = Hedging::new(3).delay(ms(100)).non_fatal_codes([Code::Unavailable]);
    for compatibility in [Compatibility::Grpc, Compatibility::Documented] {
        for stack in Stack::ALL {
            let server = RawServer::start([vec![], vec![ALL, GOOD], vec![]]);
            let setup = setup().compatible(compatibility).hedged(hedging).replaying_streams(true);
            let mut client = stack.talk(server.channel(), &setup);
            let (sender, lines) = live();
            sender.send(one.clone()).unwrap();
            let call = tokio::spawn(async move { client.tell(sent(lines)).await });
            tokio::time::sleep(ms(150)).await;
            assert_eq!(bodies(&server), ["1", "1"], "{stack:?}");
            sender.send(two.clone()).unwrap();
            drop(sender);
            call.await.unwrap().unwrap();
            tokio::time::sleep(ms(1)).await;
            assert_eq!(bodies(&server), ["1 2.", "1 2."], "{stack:?}");
            let resets: Vec<_> =
                server.seen().iter().map(|request| request.reset.map(|(reason, _)| reason)).collect();
            assert_eq!(resets, [Some(CANCEL), None], "{stack:?}");
        }
    }
}

/// The message that is too much commits to the attempt that is sent it first, and the others are cancelled.
#[tokio::test(start_paused = true)]
async fn a_hedged_stream_that_outgrows_the_limit_has_one_attempt_left() {
    let [one, two] = [line(1, 400), line(2, 800)];
    let hedging = Hedging::new(3).delay(ms(100)).non_fatal_codes([Code::Unavailable]);
    for stack in Stack::ALL {
        let server = RawServer::start([vec![ALL, GOOD], vec![ALL, GOOD]]);
        let setup =
            setup().compatible(Compatibility::Grpc).hedged(hedging).replaying_streams(true).replaying(1000);
        let mut client = stack.talk(server.channel(), &setup);
        let (sender, lines) = live();
        sender.send(one.clone()).unwrap();
        let call = tokio::spawn(async move { client.tell(sent(lines)).await });
        tokio::time::sleep(ms(150)).await;
        sender.send(two.clone()).unwrap();
        tokio::time::sleep(ms(300)).await;
        drop(sender);
        let result = call.await.unwrap();
        assert!(notes(&result).contains(&note::STREAM_TOO_LARGE_TO_REPLAY), "{stack:?} {:?}", notes(&result));
        let seen = server.seen();
        let mut seen: Vec<_> =
            seen.iter().map(|request| (heard(request), request.reset.map(|(reason, _)| reason))).collect();
        seen.sort();
        assert_eq!(seen, [("1".to_owned(), Some(CANCEL)), ("1 2.".to_owned(), None)], "{stack:?}");
    }
}
