//! Bodies of HTTP requests that are given up while they are sent.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService, OperationOptions, ReplayBody};
use gax_testing::Pipes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::oneshot;
use tokio_stream::{Stream, StreamExt as _};
use tonic_gax::{Code, RetrySettings};
use tonic_gax_tests::{FaultServer, MemoryConnector, delays, ms};
use tower_service::Service as _;

const LENGTH: usize = 32 * 1024 * 1024;
/// The bytes of a cancelled upload that may still arrive: the pipe's 64 KiB, hyper's buffer, and a slice.
const UNDER_WAY: usize = 600_000;

type Upload = HttpRetryService<Client<MemoryConnector, ReplayBody>>;

/// Attempts of a second.
fn upload() -> (Upload, impl Stream<Item = std::io::Result<DuplexStream>> + Send + Unpin + 'static) {
    upload_of([Code::DeadlineExceeded])
}

/// An upload where that code is retried.
fn upload_of(
    codes: [Code; 1],
) -> (Upload, impl Stream<Item = std::io::Result<DuplexStream>> + Send + Unpin + 'static) {
    let settings = delays(100, None).initial_rpc_timeout(ms(1000)).max_attempts(2).build().unwrap();
    let pipes = Pipes::new();
    let accepted = pipes.incoming();
    let layer = HttpRetryLayer::new(&settings, codes).options(OperationOptions::new().reports(true));
    (layer.layer(FaultServer::client(pipes)), accepted)
}

fn put(body: ReplayBody) -> http::Request<ReplayBody> {
    http::Request::put("http://server/thing").body(body).unwrap()
}

/// The kinds of body that hold all their bytes in one piece.
fn bodies() -> [ReplayBody; 3] {
    let bytes = Bytes::from(vec![7; LENGTH]);
    let (again, once) = (bytes.clone(), bytes.clone());
    [
        ReplayBody::from_bytes(bytes),
        ReplayBody::from_fn(move || Full::new(again.clone())),
        ReplayBody::once(Full::new(once)),
    ]
}

/// Reads until the client closes the connection, or has sent a whole body; returns how much came.
async fn read_on(mut io: DuplexStream) -> usize {
    let mut bytes = vec![0; 64 * 1024];
    let mut seen = 0;
    loop {
        match io.read(&mut bytes).await.unwrap() {
            0 => return seen,
            length => seen += length,
        }
        if seen >= LENGTH {
            return seen;
        }
    }
}

/// Takes a request whole and responds; returns the bytes of its body.
async fn take(mut io: DuplexStream) -> usize {
    let mut bytes = vec![0; 64 * 1024];
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        head.push(io.read_u8().await.unwrap());
    }
    let mut seen = 0;
    while seen < LENGTH {
        seen += io.read(&mut bytes).await.unwrap();
    }
    io.write_all(b"HTTP/1.1 200 -\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    seen
}

async fn pause(time: Duration) {
    tokio::time::timeout(time, std::future::pending::<()>()).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_timed_out_stops_also_after_the_retry_succeeded() {
    let [bytes, stream, _] = bodies();
    for body in [bytes, stream] {
        let (mut client, mut accepted) = upload();
        let serve = async {
            let first = accepted.next().await.unwrap().unwrap();
            let second = take(accepted.next().await.unwrap().unwrap()).await;
            (read_on(first).await, second)
        };
        let (response, (given_up, whole)) = tokio::join!(client.call(put(body)), serve);
        assert_eq!((response.unwrap().status().as_u16(), whole), (200, LENGTH));
        assert!(given_up < UNDER_WAY, "{given_up} bytes of an upload that was given up");
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_whose_call_was_dropped_stops() {
    for body in bodies() {
        let (mut client, mut accepted) = upload();
        let dropped = tokio::time::timeout(ms(500), client.call(put(body))).await;
        assert!(dropped.is_err());
        pause(ms(10)).await;
        let given_up = read_on(accepted.next().await.unwrap().unwrap()).await;
        assert!(given_up < UNDER_WAY, "{given_up} bytes of an upload that was dropped");
    }
}

#[tokio::test]
async fn slices_add_up_to_the_body() {
    let content: Vec<u8> = (0..=u8::MAX).cycle().take(200_001).collect();
    let bytes = Bytes::from(content.clone());
    let again = bytes.clone();
    for mut body in [ReplayBody::from_bytes(bytes), ReplayBody::from_fn(move || Full::new(again.clone()))] {
        let mut lengths = Vec::new();
        let mut seen = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            lengths.push(data.len());
            seen.extend_from_slice(&data);
            let left = http_body::Body::size_hint(&body).exact();
            assert_eq!(left, u64::try_from(content.len() - seen.len()).ok());
            assert_eq!(http_body::Body::is_end_stream(&body), seen.len() == content.len());
        }
        assert_eq!(lengths, [65536, 65536, 65536, 3393]);
        assert_eq!(seen, content);
    }
}

/// Bytes that send a message when nobody holds them any more.
struct Held(Vec<u8>, Option<oneshot::Sender<()>>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.1.take().unwrap().send(()).unwrap_or_default();
    }
}

fn held() -> (Bytes, oneshot::Receiver<()>) {
    let (gone, notified) = oneshot::channel();
    (Bytes::from_owner(Held(vec![7; LENGTH], Some(gone))), notified)
}

/// hyper goes on trying to send what it has taken, as long as the server neither reads nor closes.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_over_lets_go_of_its_body_although_the_server_reads_nothing() {
    for is_dropped in [false, true] {
        let (mut client, accepted) = upload();
        let accepting = tokio::spawn(accepted.collect::<Vec<_>>());
        let (bytes, gone) = held();
        let time = if is_dropped { ms(500) } else { ms(10_000) };
        let result = tokio::time::timeout(time, client.call(put(ReplayBody::from_bytes(bytes)))).await;
        assert_eq!(result.is_err(), is_dropped);
        drop(result);
        tokio::time::timeout(ms(1000), gone).await.expect("the body is held").unwrap();
        accepting.abort();
    }
}

/// Over a socket, where hyper queues frames as they are.
#[tokio::test]
async fn over_a_socket_an_attempt_that_is_over_lets_go_of_its_body() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/thing", listener.local_addr().unwrap());
    let http = Client::builder(hyper_util::rt::TokioExecutor::new()).build_http::<ReplayBody>();
    let settings = RetrySettings::builder().initial_rpc_timeout(ms(200)).max_attempts(2).build().unwrap();
    let client = HttpRetryLayer::new(&settings, [Code::DeadlineExceeded]).layer(http);
    let (bytes, gone) = held();
    let request = http::Request::put(url).body(ReplayBody::from_bytes(bytes)).unwrap();
    let (first, second, error) =
        tokio::join!(listener.accept(), async { listener.accept().await }, client.send(request));
    error.err().unwrap();
    tokio::time::timeout(ms(20_000), gone).await.expect("the body is held").unwrap();
    // They were open all the time.
    drop((first.unwrap(), second.unwrap()));
}

/// Reads a request's head and replies so.
async fn reply_early(mut io: DuplexStream, head: &str) -> DuplexStream {
    let mut seen = Vec::new();
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
        seen.push(io.read_u8().await.unwrap());
    }
    io.write_all(head.as_bytes()).await.unwrap();
    io
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_was_refused_before_its_end_sends_no_more() {
    let [bytes, stream, _] = bodies();
    for body in [bytes, stream] {
        let (client, mut accepted) = upload_of([Code::Unavailable]);
        let serve = async {
            let head = "HTTP/1.1 503 -\r\ncontent-length: 0\r\n\r\n";
            let first = reply_early(accepted.next().await.unwrap().unwrap(), head).await;
            let second = take(accepted.next().await.unwrap().unwrap()).await;
            (read_on(first).await, second)
        };
        let (response, (refused, whole)) = tokio::join!(client.send(put(body)), serve);
        assert_eq!((response.unwrap().status().as_u16(), whole), (200, LENGTH));
        assert!(refused < UNDER_WAY, "{refused} bytes of an upload that was refused");
    }
}

/// A response that the caller reads is not broken by the end of its request.
#[tokio::test(start_paused = true)]
async fn an_upload_ends_once_the_error_that_refused_it_was_read() {
    let (client, mut accepted) = upload_of([Code::Unavailable]);
    let [body, ..] = bodies();
    let serve = async {
        let head = "HTTP/1.1 413 -\r\ncontent-length: 9\r\n\r\n";
        let mut io = reply_early(accepted.next().await.unwrap().unwrap(), head).await;
        pause(ms(300)).await;
        io.write_all(b"too large").await.unwrap();
        read_on(io).await
    };
    let send = async {
        let response = client.send(put(body)).await.unwrap();
        let status = response.status().as_u16();
        (status, response.into_body().collect().await.unwrap().to_bytes())
    };
    let (response, refused) = tokio::join!(send, serve);
    assert_eq!(response, (413, Bytes::from_static(b"too large")));
    assert!(refused < UNDER_WAY, "{refused} bytes of an upload that was refused");
}

/// The server may want the rest all the same.
#[tokio::test(start_paused = true)]
async fn an_upload_with_a_good_reply_before_its_end_is_sent_whole() {
    let (client, mut accepted) = upload_of([Code::Unavailable]);
    let [body, ..] = bodies();
    let serve = async {
        let head = "HTTP/1.1 200 -\r\ncontent-length: 0\r\n\r\n";
        let mut io = reply_early(accepted.next().await.unwrap().unwrap(), head).await;
        let (mut seen, mut bytes) = (0, vec![0; 64 * 1024]);
        while seen < LENGTH {
            seen += io.read(&mut bytes).await.unwrap();
        }
        seen
    };
    let (response, seen) = tokio::join!(client.send(put(body)), serve);
    assert_eq!((response.unwrap().status().as_u16(), seen), (200, LENGTH));
}

#[tokio::test]
async fn small_frames_that_are_there_go_out_together() {
    let piece = |length: usize| Bytes::from(vec![7; length]);
    let pieces = move || [vec![piece(1000); 20], vec![piece(100_000)], vec![piece(10)]].concat();
    let stream = move || {
        let frames = pieces().into_iter().map(|data| Ok::<_, std::io::Error>(http_body::Frame::data(data)));
        http_body_util::StreamBody::new(tokio_stream::iter(frames))
    };
    for mut body in
        [ReplayBody::from_pieces(pieces()), ReplayBody::from_fn(stream), ReplayBody::once(stream())]
    {
        let mut lengths = Vec::new();
        while let Some(frame) = body.frame().await {
            lengths.push(frame.unwrap().into_data().unwrap().len());
        }
        assert_eq!(lengths, [17_000, 3000, 65_536, 34_464, 10]);
        assert!(http_body::Body::is_end_stream(&body) || body.frame().await.is_none());
    }
}
