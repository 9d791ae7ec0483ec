//! HTTP/2 connections whose window is full of what a server doesn't read of an upload that was given up.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::to_object;
use super::setup::{KIB_256, content};
use bytes::Bytes;
use gax_http::{HttpRetryLayer, ReplayBody, presets};
use gax_testing::Pipes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{Method, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio_stream::StreamExt as _;

const SIZE: usize = 3 * KIB_256 + 1000;

/// The fate of the first request with bytes, of which nothing is read.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// It has no response.
    Silence,
    /// It is refused at once.
    Refused,
    /// It is refused at once, and the response doesn't end.
    Endless,
}

/// What is kept of a request that is not read: dropped, it would be reset.
type Kept = (RecvStream, Option<SendResponse<Bytes>>, Option<h2::SendStream<Bytes>>);

async fn serve(io: DuplexStream, fate: Fate, unread: Arc<AtomicU32>) {
    let mut connection = h2::server::handshake(io).await.unwrap();
    let mut kept: Vec<Kept> = Vec::new();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let (head, mut body) = request.into_parts();
        let reply = |status: u16| Response::builder().status(status);
        let is_query =
            head.headers.get("content-range").is_none_or(|range| range.as_bytes().starts_with(b"bytes */"));
        if head.method == Method::POST {
            let reply = reply(200).header("location", "http://storage.test/session").body(()).unwrap();
            respond.send_response(reply, true).unwrap();
        } else if is_query {
            respond.send_response(reply(308).body(()).unwrap(), true).unwrap();
        } else if unread.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
        {
            kept.push(match fate {
                Fate::Silence => (body, Some(respond), None),
                Fate::Refused => {
                    respond.send_response(reply(503).body(()).unwrap(), true).unwrap();
                    (body, Some(respond), None)
                }
                Fate::Endless => {
                    let stream = respond.send_response(reply(503).body(()).unwrap(), false).unwrap();
                    (body, Some(respond), Some(stream))
                }
            });
        } else {
            tokio::spawn(async move {
                while let Some(Ok(data)) = body.data().await {
                    body.flow_control().release_capacity(data.len()).unwrap();
                }
                let Ok(mut stream) = respond.send_response(reply(200).body(()).unwrap(), false) else {
                    return;
                };
                let resource = format!(r#"{{"size":"{SIZE}","generation":"7"}}"#);
                drop(stream.send_data(resource.into(), true));
            });
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_gets_its_window_though_another_one_is_not_read() {
    for fate in [Fate::Silence, Fate::Refused, Fate::Endless] {
        let pipes = Pipes::new();
        let (mut incoming, unread) = (pipes.incoming(), Arc::new(AtomicU32::new(1)));
        tokio::spawn(async move {
            while let Some(Ok(io)) = incoming.next().await {
                tokio::spawn(serve(io, fate, Arc::clone(&unread)));
            }
        });
        let client: Client<_, ReplayBody> =
            Client::builder(TokioExecutor::new()).http2_only(true).build(pipes);
        let client = HttpRetryLayer::preset(&presets::storage().with_max_attempts(3)).layer(client);
        let upload = to_object(content(SIZE)).single_request_below(0).idle_timeout(Duration::from_secs(5));
        let uploaded = upload
            .send(&client)
            .await
            .unwrap_or_else(|error| panic!("{fate:?}: {error}\n{}", error.report().unwrap()));
        assert_eq!(uploaded.bytes(), SIZE as u64, "{fate:?}");
    }
}
