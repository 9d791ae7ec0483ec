//! Bodies of HTTP requests that are given up while they are sent.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio_stream::{Stream, StreamExt as _};
use tonic_gax::testing::Pipes;
use tonic_gax::{Code, HttpRetryLayer, HttpRetryService, ReplayBody, RetrySettings};
use tonic_gax_tests::{FaultServer, MemoryConnector, ms};
use tower_service::Service as _;

const LENGTH: usize = 32 * 1024 * 1024;
/// What may still arrive of an upload that was given up: the pipe's 64 KiB, hyper's buffer, and a slice.
const UNDER_WAY: usize = 600_000;

type Upload = HttpRetryService<Client<MemoryConnector, ReplayBody>>;

/// Attempts of a second.
fn upload() -> (Upload, impl Stream<Item = std::io::Result<DuplexStream>> + Send + Unpin + 'static) {
    let settings = RetrySettings::builder()
        .initial_retry_delay(ms(100))
        .initial_rpc_timeout(ms(1000))
        .max_attempts(2)
        .jittered(false)
        .build()
        .unwrap();
    let pipes = Pipes::new();
    let accepted = pipes.incoming();
    let layer = HttpRetryLayer::new(&settings, [Code::DeadlineExceeded]).reports(true);
    (layer.layer(FaultServer::client(MemoryConnector::to(pipes))), accepted)
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

/// Reads until the client closes the connection; returns how much came.
async fn read_on(mut io: DuplexStream) -> usize {
    let mut bytes = vec![0; 64 * 1024];
    let mut seen = 0;
    loop {
        match io.read(&mut bytes).await.unwrap() {
            0 => return seen,
            length => seen += length,
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
