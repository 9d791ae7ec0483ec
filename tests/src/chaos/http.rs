//! Random HTTP servers, and calls of them.

use super::finished::number;
use super::{CallEnd, Draw, DrawnServer, RandomCall, RandomCaller, RandomPolicy, SeenRequest, Witness};
use crate::clock::{VirtualClock, ms};
use crate::{HttpAct, HttpArrival, HttpScript};
use bytes::Bytes;
use gax_http::HttpRetryService;
use gax_retry::Code;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::rt::TokioExecutor;
use std::time::Duration;
use tokio::time::timeout;
use tonic_gax::{CallOptions, OperationReport};

/// The acts of an HTTP server, one for each request that reaches it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RandomHttpServer {
    /// Its acts; then it replies 200 to everything.
    pub acts: Vec<HttpAct>,
}

impl RandomHttpServer {
    /// An act for one request.
    #[must_use]
    pub fn act(draw: &mut Draw, breaks: bool) -> HttpAct {
        const STATUSES: [u16; 14] = [200, 200, 201, 204, 302, 400, 404, 408, 409, 429, 500, 502, 503, 503];
        if breaks && draw.percent(40) {
            return match draw.below(6) {
                0 => HttpAct::Reset,
                1 => HttpAct::Truncate,
                2 => HttpAct::StallInBody(draw.pick(&STATUSES)),
                3 => HttpAct::TruncateAfter(draw.pick(&[0, 1, 70_000])),
                4 => HttpAct::StallAfter(draw.pick(&[0, 1, 70_000])),
                _ => {
                    HttpAct::Raw(draw.pick(&[&b"SSH-2.0-x\r\n"[..], b"HTTP/1.1 999\r\n", b"\0\0\0"]).to_vec())
                }
            };
        }
        match draw.below(10) {
            8 | 9 => HttpAct::Once(draw.ms(0, 400), draw.pick(&[404, 409, 412])),
            0 => HttpAct::Stall,
            1 => {
                let pieces = (0..draw.between(1, 4)).map(|_| (draw.ms(0, 300), "piece"));
                HttpAct::Slow(pieces.collect())
            }
            2 => HttpAct::status(draw.pick(&[429, 503]))
                .with_header("retry-after", draw.pick(&["0", "1", "3600", "soon", "-1"])),
            _ => HttpAct::status(draw.pick(&STATUSES)),
        }
    }

    /// The script.
    #[must_use]
    pub fn script(&self) -> HttpScript {
        HttpScript::new(self.acts.clone())
    }
}

impl DrawnServer for RandomHttpServer {
    fn draw(draw: &mut Draw) -> Self {
        let breaks = draw.percent(50);
        Self { acts: (0..draw.between(0, 14)).map(|_| Self::act(draw, breaks)).collect() }
    }

    /// The server closes no connection.
    fn is_calm(&self) -> bool {
        self.acts.iter().all(|act| {
            matches!(act, HttpAct::Reply { .. } | HttpAct::Slow(_) | HttpAct::Stall | HttpAct::Once(..))
        })
    }
}

/// A client under a policy.
#[derive(Debug, Clone)]
pub struct ChaosHttp<C> {
    client: HttpRetryService<Client<C, Full<Bytes>>>,
    uri: String,
}

impl<C: Connect + Clone> ChaosHttp<C> {
    /// Over HTTP/1.1 by that connector.
    #[must_use]
    pub fn new(connector: C, policy: &RandomPolicy, witness: &Witness) -> Self {
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client: policy.http_layer(witness).layer(client), uri: "http://server/thing".to_owned() }
    }

    /// Over HTTP/2, to a server of Talk at that authority: as to HTTP, what it says of gRPC is a response like any other.
    #[must_use]
    pub fn over_http2(connector: C, authority: &str, policy: &RandomPolicy, witness: &Witness) -> Self {
        let client = Client::builder(TokioExecutor::new()).http2_only(true).build(connector);
        let uri = format!("http://{authority}/test.talk.v1.Talk/Ask");
        Self { client: policy.http_layer(witness).layer(client), uri }
    }
}

impl<C: Connect + Clone + Send + Sync + 'static> RandomCaller for ChaosHttp<C> {
    async fn make(&mut self, call: &RandomCall, number: u32) -> (CallEnd, Duration, Option<OperationReport>) {
        let clock = VirtualClock::start();
        let body = Full::from(vec![b'a'; call.length]);
        let mut request = http::Request::builder().method(call.method).uri(&self.uri).body(body).unwrap();
        if let Some(timeout) = call.timeout {
            request.extensions_mut().insert(CallOptions::new().report(true).timeout(timeout));
        }
        let made = Witness::during(number, self.client.send(request));
        let Ok(result) = timeout(call.patience, made).await else {
            return (CallEnd::Dropped, clock.elapsed(), None);
        };
        let handed_over = clock.elapsed();
        match result {
            Ok(mut response) => {
                let report: Option<OperationReport> = response.extensions_mut().remove();
                let code = Code::from_http_status(response.status().as_u16());
                // A body that stalls is dropped.
                drop(timeout(ms(2000), response.into_body().collect()).await);
                let has_failed = report.as_ref().is_some_and(|report| report.stop_reason().is_some());
                let end = if has_failed { CallEnd::Failed(Some(code)) } else { CallEnd::Reply };
                (end, handed_over, report)
            }
            Err(error) => (CallEnd::Failed(Some(error.code())), handed_over, Some(error.report().clone())),
        }
    }
}

impl SeenRequest {
    /// The HTTP requests of that call, whose start is that long after the server's.
    #[must_use]
    pub fn of_http(arrivals: &[HttpArrival], call: u32, start: Duration) -> Vec<Self> {
        let of_call = arrivals.iter().filter(|arrival| number(&arrival.headers, "x-call") == Some(call));
        of_call.map(|arrival| Self::new(&arrival.headers, arrival.at.saturating_sub(start))).collect()
    }
}
