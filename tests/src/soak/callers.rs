//! Whoever makes calls.

use super::clients::{GrpcClients, HttpClient};
use super::tally::one_more;
use crate::chaos::RandomServer;
use crate::clock::ms;
use crate::generated::test::talk::v1::Line;
use bytes::Bytes;
use gax_driver::Retryer;
use gax_retry::Code;
use gax_retry::jitter::{JitterSource as _, SeededJitter};
use http_body_util::{BodyExt as _, Collected, Full};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_stream::{Stream, StreamExt as _};
use tonic::Status;
use tonic_gax::OperationError;

/// The outcomes of the calls, counted.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    pub(super) made: AtomicU64,
    pub(super) good: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) dropped: AtomicU64,
    /// Replies that are not what was asked for.
    pub(super) wrong: AtomicU64,
    /// Failures that nothing explains, and the last of them.
    pub(super) unexplained: AtomicU64,
    pub(super) riddle: Mutex<String>,
}

/// How a call ended.
enum End {
    Good,
    Failed,
    Wrong,
    Unexplained(String),
}

/// One who calls until it is enough.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) grpc: Vec<GrpcClients>,
    pub(super) http: HttpClient,
    pub(super) http_server: SocketAddr,
    pub(super) retryer: Retryer<[Code; 1]>,
    pub(super) outcomes: Arc<Outcomes>,
    pub(super) is_over: Arc<AtomicBool>,
}

impl Caller {
    pub(super) async fn call_on(self, seed: u64) {
        let mut draws = SeededJitter::new(seed);
        while !self.is_over.load(std::sync::atomic::Ordering::SeqCst) {
            let (kind, patience) = (draws.next_u64(), draws.next_u64());
            one_more(&self.outcomes.made);
            let call = self.clone().call(kind);
            // One in twenty loses patience.
            let end = if patience.is_multiple_of(20) {
                tokio::time::timeout(ms((patience >> 32) % 30), call).await.ok()
            } else {
                Some(call.await)
            };
            one_more(match end {
                None => &self.outcomes.dropped,
                Some(End::Good) => &self.outcomes.good,
                Some(End::Failed) => &self.outcomes.failed,
                Some(End::Wrong) => &self.outcomes.wrong,
                Some(End::Unexplained(riddle)) => {
                    *self.outcomes.riddle.lock().unwrap_or_else(PoisonError::into_inner) = riddle;
                    &self.outcomes.unexplained
                }
            });
        }
    }

    async fn call(mut self, draw: u64) -> End {
        let place = usize::try_from(draw >> 40).unwrap() % self.grpc.len();
        let GrpcClients { generated, layered } = &mut self.grpc[place];
        let count = u32::try_from((draw >> 16) % 5).unwrap();
        let line = Line { text: "soak".repeat(usize::try_from((draw >> 24) % 200).unwrap()), count };
        let lines = vec![line.clone(); 3];
        match draw % 16 {
            0..4 => match generated.ask(line.clone()).await {
                Err(status) if OperationError::of(&status).is_none() => End::Unexplained(status.to_string()),
                reply => unary(reply, &line),
            },
            4..8 => unary(layered.ask(line.clone()).await, &line),
            8 | 9 => heard(generated.listen(line).await, count).await,
            10 => heard(layered.listen(line).await, count).await,
            11 => {
                match generated.tell(tokio_stream::iter(lines)).await {
                    // The response had begun, as that of a stream: what comes after that is the server's own.
                    Err(_) => End::Failed,
                    reply => unary(reply, &Line { count: 3, ..line }),
                }
            }
            12 => heard(generated.chat(tokio_stream::iter(lines)).await, 3).await,
            13 => request(&self.http, self.http_server, "GET").await,
            14 => request(&self.http, self.http_server, "POST").await,
            _ => closure(&self.retryer, draw).await,
        }
    }
}

/// How a call without a reply ended. What tonic can't read of a response that was good to the layer has no report: that is
/// no message.
fn failed(status: &Status) -> End {
    // UNKNOWN is what it says of a `grpc-message` that is no text.
    const UNREADABLE: [tonic::Code; 4] =
        [tonic::Code::Internal, tonic::Code::OutOfRange, tonic::Code::Unimplemented, tonic::Code::Unknown];
    let is_explained = OperationError::of(status).is_some() || UNREADABLE.contains(&status.code());
    if is_explained { End::Failed } else { End::Unexplained(status.to_string()) }
}

fn unary(reply: Result<tonic::Response<Line>, Status>, expected: &Line) -> End {
    match reply.map(tonic::Response::into_inner) {
        Ok(line) if line == *expected || RandomServer::makes_up(&line) => End::Good,
        Ok(_) => End::Wrong,
        Err(status) => failed(&status),
    }
}

async fn heard(
    stream: Result<tonic::Response<impl Stream<Item = Result<Line, Status>> + Unpin>, Status>,
    expected: u32,
) -> End {
    let mut lines = match stream {
        Ok(response) => response.into_inner(),
        Err(status) => return failed(&status),
    };
    let (mut count, mut is_made_up) = (0, false);
    loop {
        match lines.next().await {
            Some(Ok(line)) => {
                count += 1;
                is_made_up |= RandomServer::makes_up(&line);
            }
            // A server that makes things up may say nothing as well.
            None if count == expected || count == 0 || is_made_up => return End::Good,
            None => return End::Wrong,
            // It had begun: what comes after that is the server's own.
            Some(Err(_)) => return End::Failed,
        }
    }
}

async fn request(client: &HttpClient, server: SocketAddr, method: &str) -> End {
    let body = if method == "POST" { Full::from(vec![b'a'; 3000]) } else { Full::<Bytes>::default() };
    let request = http::Request::builder().method(method).uri(format!("http://{server}/soak")).body(body);
    match client.send(request.unwrap()).await {
        Ok(response) => {
            let status = response.status();
            match response.into_body().collect().await.map(Collected::to_bytes) {
                Ok(body) if is_of(status, &body) => {
                    if status.is_success() {
                        End::Good
                    } else {
                        End::Failed
                    }
                }
                Ok(_) => End::Wrong,
                Err(_) => End::Failed,
            }
        }
        Err(error) if error.report().attempt_count() > 0 => End::Failed,
        Err(error) => End::Unexplained(error.to_string()),
    }
}

/// Returns whether a body is one that the server sends with that status: one that names it, pieces, or nothing where HTTP has none.
fn is_of(status: http::StatusCode, body: &[u8]) -> bool {
    let named = format!(r#"{{"status":{}}}"#, status.as_u16());
    let is_in_pieces = body.chunks(5).all(|piece| piece == b"piece");
    body == named.as_bytes() || (is_in_pieces && (status == 200 || status == 204))
}

fn closure(retryer: &Retryer<[Code; 1]>, draw: u64) -> impl Future<Output = End> {
    let retryer = retryer.clone();
    async move {
        // The first attempts fail, some of the operations with all of them.
        let fails = u32::try_from((draw >> 8) % 5).unwrap();
        let attempt = |attempt: gax_retry::StartedAttempt| async move {
            if attempt.number() > fails { Ok(attempt.number()) } else { Err(Status::unavailable("closure")) }
        };
        match retryer.run(attempt).await {
            Ok(retried) if *retried.value() == fails + 1 => End::Good,
            Ok(_) => End::Wrong,
            Err(error) if error.report().attempt_count() <= 4 => End::Failed,
            Err(error) => End::Unexplained(error.to_string()),
        }
    }
}
