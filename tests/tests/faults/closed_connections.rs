//! A server that breaks the rules with one reply, at which our own HTTP/2 stack closes the connection under every call on it.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_client::GrpcTransport;
use gax_connection::{Address, AddressList, Connection};
use gax_retry::{Code, StopReason};
use gax_testing::{ConnectionFault, FaultProxy, Pipes, Reply, Script, VirtualServer};
use http::{HeaderMap, Request, Response};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use tonic::transport::Endpoint;
use tonic_gax::{Note, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Setup, Stack, delays, error_report, ms, report_of, reported};

/// `DATA` on stream 0, which no HTTP/2 stack lets pass.
pub(super) const POISON: [u8; 9] = [0; 9];

/// A connection on which the server's next bytes are poison, and all after it are lost. Without poison the server closes it.
struct Poisonable<I> {
    io: I,
    poison: &'static [u8],
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
            let poison = self.poison;
            if poison.is_empty() {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            ready!(Pin::new(&mut self.io).poll_write(cx, poison))?;
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
#[derive(Clone)]
pub(super) struct Hostile {
    poison: &'static [u8],
    /// How many connections were poisoned.
    poisoned: Arc<AtomicU32>,
}

impl Default for Hostile {
    fn default() -> Self {
        Self::with(&POISON)
    }
}

impl Hostile {
    pub(super) fn with(poison: &'static [u8]) -> Self {
        Self { poison, poisoned: Arc::default() }
    }

    async fn serve<I: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self, io: I) {
        let is_poisoned = Arc::new(AtomicBool::new(false));
        let io = Poisonable { io, poison: self.poison, is_poisoned: Arc::clone(&is_poisoned) };
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

    pub(super) fn poisoned(&self) -> u32 {
        self.poisoned.load(Ordering::Relaxed)
    }

    pub(super) fn in_memory(&self) -> Pipes {
        let pipes = Pipes::new();
        let (mut accepted, hostile) = (pipes.incoming(), self.clone());
        tokio::spawn(async move {
            while let Some(Ok(io)) = accepted.next().await {
                tokio::spawn(hostile.clone().serve(io));
            }
        });
        pipes
    }

    /// Over a connection that knows which calls share it.
    pub(super) fn connection(&self) -> Connection {
        let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
        let hostile = self.clone();
        let connection = Connection::to("http://server").resolver(list).connector(move |_| {
            let (client, server) = tokio::io::duplex(1 << 16);
            tokio::spawn(hostile.clone().serve(server));
            async { Ok(client) }
        });
        connection.connect_lazy().unwrap()
    }

    /// Its URL.
    pub(super) async fn on_socket(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let hostile = self.clone();
        tokio::spawn(async move {
            while let Ok((io, _)) = listener.accept().await {
                io.set_nodelay(true).unwrap();
                tokio::spawn(hostile.clone().serve(io));
            }
        });
        url
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

/// What became of calls beside culprits.
#[derive(Debug, Default)]
pub(super) struct Bystanders {
    pub(super) hit: u32,
    pub(super) failed: u32,
    pub(super) blamed: u32,
}

impl Bystanders {
    pub(super) fn add(&mut self, report: &OperationReport, has_failed: bool) {
        self.hit += u32::from(report.attempt_count() > 1);
        self.failed += u32::from(has_failed);
        self.blamed += u32::from(report.notes().contains(&Note::UNREADABLE_RESPONSE));
    }
}

/// Runs so many calls beside one culprit after the other, each of which has three attempts and ends as `is_end` allows.
async fn beside_culprits<T: GrpcTransport + Sync>(
    stack: Stack,
    transport: T,
    setup: &Setup,
    (bystanders, culprits): (u32, u32),
    is_end: impl Fn(&OperationReport) -> bool,
) -> Bystanders {
    let caller = stack.caller(transport.clone(), setup);
    let mut calls = JoinSet::new();
    for _ in 0..bystanders {
        let mut caller = caller.clone();
        calls.spawn(async move { caller.list(reported(ListAssetsRequest::default())).await });
    }
    tokio::time::sleep(ms(10)).await;
    let limited = delays(100, 1.0).max_attempts(3).total_timeout(ms(20_000)).build().unwrap();
    let limited = Setup::new(limited).retrying([Code::Unavailable, Code::Internal]).seeded(7);
    for _ in 0..culprits {
        let status = stack.caller(transport.clone(), &limited).list(culprit()).await.unwrap_err();
        let report = error_report(&status);
        assert!(is_end(&report), "{status}: {report}");
    }
    let mut found = Bystanders::default();
    while let Some(result) = calls.join_next().await {
        let result = result.unwrap();
        found.add(&report_of(&result), result.is_err());
    }
    found
}

pub(super) fn codes_of(report: &OperationReport) -> Vec<Code> {
    report.attempts().iter().map(gax_retry::Attempt::code).collect()
}

/// Nobody knows whose response it was.
pub(super) fn is_unknown(report: &OperationReport) -> bool {
    codes_of(report) == [Code::Unavailable; 3]
        && report.stop_reason() == Some(StopReason::MaxAttempts)
        && report.notes() == [Note::CONNECTION_CLOSED_FOR_A_RESPONSE]
}

/// It was alone on its second connection.
pub(super) fn is_proven(report: &OperationReport) -> bool {
    codes_of(report) == [Code::Unavailable, Code::Internal]
        && report.stop_reason() == Some(StopReason::NonRetryable)
        && report.notes() == [Note::CONNECTION_CLOSED_FOR_A_RESPONSE, Note::UNREADABLE_RESPONSE]
}

#[tokio::test(start_paused = true)]
async fn over_a_channel_few_calls_beside_a_culprit_fail_and_none_is_blamed() {
    for is_jittered in [true, false] {
        let (mut hit, mut failed) = (0, 0);
        for stack in Stack::ALL {
            for _ in 0..40 {
                let (hostile, setup) = (Hostile::default(), setup(is_jittered));
                let found =
                    beside_culprits(stack, hostile.in_memory().channel(), &setup, (20, 1), is_unknown).await;
                assert_eq!((found.blamed, hostile.poisoned()), (0, 3));
                (hit, failed) = (hit + found.hit, failed + found.failed);
            }
        }
        assert_eq!(hit, 2400, "every call beside a culprit is hit");
        assert!(failed * 100 < hit, "{is_jittered}: {failed} of {hit}");
    }
}

/// A connection of our own sends those that were hit one by one.
#[tokio::test(start_paused = true)]
async fn over_a_connection_no_call_beside_culprits_fails_and_culprits_are_found() {
    for stack in Stack::ALL {
        let hostile = Hostile::default();
        let found = beside_culprits(stack, hostile.connection(), &setup(true), (40, 5), is_proven).await;
        assert_eq!((found.hit, found.failed, found.blamed), (40, 0, 0), "{stack:?}");
        assert_eq!(hostile.poisoned(), 10, "a culprit costs two connections");
    }
}

/// Over sockets too; when the machine is slow, calls take longer, and more of them meet the culprit again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_sockets_a_culprit_costs_three_connections_and_its_bystanders_go_on() {
    let hostile = Hostile::default();
    let channel = Endpoint::from_shared(hostile.on_socket().await).unwrap().connect_lazy();
    let found = beside_culprits(Stack::Generated, channel, &setup(true), (60, 1), is_unknown).await;
    assert!(found.hit > 0 && found.failed * 10 < found.hit && found.blamed == 0, "{found:?}");
}

/// What servers of other protocols say, and frames that break the rules before any response.
#[tokio::test(start_paused = true)]
async fn a_connection_that_never_spoke_http2_has_one_code_over_both() {
    let settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    let garbage = [settings, &b"\x00\x00\x04\x01\x05\x00\x00\x00\x01\xff\xff\xff\xff"[..]].concat();
    for reply in [
        &b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"[..],
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"220 mail.example ESMTP\r\n",
        &POISON,
        &garbage,
        b"\xff\xff\xff\x04\x00\x00\x00\x00\x00",
    ] {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let (proxy, pipes) = FaultProxy::in_memory(server.connector());
        proxy.always([ConnectionFault::Reply(Bytes::copy_from_slice(reply))]);
        let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
        let dialled = pipes.clone();
        let connection = Connection::to("http://server").resolver(list).connector(move |_| {
            let pipe = dialled.connect();
            async { Ok(pipe?.into_inner()) }
        });
        let connection = connection.connect_lazy().unwrap();
        let limited = delays(100, 1.0).max_attempts(3).total_timeout(ms(20_000)).build().unwrap();
        let setup = Setup::new(limited);
        let codes = [
            Stack::Layer.list(pipes.channel(), &setup).await.unwrap_err().code(),
            Stack::Layer.list(connection, &setup).await.unwrap_err().code(),
        ];
        assert_eq!(codes, [tonic::Code::Unavailable; 2], "{reply:?}");
    }
}

/// A call whose codes don't allow another attempt ends with the connection, as nobody knows whose fault it was.
#[tokio::test(start_paused = true)]
async fn where_unavailable_is_not_retried_the_first_end_is_the_last() {
    for stack in Stack::ALL {
        let hostile = Hostile::default();
        let status = stack
            .caller(hostile.in_memory().channel(), &setup(false).retrying([Code::Internal]))
            .list(culprit())
            .await
            .unwrap_err();
        assert_eq!((status.code(), hostile.poisoned()), (tonic::Code::Unavailable, 1), "{stack:?}");
        let report = error_report(&status);
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
        assert_eq!(report.notes(), [Note::CONNECTION_CLOSED_FOR_A_RESPONSE]);
    }
}
