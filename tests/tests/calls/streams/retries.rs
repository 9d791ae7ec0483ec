//! RPCs that reply with a stream: they are retried until its first message.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, StopReason};
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{CallOptions, Note, OperationReport, RequestExt as _};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::{
    BodyPart, RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualServer, codes, error_report, ms,
    report_of, reported, row, rows, settings, three_lines,
};

const DOWN: Code = Code::Unavailable;
const LATE: Code = Code::DeadlineExceeded;

/// The RPC timeout of an attempt that starts then.
fn timeout(stack: Stack, start: u64) -> u64 {
    if stack == Stack::Layer { 1000 } else { 10_000 - start }
}

fn setup() -> Setup {
    Setup::new(settings())
}

fn line(number: u32) -> Line {
    Line { text: format!("a {number}"), count: number }
}

async fn heard(response: Response<Streaming<Line>>) -> Vec<Line> {
    let mut lines = response.into_inner();
    let mut all = Vec::new();
    while let Some(line) = lines.message().await.unwrap() {
        all.push(line);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_fails_before_its_first_message_is_begun_again() {
    let down = || Status::unavailable("down");
    let failures = [
        Reply::status(down()),
        Reply::http(503, &[]),
        Reply::play([BodyPart::status(&down())]),
        // A part of a message is none.
        Reply::play([BodyPart::Data(vec![0, 0, 0, 0, 9, 1].into()), BodyPart::status(&down())]),
    ];
    for failure in failures {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::at_once([failure.clone(), failure.clone()]));
            let response =
                stack.talk(server.channel(), &setup()).listen(reported(three_lines())).await.unwrap();
            let report = report_of(&Ok(response.map(|_| ())));
            let table = [
                row(1, timeout(stack, 0), 0, 0, 0, DOWN),
                row(2, timeout(stack, 200), 200, 200, 200, DOWN),
                row(3, timeout(stack, 400), 200, 400, 400, Code::Ok),
            ];
            assert_eq!(rows(&report), table, "{stack:?} {failure:?}");
            let seen = [0, 200, 400].map(|start| (start, Some(timeout(stack, start))));
            assert_eq!(server.seen(), seen, "{stack:?} {failure:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_whole_stream_is_that_of_one_attempt() {
    for stack in Stack::ALL {
        let stalled = Reply::play([BodyPart::Wait(ms(100)), BodyPart::status(&Status::unavailable("down"))]);
        let good = Reply::play([
            BodyPart::message(&line(0)),
            BodyPart::Wait(ms(500)),
            BodyPart::message(&line(1)),
            BodyPart::Wait(ms(300)),
            BodyPart::message(&line(2)),
            BodyPart::trailers(&[("grpc-status", "0")]),
        ]);
        let server = VirtualServer::start(Script::at_once([stalled, good]));
        let response = stack.talk(server.channel(), &setup()).listen(reported(three_lines())).await.unwrap();
        assert_eq!(server.log().elapsed(), ms(300), "{stack:?}");
        assert_eq!(heard(response).await, [line(0), line(1), line(2)], "{stack:?}");
        assert_eq!(server.log().elapsed(), ms(1100), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_the_first_message_an_error_is_final() {
    let broken = Reply::play([
        BodyPart::message(&line(0)),
        BodyPart::Wait(ms(100)),
        BodyPart::status(&Status::unavailable("lost my place")),
    ]);
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(broken.clone()));
        let response = stack.talk(server.channel(), &setup()).listen(reported(three_lines())).await.unwrap();
        let mut lines = response.into_inner();
        assert_eq!(lines.message().await.unwrap(), Some(line(0)), "{stack:?}");
        let status = lines.message().await.unwrap_err();
        assert_eq!(
            (status.code(), status.message()),
            (tonic::Code::Unavailable, "lost my place"),
            "{stack:?}"
        );
        let report = error_report(&status);
        assert_eq!(
            (report.stop_reason(), codes(&report)),
            (Some(StopReason::Committed), vec![DOWN]),
            "{stack:?}"
        );
        assert_eq!(server.seen().len(), 1, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_report_says_that_the_stream_was_handed_on() {
    let going = Reply::play([BodyPart::message(&line(0)), BodyPart::Hang]);
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(going.clone()));
        let response = stack.talk(server.channel(), &setup()).listen(reported(three_lines())).await.unwrap();
        let report = report_of(&Ok(response.map(|_| ())));
        assert_eq!(report.notes(), [Note::COMMITTED], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_begins_ends_with_the_total_of_all_attempts() {
    for stack in Stack::KNOWING {
        let script = Script::at_once([Reply::unavailable()]).then_always(ms(0), Reply::Hang);
        let server = VirtualServer::start(script);
        let options = CallOptions::new().timeout(ms(5000)).attempt_timeout(ms(100));
        let request = Request::new(three_lines()).with_call_options(options.report(true));
        let status = stack.talk(server.channel(), &setup()).listen(request).await.unwrap_err();
        let table = [row(1, 5000, 0, 0, 0, DOWN), row(2, 4800, 200, 200, 5000, LATE)];
        assert_eq!(rows(&error_report(&status)), table, "{stack:?}");
        assert_eq!(error_report(&status).stop_reason(), Some(StopReason::TotalTimeout), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_above_the_limit_is_sent_once() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let status = stack
            .talk(server.channel(), &setup().replaying(5))
            .listen(reported(three_lines()))
            .await
            .unwrap_err();
        let report = error_report(&status);
        assert_eq!(report.notes(), [Note::REQUEST_TOO_LARGE_TO_REPLAY], "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{stack:?}");
        assert_eq!(server.seen().len(), 1, "{stack:?}");
    }
}

/// Lost connections, resets and responses that can't be read are those of any operation.
#[tokio::test(start_paused = true)]
async fn a_stream_shares_what_operations_know_of_connections() {
    for stack in Stack::ALL {
        let server = RawServer::start([
            vec![RawFrame::Reset(7)],
            vec![RawFrame::Headers, RawFrame::Drop],
            vec![RawFrame::Garbage],
            vec![RawFrame::Garbage],
            vec![RawFrame::Garbage],
        ]);
        let mut client = stack.talk(server.channel(), &setup());
        let response = client.listen(reported(three_lines())).await.unwrap();
        let report = OperationReport::of(response.extensions()).unwrap();
        let codes: Vec<_> = report.attempts().iter().map(gax_retry::Attempt::code).collect();
        // Others may have shared these connections: nobody is blamed for them.
        assert_eq!(codes, [DOWN, DOWN, DOWN, DOWN, Code::Ok], "{stack:?}");
        assert_eq!(report.transparent_retries(), 1, "{stack:?}");
    }
}

/// gax-java's RPC timeout is that of the whole stream.
#[tokio::test(start_paused = true)]
async fn by_gax_java_s_rules_the_rpc_timeout_bounds_each_whole_stream() {
    let going = Reply::play([BodyPart::message(&line(0)), BodyPart::Wait(ms(60_000)), BodyPart::Hang]);
    for stack in Stack::ALL {
        let server =
            VirtualServer::start(Script::at_once([Reply::Hang, Reply::unavailable(), going.clone()]));
        let setup = setup().compatible(Compatibility::GaxJava);
        let response = stack.talk(server.channel(), &setup).listen(reported(three_lines())).await.unwrap();
        let mut lines = response.into_inner();
        assert_eq!(lines.message().await.unwrap(), Some(line(0)), "{stack:?}");
        let status = lines.message().await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert_eq!(server.log().elapsed(), ms(2400), "{stack:?}");
        let seen = [0, 1200, 1400].map(|start| (start, Some(1000)));
        assert_eq!(server.seen(), seen, "{stack:?}");
    }
}

/// By gRFC A6 an attempt is committed once it has headers that don't end it.
#[tokio::test(start_paused = true)]
async fn by_grpc_s_rules_headers_commit_a_stream() {
    let setup = setup().compatible(Compatibility::Grpc);
    for stack in Stack::KNOWING {
        let down = Reply::play([BodyPart::Wait(ms(50)), BodyPart::status(&Status::unavailable("down"))]);
        let server = VirtualServer::start(Script::at_once([Reply::unavailable(), down]));
        let response = stack.talk(server.channel(), &setup).listen(reported(three_lines())).await.unwrap();
        // It is handed on as soon as they are there.
        assert_eq!(server.log().elapsed(), ms(200), "{stack:?}");
        let status = response.into_inner().message().await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::Unavailable, "{stack:?}");
        assert_eq!(server.seen().len(), 2, "{stack:?}");
    }
    // Where the kind is not known it is buffered all the same, and not retried either.
    let down = Reply::play([BodyPart::Wait(ms(50)), BodyPart::status(&Status::unavailable("down"))]);
    let server = VirtualServer::start(Script::at_once([Reply::unavailable(), down]));
    let status =
        Stack::Layer.talk(server.channel(), &setup).listen(reported(three_lines())).await.unwrap_err();
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::Committed));
    assert_eq!(server.seen().len(), 2);
}
