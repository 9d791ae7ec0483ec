//! The fault proxy and the peers of the testing kit, as a plain client sees them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_connection::Resolver as _;
use gax_driver::credentials::CredentialsService;
use gax_testing::{
    Direction, HttpChange, HttpPeer, HttpReply, Pipes, Reply, Resolution, Script, ScriptedResolver,
    StorageEmulator, TokenEndpoint, TokenReply, VirtualServer,
};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tonic::Code;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{ConnectionFault, FaultProxy, FaultServer, HttpScript, VirtualClock, When, ms};

/// Sends everything back.
fn echo() -> Pipes {
    let pipes = Pipes::new();
    let mut incoming = pipes.incoming();
    tokio::spawn(async move {
        while let Some(Ok(io)) = incoming.next().await {
            let (mut reader, mut writer) = split(io);
            tokio::spawn(async move { copy(&mut reader, &mut writer).await });
        }
    });
    pipes
}

/// The bytes that come back of ten, whether the connection ends within a minute, and when all that was.
async fn echoed(faults: impl IntoIterator<Item = ConnectionFault>) -> (usize, bool, Duration) {
    let (proxy, pipes) = FaultProxy::in_memory(echo());
    proxy.next(faults);
    let (clock, mut io) = (VirtualClock::start(), pipes.connect().unwrap().into_inner());
    drop(io.write_all(&[7; 10]).await);
    let (mut received, mut last) = (Vec::new(), Duration::ZERO);
    let ended = timeout(Duration::from_secs(60), async {
        while io.read_buf(&mut received).await.is_ok_and(|read| read > 0) {
            last = clock.elapsed();
        }
    });
    let has_ended = ended.await.is_ok();
    assert_eq!(proxy.accepted(), 1);
    (received.len(), has_ended, last)
}

#[tokio::test(start_paused = true)]
async fn bytes_are_forwarded_until_a_fault() {
    use ConnectionFault::{Close, Delay, Drip, HalfOpen, Reply, Reset, Stall};
    use Direction::{Request, Response};
    let at = |direction, bytes| When::Bytes(direction, bytes);
    let drip = |direction| Drip { direction, bytes: 4, every: ms(100) };
    let stall = |direction, time| Stall { direction, when: at(direction, 3), time };
    for (faults, bytes, has_ended, last) in [
        (vec![], 10, false, 0),
        (vec![Close(When::Start)], 0, true, 0),
        (vec![Reset(When::Start)], 0, true, 0),
        (vec![Close(at(Response, 4))], 4, true, 0),
        (vec![Reset(at(Request, 0))], 0, true, 0),
        (vec![Close(When::Time(ms(50))), Delay(Request, ms(40))], 10, true, 40),
        (vec![Close(When::Time(ms(50))), Delay(Response, ms(60))], 0, true, 0),
        (vec![HalfOpen(When::Start)], 0, false, 0),
        (vec![HalfOpen(at(Response, 7))], 7, false, 0),
        (vec![stall(Request, None)], 3, false, 0),
        (vec![stall(Response, Some(ms(20)))], 10, false, 20),
        (vec![drip(Request)], 10, false, 200),
        (vec![drip(Request), drip(Response)], 10, false, 200),
        (vec![Reply(Bytes::from_static(b"\x15\x03\x01\0\x02\x02\x28"))], 7, true, 0),
    ] {
        let what = format!("{faults:?}");
        assert_eq!(echoed(faults).await, (bytes, has_ended, ms(last)), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn connections_are_refused_until_the_faults_change_and_broken_on_command() {
    let (proxy, pipes) = FaultProxy::in_memory(echo());
    let mut io = pipes.connect().unwrap().into_inner();
    io.write_all(&[7]).await.unwrap();
    io.read_u8().await.unwrap();
    assert_eq!(proxy.open(), 1);
    proxy.always([ConnectionFault::Refuse]);
    tokio::task::yield_now().await;
    assert!(pipes.connect().is_err());
    proxy.now(&ConnectionFault::Close(When::Start));
    assert!(io.read_u8().await.is_err());
    proxy.always([]);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    let mut io = pipes.connect().unwrap().into_inner();
    io.write_all(&[8]).await.unwrap();
    assert_eq!(io.read_u8().await.unwrap(), 8);
    assert_eq!((proxy.accepted(), proxy.open()), (2, 1));
}

#[tokio::test]
async fn sockets_are_reset_and_refused() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, address) = FaultProxy::listen(server.local_addr().unwrap()).await.unwrap();
    proxy.next([ConnectionFault::Reset(When::Bytes(Direction::Request, 1))]);
    let mut io = TcpStream::connect(address).await.unwrap();
    let (mut accepted, _) = server.accept().await.unwrap();
    io.write_all(&[7]).await.unwrap();
    assert_eq!(accepted.read_u8().await.unwrap(), 7);
    assert_eq!(io.read_u8().await.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    proxy.always([ConnectionFault::Refuse]);
    while TcpStream::connect(address).await.is_ok() {}
    proxy.always([]);
    while TcpStream::connect(address).await.is_err() {
        tokio::task::yield_now().await;
    }
}

/// The codes of so many calls in a row over a plain channel, and how many connections they needed.
async fn calls(count: usize, delay: Duration, faults: Vec<ConnectionFault>) -> (Vec<Code>, usize) {
    let server = VirtualServer::start(Script::cycle([(delay, Reply::Serve)]));
    let (proxy, pipes) = FaultProxy::in_memory(server.connector());
    proxy.always(faults);
    let mut client = AssetServiceClient::new(pipes.channel());
    let mut codes = Vec::new();
    for _ in 0..count {
        let call = timeout(Duration::from_secs(60), client.list_assets(ListAssetsRequest::default()));
        codes.push(
            call.await
                .map_or(Code::DeadlineExceeded, |end| end.map_or_else(|status| status.code(), |_| Code::Ok)),
        );
    }
    (codes, proxy.accepted())
}

#[tokio::test(start_paused = true)]
async fn http2_connections_end_and_are_limited_by_frames() {
    use ConnectionFault::{Close, EndStreams, GoAway, HalfOpen, StreamLimit, TinyFrames, Window};
    let goaway = |when, reason| GoAway { when, reason, data: Bytes::from_static(b"too_many_pings") };
    let end = |reset| EndStreams { after: ms(10), reset };
    let ok = |count| vec![Code::Ok; count];
    let mut wrong = Vec::new();
    for (delay, faults, codes, connections) in [
        (0, vec![goaway(When::Requests(2), 0)], ok(5), 3),
        (100, vec![goaway(When::Time(ms(150)), 0)], ok(4), 2),
        (0, vec![goaway(When::Requests(1), 11)], vec![Code::Unknown; 2], 2),
        (0, vec![Close(When::Requests(1))], vec![Code::Unknown; 2], 2),
        (0, vec![TinyFrames(1), Window(1), StreamLimit(When::Start, 1)], ok(3), 1),
        (0, vec![StreamLimit(When::Requests(1), 1)], ok(3), 1),
        (0, vec![StreamLimit(When::Start, 0)], vec![Code::Ok, Code::DeadlineExceeded], 1),
        (0, vec![HalfOpen(When::Start)], vec![Code::DeadlineExceeded], 1),
        (100, vec![end(Some(8))], vec![Code::Cancelled; 2], 1),
        (100, vec![end(None)], vec![Code::Internal; 2], 1),
    ] {
        let what = format!("{faults:?}");
        let seen = calls(codes.len(), ms(delay), faults).await;
        if seen != (codes, connections) {
            wrong.push((what, seen));
        }
    }
    assert_eq!(wrong, []);
}

/// The status, the headers and the body of a `GET`.
async fn got(pipes: &Pipes) -> Result<(u16, http::HeaderMap, Bytes), String> {
    let request = Request::get("http://storage.test/storage/v1/b/b/o/o?alt=media").body(Full::default());
    let client = FaultServer::full_client(pipes.clone());
    let response = client.request(request.unwrap()).await.map_err(|error| error.to_string())?;
    let (head, body) = response.into_parts();
    let body = timeout(ms(1000), body.collect()).await.map_err(|_| "stalled")?;
    Ok((head.status.as_u16(), head.headers, body.map_err(|error| error.to_string())?.to_bytes()))
}

#[tokio::test(start_paused = true)]
async fn replies_are_changed_on_their_way() {
    let storage = StorageEmulator::start();
    storage.put("b", "o", "0123456789".to_owned());
    let get = async |changes: Vec<HttpChange>| {
        let script = HttpScript::always(HttpReply::Forward(changes));
        got(&HttpPeer::before(storage.connector(), script).1).await
    };
    let (status, headers, body) = get(vec![]).await.unwrap();
    assert_eq!((status, &*body), (200, &b"0123456789"[..]));
    assert!(headers.contains_key("x-goog-hash"));
    let changes = vec![
        HttpChange::Status(206),
        HttpChange::Remove("x-goog-hash"),
        HttpChange::Set("content-range", "bytes 0-9/10".to_owned()),
        HttpChange::Body(Bytes::from_static(b"login")),
        HttpChange::Twice,
    ];
    let (status, headers, body) = get(changes).await.unwrap();
    assert_eq!((status, &*body), (206, &b"login"[..]));
    assert!(!headers.contains_key("x-goog-hash") && headers.contains_key("content-range"));
    assert!(get(vec![HttpChange::Cut(3)]).await.is_err());
    assert!(get(vec![HttpChange::Announce(11)]).await.is_err());
    assert_eq!(get(vec![HttpChange::Stall(3)]).await.unwrap_err(), "stalled");
}

#[tokio::test(start_paused = true)]
async fn a_peer_closes_idle_connections_and_tunnels() {
    let late = HttpReply::status(408).with_header("connection", "close");
    let (peer, pipes) = HttpPeer::in_memory(HttpScript::default().idle(ms(1000), Some(late)));
    let mut io = pipes.connect().unwrap().into_inner();
    io.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut text = String::new();
    io.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("HTTP/1.1 408 "), "{text}");
    assert_eq!((peer.arrivals().len(), peer.connections()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn resolvers_and_token_endpoints_follow_their_scripts() {
    let addresses = vec!["127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap()];
    let resolver = ScriptedResolver::new([
        Resolution::Error("gone".to_owned()),
        Resolution::Addresses(addresses),
        Resolution::Hang,
    ]);
    assert_eq!(resolver.resolve().await.unwrap_err().to_string(), "gone");
    assert_eq!(resolver.resolve().await.unwrap().len(), 2);
    assert!(timeout(ms(1000), resolver.resolve()).await.is_err());
    assert!(timeout(ms(1000), resolver.changed()).await.is_err());
    resolver.clone().changing().changed().await;
    assert_eq!(resolver.asked(), 3);

    let endpoint = TokenEndpoint::new([
        TokenReply::Token("a".to_owned(), Some(Duration::ZERO)),
        TokenReply::Error(tonic_gax::Code::PermissionDenied),
        TokenReply::Hang,
    ]);
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let service = CredentialsService::new(server.channel(), endpoint.credentials());
    let mut client = AssetServiceClient::new(service);
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    // Tokens are used for a second at least.
    tokio::time::sleep(ms(1000)).await;
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    assert_eq!(endpoint.asked(), 2);
}
