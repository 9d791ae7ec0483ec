//! Calls that take a stream, without any replay: settings, deadline, observers, report and headers are those of one attempt.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, StopReason};
use tonic::{Request, Response, Status};
use tonic_gax::{CallOptions, Note, OperationError, OperationReport, RequestExt as _};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::{
    BodyPart, Recorder, Reply, Script, Setup, Stack, TalkCaller, VirtualServer, line, ms, row, rows, settings,
};

/// The RPCs of Talk that take a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rpc {
    Tell,
    Chat,
}

impl Rpc {
    const ALL: [Self; 2] = [Self::Tell, Self::Chat];

    /// Calls it with three lines, and reads the reply to its end.
    async fn call(
        self,
        client: &mut TalkCaller,
        options: CallOptions,
    ) -> Result<Response<Vec<Line>>, Status> {
        let request = Request::new(tokio_stream::iter((1..=3).map(line))).with_call_options(options);
        if self == Self::Tell {
            return Ok(client.tell(request).await?.map(|last| vec![last]));
        }
        let (metadata, mut lines, extensions) = client.chat(request).await?.into_parts();
        let mut all = Vec::new();
        while let Some(line) = lines.message().await? {
            all.push(line);
        }
        Ok(Response::from_parts(metadata, all, extensions))
    }
}

fn report(status: &Status) -> OperationReport {
    OperationError::of(status).unwrap().report().clone()
}

#[tokio::test(start_paused = true)]
async fn the_report_has_the_one_attempt() {
    for (rpc, stack) in Rpc::ALL.into_iter().flat_map(|rpc| Stack::KNOWING.map(|stack| (rpc, stack))) {
        let server = VirtualServer::start(Script::at_once([Reply::Pass, Reply::unavailable()]));
        let mut client = stack.talk(server.channel(), &Setup::new(settings()).reporting());
        let response = rpc.call(&mut client, CallOptions::new()).await.unwrap();
        assert_eq!(response.get_ref().len(), if rpc == Rpc::Tell { 1 } else { 3 }, "{rpc:?} {stack:?}");
        let report = response.extensions().get::<OperationReport>().unwrap();
        assert_eq!((report.attempt_count(), report.stop_reason()), (1, None), "{rpc:?} {stack:?}");
        // RPC timeouts are not those of streams: the attempt has all the time of the operation.
        assert_eq!(rows(report), [row(1, 10_000, 0, 0, 0, Code::Ok)], "{rpc:?} {stack:?}");

        let status = rpc.call(&mut client, CallOptions::new()).await.unwrap_err();
        let report = self::report(&status);
        assert_eq!(rows(&report), [row(1, 10_000, 0, 0, 0, Code::Unavailable)], "{rpc:?} {stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{rpc:?} {stack:?}");
        assert_eq!(report.notes(), [Note::REQUEST_IS_A_STREAM], "{rpc:?} {stack:?}");
        assert_eq!(server.seen(), [(0, Some(10_000)); 2], "{rpc:?} {stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_s_own_time_is_the_deadline_of_the_whole_stream() {
    for (rpc, stack) in Rpc::ALL.into_iter().flat_map(|rpc| Stack::KNOWING.map(|stack| (rpc, stack))) {
        let first = Reply::play([BodyPart::message(&line(1)), BodyPart::Hang]);
        let server = VirtualServer::start(Script::always(first));
        let mut client = stack.talk(server.channel(), &Setup::new(settings()));
        let status = rpc.call(&mut client, CallOptions::new().timeout(ms(700))).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{rpc:?} {stack:?}");
        assert_eq!(server.seen(), [(0, Some(700))], "{rpc:?} {stack:?}");
        assert_eq!(server.log().elapsed(), ms(700), "{rpc:?} {stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn observers_are_notified_of_the_attempt_and_of_each_message() {
    for (rpc, stack) in Rpc::ALL.into_iter().flat_map(|rpc| Stack::KNOWING.map(|stack| (rpc, stack))) {
        let server = VirtualServer::start(Script::at_once([Reply::Pass, Reply::unavailable()]));
        let recorder = Recorder::default();
        let mut client = stack.talk(server.channel(), &Setup::new(settings()).recorded(&recorder));
        rpc.call(&mut client, CallOptions::new()).await.unwrap();
        let mut expected = vec![
            format!("operation_started test.talk.v1.Talk/{rpc:?}"),
            "attempt_started 1 Original".to_owned(),
            "attempt_sent 1 after 0".to_owned(),
        ];
        expected.push("committed 1".to_owned());
        let messages = if rpc == Rpc::Tell { 1 } else { 3 };
        expected.extend(std::iter::repeat_n("response_received 1".to_owned(), messages));
        expected.push("attempt_succeeded 1 OK 0-0".to_owned());
        expected.push("operation_succeeded OK 1 attempts 0 ms".to_owned());
        assert_eq!(recorder.take(), expected, "{rpc:?} {stack:?}");

        rpc.call(&mut client, CallOptions::new()).await.unwrap_err();
        let lines = recorder.take();
        let end = "operation_failed UNAVAILABLE 1 attempts 0 ms NOT_REPLAYABLE";
        assert_eq!(lines.last().unwrap(), end, "{rpc:?} {stack:?}");
        // The headers of the attempt are the observer's too.
        let arrivals = server.arrivals();
        let attempts: Vec<_> = arrivals.iter().map(|arrival| arrival.header("x-attempt")).collect();
        assert_eq!(attempts, [Some("1"); 2], "{rpc:?} {stack:?}");
    }
}
