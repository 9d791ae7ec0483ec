//! If a stream fails, its caller reads every message that a plain client would have read, in order, unless another attempt was
//! sent before anything was handed on.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, StopReason};
use tokio_stream::StreamExt as _;
use tonic::codegen::BoxStream;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{Note, OperationError, OperationReport, note};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::{
    RawFrame, RawServer, Setup, SocketServer, Stack, codes, lasting, reported, settings, three_lines,
};

const DOWN: Code = Code::Unavailable;
const COUNTS: [usize; 4] = [1, 2, 10, 100];
const RULES: [Compatibility; 3] = [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc];

/// `INTERNAL_ERROR`.
const BROKEN: u32 = 2;

/// How the messages of a stream lie in DATA frames, and what comes behind them.
fn plays(count: usize) -> [(&'static str, Vec<RawFrame>); 4] {
    let apart = || vec![RawFrame::Message; count];
    let together = || vec![RawFrame::Messages(count)];
    let play = |messages: Vec<RawFrame>, end| [vec![RawFrame::Headers], messages, vec![end]].concat();
    [
        ("apart, trailers", play(apart(), RawFrame::Trailers(14))),
        ("together, trailers", play(together(), RawFrame::Trailers(14))),
        ("apart, reset", play(apart(), RawFrame::Reset(BROKEN))),
        ("together, reset", play(together(), RawFrame::Reset(BROKEN))),
    ]
}

/// How many messages there are before the error, which there has to be.
async fn read(mut lines: Streaming<Line>) -> (usize, Status) {
    let mut count = 0;
    loop {
        match lines.message().await {
            Ok(Some(_)) => count += 1,
            Ok(None) => panic!("no error"),
            Err(status) => return (count, status),
        }
    }
}

fn setup() -> Setup {
    let settings = settings().to_builder().max_attempts(3).build().unwrap();
    Setup::new(settings).retrying([DOWN, Code::Internal])
}

#[tokio::test(start_paused = true)]
async fn every_message_before_an_error_is_read_whatever_comes_right_behind() {
    for count in COUNTS {
        for (name, play) in plays(count) {
            let plain = RawServer::start([play.clone()]);
            let lines = TonicTalkClient::new(plain.channel()).listen(Line::default()).await.unwrap();
            assert_eq!(read(lines.into_inner()).await.0, count, "plain, {name}");
            for (rules, retries) in RULES.into_iter().flat_map(|rules| [(rules, true), (rules, false)]) {
                for stack in Stack::ALL {
                    let case = format!("{count} {name} {rules} {retries} {stack:?}");
                    let server = RawServer::start(vec![play.clone(); 3]);
                    let setup = setup().compatible(rules);
                    let setup = if retries { setup } else { setup.without_retries() };
                    let response = stack.talk(server.channel(), &setup).listen(reported(three_lines())).await;
                    let response = response.unwrap_or_else(|status| panic!("{case}: {status:?}"));
                    let (read, status) = read(response.into_inner()).await;
                    assert_eq!(read, count, "{case}");
                    let expected = if name.ends_with("reset") {
                        tonic::Code::Internal
                    } else {
                        tonic::Code::Unavailable
                    };
                    assert_eq!(status.code(), expected, "{case}");
                    // A message that may be all there is of a unary response is held until another attempt is sent.
                    let is_held =
                        stack == Stack::Layer && count == 1 && rules != Compatibility::Grpc && retries;
                    assert_eq!(server.requests().len(), if is_held { 3 } else { 1 }, "{case}");
                }
            }
        }
    }
}

/// The rows of the report, why it stopped, and the notes.
fn outcome(report: &OperationReport) -> (Vec<Code>, Option<StopReason>, Vec<Note>) {
    (codes(report), report.stop_reason(), report.notes().to_vec())
}

#[tokio::test(start_paused = true)]
async fn a_message_that_was_held_comes_with_the_report_and_the_error_behind_it_too() {
    for (end, code) in [(RawFrame::Trailers(14), DOWN), (RawFrame::Reset(BROKEN), Code::Internal)] {
        for (rules, attempts, reason) in [
            (Compatibility::Documented, 3, StopReason::MaxAttempts),
            (Compatibility::GaxJava, 3, StopReason::MaxAttempts),
            (Compatibility::Grpc, 1, StopReason::Committed),
        ] {
            let server = RawServer::start(vec![vec![RawFrame::Headers, RawFrame::Message, end]; 3]);
            let mut client = Stack::Layer.talk(server.channel(), &setup().compatible(rules));
            let response = client.listen(reported(three_lines())).await.unwrap();
            let expected = (vec![code; attempts], Some(reason), vec![note::FAILED_BEHIND_MESSAGES]);
            assert_eq!(outcome(OperationReport::of(response.extensions()).unwrap()), expected, "{rules}");
            let (_, status) = read(response.into_inner()).await;
            assert_eq!(outcome(OperationError::of(&status).unwrap().report()), expected, "{rules}");
        }
    }
}

/// The wait is cut at the total timeout, or there is no time for it: nothing else was sent.
#[tokio::test(start_paused = true)]
async fn a_message_is_handed_on_where_no_attempt_follows_it() {
    let play = vec![RawFrame::Headers, RawFrame::Message, RawFrame::Trailers(14)];
    for setup in [
        Setup::new(lasting(150)).retrying(DOWN),
        Setup::new(settings()).retrying(Code::Aborted),
        Setup::new(settings()).retrying(DOWN).replaying(5),
    ] {
        let server = RawServer::start([play.clone()]);
        let response =
            Stack::Layer.talk(server.channel(), &setup).listen(reported(three_lines())).await.unwrap();
        let (count, status) = read(response.into_inner()).await;
        assert_eq!((count, status.code()), (1, tonic::Code::Unavailable));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_was_held_is_forgotten_once_another_attempt_is_sent() {
    let failed = vec![RawFrame::Headers, RawFrame::Message, RawFrame::Trailers(14)];
    let server = RawServer::start([failed, vec![RawFrame::Status(13, None)]]);
    let setup = setup().retrying(DOWN);
    let status =
        Stack::Layer.talk(server.channel(), &setup).listen(reported(three_lines())).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Internal);
    let report = OperationError::of(&status).unwrap().report().clone();
    assert_eq!(outcome(&report), (vec![DOWN, Code::Internal], Some(StopReason::NonRetryable), vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_known_kind_that_fails_without_a_message_is_retried() {
    for stack in Stack::ALL {
        let empty = vec![RawFrame::Headers, RawFrame::Trailers(14)];
        let good = vec![RawFrame::Headers, RawFrame::Message, RawFrame::Trailers(0)];
        let server = RawServer::start([empty, good]);
        let response = stack.talk(server.channel(), &setup()).listen(reported(three_lines())).await.unwrap();
        let mut lines = response.into_inner();
        assert_eq!(lines.message().await.unwrap(), Some(Line::default()), "{stack:?}");
        assert_eq!(lines.message().await.unwrap(), None, "{stack:?}");
        assert_eq!(server.requests().len(), 2, "{stack:?}");
    }
}

/// Sends as many lines as it is asked for, and then fails, all at once.
#[derive(Debug)]
struct Failing;

#[tonic::async_trait]
impl Talk for Failing {
    async fn ask(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn guess(&self, _: Request<Line>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn listen(&self, request: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        let count = request.into_inner().count;
        let line = |count| Ok(Line { text: String::new(), count });
        let lines = tokio_stream::iter((0..count).map(line));
        let failure = tokio_stream::once(Err(Status::unavailable("down")));
        Ok(Response::new(Box::pin(lines.chain(failure))))
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn chat(&self, _: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// tonic's own server puts what is ready into one frame, and how much of it has come when a client looks depends on time.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_message_of_a_tonic_server_is_read_over_a_socket() {
    let router = Server::builder().add_service(TalkServer::new(Failing));
    let server = SocketServer::grpc(SocketServer::ANY_PORT, router);
    let address = format!("http://{}", server.address());
    let channel: Channel = Endpoint::from_shared(address).unwrap().connect().await.unwrap();
    for stack in Stack::ALL {
        for rules in RULES {
            for _ in 0..20 {
                let mut client = stack.talk(channel.clone(), &setup().compatible(rules));
                let lines = client.listen(reported(three_lines())).await.unwrap().into_inner();
                let (count, status) = read(lines).await;
                assert_eq!((count, status.message()), (3, "down"), "{stack:?} {rules}");
            }
        }
    }
}
