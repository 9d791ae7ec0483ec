//! Messages of a stream that a layer resumes which are longer than it buffers: the client's own limit is asked.

use bytes::Bytes;
use gax_retry::Code;
use gax_streams::ResumptionExt as _;
use gax_streams::StreamReport;
use gax_streams::resumption::Resumption;
use gax_testing::{BodyPart, VirtualServer as Server};
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_gax::{Note, RetryService};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::{Recorder, Reply, Script, Setup, Talker, line, settings};

fn by_number() -> Resumption {
    Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count))
}

fn serve(replies: impl IntoIterator<Item = Reply>) -> Server {
    Server::serving(TalkServer::new(Talker::default()), Script::at_once(replies))
}

fn client(server: &Server, setup: &Setup) -> TalkClient<RetryService<Channel>> {
    TalkClient::new(setup.layer_with_descriptors().layer(server.channel()))
}

fn long(number: u32) -> Line {
    Line { text: "a".repeat(5 * 1024 * 1024), count: number }
}

/// It is the client that refuses it, before more than the prefix has come: the server sends no more.
#[tokio::test(start_paused = true)]
async fn a_message_above_the_limit_of_the_client_is_refused_at_its_prefix() {
    const PREFIX: &[u8] = &[0, 255, 255, 255, 255];
    for pieces in [1, 2] {
        let first = if pieces == 1 {
            vec![BodyPart::message(&line(1)), BodyPart::Data(Bytes::from_static(PREFIX))]
        } else {
            // A prefix in two frames, the first of which has the message before it as well.
            let BodyPart::Data(message) = BodyPart::message(&line(1)) else {
                unreachable!("a message is data")
            };
            let (begin, end) = PREFIX.split_at(2);
            let joined = Bytes::from([&message, begin].concat());
            vec![BodyPart::Data(joined), BodyPart::Data(Bytes::from_static(end))]
        };
        let server = serve([Reply::play([first, vec![BodyPart::Hang]].concat())]);
        let request = Request::new(line(0)).with_resumption(by_number());
        let response = client(&server, &Setup::new(settings())).listen(request).await.unwrap();
        let report = StreamReport::of(&response).cloned();
        let mut lines = response.into_inner();
        assert_eq!(lines.message().await.unwrap(), Some(line(1)));
        let status = lines.message().await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::OutOfRange, "{pieces}: {status}");
        assert_eq!(report.unwrap().get().unwrap().notes(), [Note::RESPONSE_TOO_LARGE_TO_BUFFER]);
        assert_eq!(server.seen().len(), 1);
    }
}

/// A client with a higher limit gets it, and all that comes behind it. The strategy has not seen it, so that the stream can't be
/// taken up any more.
#[tokio::test(start_paused = true)]
async fn a_longer_message_goes_to_the_caller_as_it_comes_and_ends_the_resumption() {
    for (first, observed) in [(None, true), (Some(line(1)), false)] {
        let numbers: Vec<_> = first.into_iter().chain([long(2), line(3)]).collect();
        let again = Reply::messages_then_status(&numbers[..1], &Status::unavailable("again"));
        let reply = Reply::messages_then_status(&numbers, &Status::unavailable("down"));
        // Before that message the stream is resumed.
        let is_first = numbers.len() == 2;
        let server = if is_first { serve([reply]) } else { serve([again, reply]) };
        let (recorder, setup) = (Recorder::default(), Setup::new(settings()));
        let setup = if observed { setup.recorded(&recorder) } else { setup };
        let mut client = client(&server, &setup).max_decoding_message_size(8 * 1024 * 1024);
        let response = client.listen(Request::new(line(0)).with_resumption(by_number())).await.unwrap();
        let mut lines = response.into_inner();
        for expected in numbers {
            assert_eq!(lines.message().await.unwrap(), Some(expected));
        }
        let status = lines.message().await.unwrap_err();
        assert_eq!((status.code(), status.message()), (tonic::Code::Unavailable, "down"));
        assert_eq!(server.seen().len(), if is_first { 1 } else { 2 });
        if observed {
            let notified = recorder.take();
            let messages = notified.iter().filter(|line| line.starts_with("response_received")).count();
            let last = notified.last().unwrap();
            assert_eq!(messages, 2, "{notified:?}");
            assert!(last.starts_with(&format!("operation_failed {}", Code::Unavailable)), "{last}");
        }
    }
}
