//! Compressed messages, both ways.

use bytes::Bytes;
use gax_retry::{Code, StopReason};
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::{ResumptionExt as _, Streams};
use gax_table::RetryTable;
use gax_testing::{BodyPart, VirtualServer};
use tonic::codec::CompressionEncoding::Gzip;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{Note, OperationReport, RetryLayer, note};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{
    Act, Assets, Feed, Log, Reply, Script, Scripted, Setup, Talker, error_report, line, ms, pipes, report_of,
    settings,
};

/// A server that compresses and fails once.
fn server() -> (Channel, Log) {
    let log = Log::default();
    let assets = AssetServiceServer::new(Assets::default()).accept_compressed(Gzip).send_compressed(Gzip);
    let assets = Scripted::new(assets, Script::at_once([Reply::unavailable()]), log.clone());
    let (channel, incoming) = pipes();
    tokio::spawn(Server::builder().add_service(assets).serve_with_incoming(incoming));
    (channel, log)
}

/// A request and a response that compress well.
fn request() -> ListAssetsRequest {
    ListAssetsRequest { parent: "projects/".repeat(200), page_size: 3, ..ListAssetsRequest::default() }
}

fn client(channel: Channel) -> AssetServiceClient<Channel> {
    AssetServiceClient::with_settings(channel, Setup::new(settings()).client())
}

#[tokio::test(start_paused = true)]
async fn a_generated_client_compresses_every_attempt() {
    let (channel, log) = server();
    let client = client(channel).send_compressed(Gzip);
    let result = client.list_assets(request()).await;
    assert_eq!(report_of(&result).attempts().len(), 2);
    assert_eq!(result.unwrap().into_inner().assets.len(), 3);
    let arrivals = log.arrivals();
    assert_eq!(arrivals.len(), 2);
    for arrival in &arrivals {
        assert_eq!(arrival.header("grpc-encoding"), Some("gzip"));
        assert!(arrival.body.len() < 200, "{} bytes", arrival.body.len());
        assert_eq!(arrival.body[0], 1, "the flag of a compressed message");
        assert_eq!(arrival.body, arrivals[0].body);
        assert_eq!(arrival.timeout(), Some(1000));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_resumes_compresses_every_request() {
    let text = "a".repeat(500);
    let scripted =
        [Reply::messages_then_status(&[line(1)], &Status::unavailable("")), Reply::messages(&[line(2)])];
    let talk = TalkServer::new(Talker::default()).accept_compressed(Gzip);
    let server = VirtualServer::serving(talk, Script::at_once(scripted));
    let resumption = Resumption::by_position(
        |line: &Line| line.count,
        |first: &Line, count| Line { count, ..first.clone() },
    );
    let settings = Setup::new(settings()).talk_listening(|listen| {
        listen.set_resumption(resumption);
    });
    let client = TalkClient::with_settings(server.channel(), settings).send_compressed(Gzip);
    let mut lines = client.listen(Line { text, count: 0 }).await.unwrap().into_inner();
    assert_eq!(lines.message().await.unwrap(), Some(line(1)));
    assert_eq!(lines.message().await.unwrap(), Some(line(2)));
    assert_eq!(lines.message().await.unwrap(), None);
    let arrivals = server.arrivals();
    assert_eq!(arrivals.len(), 2);
    for arrival in &arrivals {
        assert_eq!(arrival.header("grpc-encoding"), Some("gzip"));
        assert_eq!(arrival.body[0], 1, "the flag of a compressed message");
        assert!(arrival.body.len() < 100, "{} bytes", arrival.body.len());
    }
}

/// A layer reads no compressed messages: the stream goes to its caller as it comes, and breaks off for good.
#[tokio::test(start_paused = true)]
async fn a_compressed_stream_passes_through_a_layer_with_a_note() {
    let feed =
        Feed::new([vec![Act::Line(1), Act::Line(2), Act::Wait(5), Act::Fail(Status::unavailable(""))]]);
    let talk = TalkServer::new(feed.clone()).send_compressed(Gzip).accept_compressed(Gzip);
    let server = VirtualServer::serving(talk, Script::new());
    let layer = Setup::new(settings()).layer_with_descriptors();
    let mut client = TonicTalkClient::new(layer.layer(server.channel())).accept_compressed(Gzip);
    let response = client.listen(Request::new(line(0)).with_resumption(by_number())).await.unwrap();
    assert_eq!(response.metadata().get("grpc-encoding").unwrap(), "gzip");
    let report = response.extensions().get::<OperationReport>().unwrap();
    assert_eq!(report.notes(), [note::RESUMPTION_UNUSED]);
    let mut lines = response.into_inner();
    for number in 1..=2 {
        assert_eq!(lines.message().await.unwrap(), Some(line(number)));
    }
    assert_eq!(lines.message().await.unwrap_err().code(), tonic::Code::Unavailable);
    assert_eq!(feed.asked().len(), 1);
}

fn by_number() -> Resumption {
    Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count))
}

/// The caller has headers which say that the stream is not compressed: the layer asks for no compression any more.
#[tokio::test(start_paused = true)]
async fn a_stream_that_a_layer_has_begun_to_resume_goes_on_uncompressed() {
    let talk = TalkServer::new(Feed::new([vec![Act::Line(2)]])).send_compressed(Gzip);
    let broken = Reply::messages_then_status(&[line(1)], &Status::unavailable(""));
    let server = VirtualServer::serving(talk, Script::of([broken, Reply::Pass]));
    let mut client =
        TonicTalkClient::new(Setup::new(settings()).layer_with_descriptors().layer(server.channel()))
            .accept_compressed(Gzip);
    let response = client.listen(Request::new(line(0)).with_resumption(by_number())).await.unwrap();
    let mut lines = response.into_inner();
    for expected in [Some(line(1)), Some(line(2)), None] {
        assert_eq!(lines.message().await.unwrap(), expected);
    }
    let asked: Vec<_> = server
        .arrivals()
        .iter()
        .map(|arrival| arrival.header("grpc-accept-encoding").map(str::to_owned))
        .collect();
    assert_eq!(asked, [Some("gzip,identity".to_owned()), None]);
}

/// A server that compresses all the same can't be read: the stream ends with an error, never as if it were whole. A wait timeout
/// makes streams go over several connections, too.
#[tokio::test(start_paused = true)]
async fn a_later_response_that_a_layer_can_not_read_is_an_error() {
    let compressed = Reply::play_with(
        &[("grpc-encoding", "gzip")],
        [
            BodyPart::Data(Bytes::from_static(&[1, 0, 0, 0, 1, 9])),
            BodyPart::trailers(&[("grpc-status", "0")]),
        ],
    );
    for waits in [false, true] {
        let first = if waits {
            Reply::messages_then_stall(&[] as &[Line])
        } else {
            Reply::messages_then_status(&[line(1)], &Status::unavailable(""))
        };
        let script = Script::of([first, compressed.clone()]);
        let server = VirtualServer::serving(TalkServer::new(Feed::new([])), script);
        let table = RetryTable::builder().method("/test.talk.v1.Talk/Listen", settings(), Code::Unavailable);
        let table = if waits { table.wait_timeout(ms(300)) } else { table }.build().unwrap();
        let layer = RetryLayer::new(table).facts(&tonic_gax_tests::generated::facts()).streams(Streams);
        let mut client = TonicTalkClient::new(layer.layer(server.channel())).accept_compressed(Gzip);
        let request = Request::new(line(0));
        let request = if waits { request } else { request.with_resumption(by_number()) };
        let mut lines = client.listen(request).await.unwrap().into_inner();
        if !waits {
            assert_eq!(lines.message().await.unwrap(), Some(line(1)));
        }
        let status = lines.message().await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::Internal, "{status}");
        let report = error_report(&status);
        assert_eq!((report.stop_reason(), report.attempts().len()), (Some(StopReason::NonRetryable), 2));
        assert_eq!(report.notes(), [Note::UNREADABLE_RESPONSE]);
    }
}

/// Nor does it read a request that is compressed, is no message of the resumption's type, or is one of many.
#[tokio::test(start_paused = true)]
async fn a_request_that_a_layer_can_not_read_is_not_resumed() {
    let of_text = || Resumption::by_position(|text: &String| text.clone(), |_: &String, text| text);
    let server =
        VirtualServer::serving(TalkServer::new(Talker::default()).accept_compressed(Gzip), Script::new());
    let layer = Setup::new(settings()).layer_with_descriptors();
    let client = TonicTalkClient::new(layer.layer(server.channel()));
    let note = |response: &Response<Streaming<Line>>| {
        response.extensions().get::<OperationReport>().and_then(|report| report.notes().first().copied())
    };
    let asked = Line { text: "a".repeat(500), count: 2 };
    let mut compressing = client.clone().send_compressed(Gzip);
    let request = Request::new(asked.clone()).with_resumption(by_number());
    let response = compressing.listen(request).await.unwrap();
    assert_eq!(note(&response), Some(note::RESUMPTION_UNUSED));
    let other = Resumption::new(|_: &Other| OtherStrategy);
    let request = Request::new(asked).with_resumption(other);
    let response = client.clone().listen(request).await.unwrap();
    assert_eq!(note(&response), Some(note::RESUMPTION_UNUSED));
    let request = Request::new(tokio_stream::iter([line(1), line(2)])).with_resumption(of_text());
    let response = client.clone().chat(request).await.unwrap();
    assert_eq!(note(&response), Some(note::RESUMPTION_UNUSED));
    let mut lines = response.into_inner();
    assert_eq!(lines.message().await.unwrap(), Some(line(1)));
}

/// A message whose first field is a number, which a line's is not.
#[derive(Clone, PartialEq, prost::Message)]
struct Other {
    #[prost(uint32, tag = "1")]
    number: u32,
}

struct OtherStrategy;

impl StreamResumption for OtherStrategy {
    type Request = Other;
    type Response = Other;

    fn process(&mut self, _: &mut Other) -> Processed {
        Processed::Skip
    }

    fn resume(&mut self, _: &Status) -> Resume<Other> {
        Resume::Stop
    }
}

#[tokio::test(start_paused = true)]
async fn a_generated_client_reads_compressed_responses() {
    let (channel, log) = server();
    let client = client(channel).accept_compressed(Gzip);
    let result = client.list_assets(request()).await;
    assert_eq!(report_of(&result).attempts().len(), 2);
    let response = result.unwrap();
    assert_eq!(response.metadata().get("grpc-encoding").unwrap(), "gzip");
    assert!(!response.metadata().contains_key("grpc-status"));
    let assets = response.into_inner().assets;
    assert_eq!(assets.len(), 3);
    assert_eq!(assets[2].name, request().parent);
    for arrival in log.arrivals() {
        assert_eq!(arrival.header("grpc-accept-encoding"), Some("gzip,identity"));
        assert_eq!(arrival.header("grpc-encoding"), None);
        assert_eq!(arrival.timeout(), Some(1000));
    }
}

#[tokio::test(start_paused = true)]
async fn both_ways_at_once_as_tonic_s_client_over_the_layer() {
    let (channel, generated) = server();
    let both = client(channel).send_compressed(Gzip).accept_compressed(Gzip);
    both.list_assets(request()).await.unwrap();
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let (channel, layered) = server();
        let mut client = TonicClient::new(layer.layer(channel)).send_compressed(Gzip).accept_compressed(Gzip);
        let result = client.list_assets(request()).await;
        assert_eq!(report_of(&result).attempts().len(), 2);
        assert_eq!(result.unwrap().into_inner().assets.len(), 3);
        for (one, other) in generated.arrivals().iter().zip(&layered.arrivals()) {
            assert_eq!(one.headers, other.headers);
            assert_eq!(one.body, other.body);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn metadata_goes_along() {
    let (channel, log) = server();
    let client = client(channel).send_compressed(Gzip);
    let mut request = Request::new(request());
    request.metadata_mut().insert("x-one", "1".parse().unwrap());
    request.set_timeout(ms(600));
    client.list_assets(request).await.unwrap();
    let seen: Vec<_> = log.arrivals().iter().map(tonic_gax_tests::Arrival::timeout).collect();
    assert_eq!(seen, [Some(600), Some(400)]);
    assert!(log.arrivals().iter().all(|arrival| arrival.header("x-one") == Some("1")));
}

#[tokio::test(start_paused = true)]
async fn limits_hold_for_compressed_messages() {
    let (channel, log) = server();
    let small = client(channel.clone()).send_compressed(Gzip).max_encoding_message_size(10);
    let status = small.list_assets(request()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::OutOfRange);
    assert_eq!(log.seen(), []);

    let small = client(channel).accept_compressed(Gzip).max_decoding_message_size(10);
    let status = small.list_assets(request()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::OutOfRange);
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
}

/// A server that can't read what it is sent says so, and the client does not insist.
#[tokio::test(start_paused = true)]
async fn an_encoding_that_the_server_does_not_know_is_unimplemented() {
    let log = Log::default();
    let assets =
        Scripted::new(AssetServiceServer::new(Assets::default()), Script::always(Reply::Serve), log.clone());
    let (channel, incoming) = pipes();
    tokio::spawn(Server::builder().add_service(assets).serve_with_incoming(incoming));
    let status = client(channel).send_compressed(Gzip).list_assets(request()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unimplemented);
    assert_eq!(error_report(&status).attempts()[0].code(), Code::Unimplemented);
    assert_eq!(log.seen().len(), 1);
}
