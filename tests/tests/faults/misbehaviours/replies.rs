//! Replies of gRPC and REST servers that are no single misbehaviour of a connection, played to the clients that they concern.

use super::clients::{Client, Connector, End};
use super::server::{Ledger, Server};
use bytes::Bytes;
use gax_client::longrunning::LongRunningError;
use gax_streams::resumption::Resumption;
use gax_testing::{Pipes, VirtualServer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::CompressionEncoding::Gzip;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::Flat;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::everything_service_gax::{
    EverythingServiceClient, EverythingServiceSettings,
};
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{
    Act, BodyPart, Feed, RawFrame, RawServer, Reply, RestReply, RestServer, Script, Setup, line, settings,
    virtual_time,
};
use tower_service::Service;

fn clients() -> impl Iterator<Item = Client> {
    "LGKS".chars().flat_map(|letter| Client::of(letter).iter().copied())
}

/// Makes the call of that number, and returns its end.
async fn call(client: Client, pipes: Pipes, call: u32) -> End {
    client.calls(&Connector::new(pipes), &Ledger::default())(call).await
}

fn is_failed(end: &End) -> bool {
    matches!(end, End::Failed { .. })
}

/// They reserve no memory for what has not come.
#[test]
fn lengths_that_claim_more_than_anybody_reads() {
    for (length, client) in clients().flat_map(|client| [(256 << 20, client), (u32::MAX, client)]) {
        let mut end = End::Done;
        let measured = allocation_counter::measure(|| {
            end = virtual_time().block_on(async {
                let prefix = [&[0][..], &u32::to_be_bytes(length)].concat();
                let claims = Reply::play([BodyPart::Data(prefix.into()), BodyPart::Hang]);
                call(client, VirtualServer::start(Script::always(claims)).connector(), 0).await
            });
        });
        assert!(is_failed(&end), "{client:?}: {end:?}");
        assert!(measured.bytes_max < 16 << 20, "{client:?}: {} bytes", measured.bytes_max);
    }
}

#[tokio::test(start_paused = true)]
async fn headers_that_are_too_long() {
    for client in clients() {
        let server = RawServer::start(vec![vec![RawFrame::LongHeaders]; 200]);
        let end = call(client, server.connector(), 0).await;
        assert!(is_failed(&end), "{client:?}: {end:?}");
        assert!(server.seen().len() <= 3, "{client:?}: {}", server.seen().len());
    }
}

#[tokio::test(start_paused = true)]
async fn trailers_alone() {
    for client in clients() {
        let script = Script::of([Reply::unavailable(), Reply::unavailable()]);
        let server = VirtualServer::serving(Server::new(&Ledger::default()), script);
        assert_eq!(call(client, server.connector(), 0).await, End::Done, "{client:?}");
        assert_eq!(server.arrivals().len(), 3, "{client:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_compressed_unasked() {
    for client in clients() {
        let beats = [
            BodyPart::Data(Bytes::from_static(&[1, 0, 0, 0, 1, 7])),
            BodyPart::trailers(&[("grpc-status", "0")]),
        ];
        let server = VirtualServer::start(Script::always(Reply::play(beats)));
        let end = call(client, server.connector(), 0).await;
        assert!(is_failed(&end) && format!("{end:?}").contains("compress"), "{client:?}: {end:?}");
        // Its own settings say that the code of that error is retried.
        if client != Client::Subscribed {
            assert_eq!(server.arrivals().len(), 1, "{client:?}");
        }
    }
}

/// Compresses the first stream, and no other.
#[derive(Clone)]
struct Compressing {
    calls: Arc<AtomicU32>,
    first: TalkServer<Feed>,
    next: TalkServer<Feed>,
}

impl Service<http::Request<Body>> for Compressing {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = <TalkServer<Feed> as Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let is_first = self.calls.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first { self.first.call(request) } else { self.next.call(request) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_goes_on_uncompressed() {
    let first = vec![Act::Line(1), Act::Line(2), Act::Wait(5), Act::Fail(Status::unavailable("down"))];
    let feed = Feed::new([first, vec![Act::Line(3)]]);
    let next = TalkServer::new(feed.clone());
    let server = Compressing { calls: Arc::default(), first: next.clone().send_compressed(Gzip), next };
    let server = VirtualServer::serving(server, Script::new());
    let resumption = Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count));
    let settings = Setup::new(settings()).talk_listening(|listen| {
        listen.set_resumption(resumption);
    });
    let client = TalkClient::with_settings(server.channel(), settings).accept_compressed(Gzip);
    let response = client.listen(line(0)).await.unwrap();
    assert_eq!(response.metadata().get("grpc-encoding").unwrap(), "gzip");
    let mut lines = response.into_inner();
    let mut numbers = Vec::new();
    while let Some(line) = lines.message().await.unwrap() {
        numbers.push(line.count);
    }
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(feed.asked().iter().map(|(_, behind)| *behind).collect::<Vec<_>>(), [0, 2]);
}

/// The end of an operation whose last poll has that reply.
async fn built(last: &'static str) -> Result<i64, LongRunningError> {
    let server = RestServer::new([RestReply::ok(r#"{"name":"builds/7"}"#), RestReply::ok(last)]);
    let client = EverythingServiceClient::rest(server.clone(), EverythingServiceSettings::default());
    let built = client.build_operation(Flat { name: "things/1".to_owned(), ..Flat::default() }).await;
    assert_eq!(server.requests().len(), 2, "{last}");
    built.map(|thing| thing.an_int64)
}

#[tokio::test(start_paused = true)]
async fn operations_over_rest() {
    const RESPONSE: &str = r#"{"name":"builds/7","done":true,"metadata":{"@type":"type.googleapis.com/rest.everything.v1.Everything"},
        "response":{"@type":"type.googleapis.com/rest.everything.v1.Everything","anInt64":"5"}}"#;
    assert_eq!(built(RESPONSE).await.unwrap(), 5, "its metadata has another type");
    for (last, words) in [
        (r#"{"name":"builds/7","done":true}"#, "neither"),
        (r#"{"name":"builds/7","done":true,"response":{}}"#, "is done"),
        (
            r#"{"name":"builds/7","done":true,"response":{"@type":"type.googleapis.com/rest.everything.v1.BuildProgress"}}"#,
            "BuildProgress",
        ),
    ] {
        let error = built(last).await.unwrap_err().to_string();
        assert!(error.contains(words), "{last}: {error}");
    }
}
