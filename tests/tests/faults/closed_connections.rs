//! A server that breaks the rules with one reply, at which our own HTTP/2 stack closes the connection under every call on it.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_retry::{Code, StopReason};
use gax_testing::Pipes;
use http::{HeaderMap, Request, Response};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use tonic::transport::{Channel, Endpoint};
use tonic_gax::Note;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Setup, Stack, delays, error_report, ms, report_of, reported};

/// `DATA` on stream 0, which no HTTP/2 stack lets pass.
const POISON: [u8; 9] = [0; 9];

/// A connection on which the server's next bytes are poison, and all after it are lost.
struct Poisonable<I> {
    io: I,
    is_poisoned: Arc<AtomicBool>,
}

impl<I: AsyncRead + Unpin> AsyncRead for Poisonable<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Poisonable<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_poisoned.load(Ordering::Relaxed) {
            ready!(Pin::new(&mut self.io).poll_write(cx, &POISON))?;
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// Replies to each call after 20 ms, but poisons the connection of one whose request names the culprit.
#[derive(Clone, Default)]
struct Hostile {
    /// How many connections were poisoned.
    poisoned: Arc<AtomicU32>,
}

impl Hostile {
    async fn serve<I: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self, io: I) {
        let is_poisoned = Arc::new(AtomicBool::new(false));
        let io = Poisonable { io, is_poisoned: Arc::clone(&is_poisoned) };
        let mut connection = h2::server::handshake(io).await.unwrap();
        while let Some(Ok((request, respond))) = connection.accept().await {
            let (hostile, is_poisoned) = (self.clone(), Arc::clone(&is_poisoned));
            tokio::spawn(async move { hostile.reply(request, respond, &is_poisoned).await });
        }
    }

    /// `None`: the connection is gone.
    async fn reply(
        self,
        mut request: Request<h2::RecvStream>,
        mut respond: h2::server::SendResponse<Bytes>,
        is_poisoned: &AtomicBool,
    ) -> Option<()> {
        let mut message = Vec::new();
        while let Some(Ok(data)) = request.body_mut().data().await {
            message.extend_from_slice(&data);
        }
        if message.windows(7).any(|window| window == b"culprit") {
            if !is_poisoned.swap(true, Ordering::Relaxed) {
                self.poisoned.fetch_add(1, Ordering::Relaxed);
            }
        } else {
            tokio::time::sleep(ms(20)).await;
        }
        let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
        let mut stream = respond.send_response(head, false).ok()?;
        stream.send_data(Bytes::from_static(&[0; 5]), false).ok()?;
        stream
            .send_trailers(HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())]))
            .ok()
    }

    fn poisoned(&self) -> u32 {
        self.poisoned.load(Ordering::Relaxed)
    }

    fn in_memory(&self) -> Channel {
        let pipes = Pipes::new();
        let (mut accepted, hostile) = (pipes.incoming(), self.clone());
        tokio::spawn(async move {
            while let Some(Ok(io)) = accepted.next().await {
                tokio::spawn(hostile.clone().serve(io));
            }
        });
        pipes.channel()
    }

    async fn on_socket(&self) -> Channel {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let hostile = self.clone();
        tokio::spawn(async move {
            while let Ok((io, _)) = listener.accept().await {
                tokio::spawn(hostile.clone().serve(io));
            }
        });
        Endpoint::from_shared(url).unwrap().connect_lazy()
    }
}

/// A hundred milliseconds before every retry, twenty seconds in all.
fn setup(is_jittered: bool) -> Setup {
    let settings = delays(100, 1.0).jittered(is_jittered).total_timeout(ms(20_000)).build().unwrap();
    Setup::new(settings).retrying([Code::Unavailable, Code::Internal]).seeded(7)
}

fn culprit() -> ListAssetsRequest {
    ListAssetsRequest { parent: "culprit".to_owned(), ..ListAssetsRequest::default() }
}

/// Of the calls beside one culprit after the other: how many lost a connection, and how many failed. A culprit loses three
/// connections, and knows then that it was its own response.
async fn beside_culprits(
    stack: Stack,
    channel: Channel,
    hostile: &Hostile,
    setup: &Setup,
    rounds: u32,
) -> (u32, u32) {
    let caller = stack.caller(channel, setup);
    let (mut hit, mut failed) = (0, 0);
    for round in 1..=rounds {
        let mut bystanders = JoinSet::new();
        for _ in 0..20 {
            let mut caller = caller.clone();
            bystanders.spawn(async move { caller.list(reported(ListAssetsRequest::default())).await });
        }
        tokio::time::sleep(ms(10)).await;
        let status = caller.clone().list(culprit()).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!(status.code(), tonic::Code::Internal, "{status}");
        let codes: Vec<_> = report.attempts().iter().map(gax_retry::Attempt::code).collect();
        assert_eq!(codes, [Code::Unavailable, Code::Unavailable, Code::Internal]);
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
        assert_eq!(report.notes(), [Note::UNREADABLE_RESPONSE]);
        assert_eq!(hostile.poisoned(), 3 * round, "a culprit costs three connections");
        while let Some(result) = bystanders.join_next().await {
            let result = result.unwrap();
            hit += u32::from(report_of(&result).attempt_count() > 1);
            failed += u32::from(result.is_err());
        }
    }
    (hit, failed)
}

#[tokio::test(start_paused = true)]
async fn of_the_calls_beside_a_culprit_less_than_one_in_a_hundred_fails() {
    for is_jittered in [true, false] {
        let (mut hit, mut failed) = (0, 0);
        for stack in Stack::ALL {
            let hostile = Hostile::default();
            let channel = hostile.in_memory();
            let (more, lost) = beside_culprits(stack, channel, &hostile, &setup(is_jittered), 40).await;
            (hit, failed) = (hit + more, failed + lost);
        }
        assert_eq!(hit, 2400, "every call beside a culprit is hit");
        assert!(failed * 100 < hit, "{is_jittered}: {failed} of {hit}");
    }
}

/// Over sockets too; when the machine is slow, calls take longer, and more of them meet the culprit again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_sockets_a_culprit_costs_three_connections_and_its_bystanders_go_on() {
    let hostile = Hostile::default();
    let channel = hostile.on_socket().await;
    let (hit, failed) = beside_culprits(Stack::Generated, channel, &hostile, &setup(true), 3).await;
    assert!(hit > 0 && failed * 10 < hit, "{failed} of {hit}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_poisons_every_connection_costs_three_of_them_a_call() {
    for stack in Stack::ALL {
        let hostile = Hostile::default();
        let mut caller = stack.caller(hostile.in_memory(), &setup(false));
        for call in 1..=3 {
            let status = caller.list(culprit()).await.unwrap_err();
            assert_eq!((status.code(), hostile.poisoned()), (tonic::Code::Internal, 3 * call), "{stack:?}");
        }
    }
}

/// A call whose codes don't allow another attempt ends with the connection, as nobody knows whose fault it was.
#[tokio::test(start_paused = true)]
async fn where_unavailable_is_not_retried_the_first_end_is_the_last() {
    for stack in Stack::ALL {
        let hostile = Hostile::default();
        let status = stack
            .caller(hostile.in_memory(), &setup(false).retrying([Code::Internal]))
            .list(culprit())
            .await
            .unwrap_err();
        assert_eq!((status.code(), hostile.poisoned()), (tonic::Code::Unavailable, 1), "{stack:?}");
        let report = error_report(&status);
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
        assert_eq!(report.notes(), []);
    }
}
