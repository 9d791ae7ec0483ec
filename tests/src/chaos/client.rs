//! Whoever makes a random call.

use super::{CallEnd, CallKind, RandomCall, RandomCaller, RandomPolicy, Witness};
use crate::clock::VirtualClock;
use crate::generated::test::talk::v1::{Line, TalkClient};
use crate::{Stack, TalkCaller};
use std::time::Duration;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{CallOptions, OperationReport, RequestExt as _};

/// A client of Talk that makes random calls.
#[derive(Debug, Clone)]
pub struct ChaosClient(TalkCaller);

impl ChaosClient {
    /// A client of that kind under that policy.
    #[must_use]
    pub fn new(stack: Stack, channel: Channel, policy: &RandomPolicy, witness: &Witness) -> Self {
        let layer = |is_described| TalkCaller::over(&policy.layer(witness, is_described), channel.clone());
        Self(match stack {
            Stack::Generated => {
                TalkCaller::Generated(TalkClient::with_settings(channel, policy.client(witness)))
            }
            Stack::Layer => layer(false),
            Stack::LayerWithDescriptors => layer(true),
        })
    }
}

impl RandomCaller for ChaosClient {
    async fn make(&mut self, call: &RandomCall, number: u32) -> (CallEnd, Duration, Option<OperationReport>) {
        let clock = VirtualClock::start();
        let line = Line { text: "a".repeat(call.length), count: 2 };
        let mut request = Request::new(line);
        if let Some(timeout) = call.timeout {
            request = request.with_call_options(CallOptions::new().report(true).timeout(timeout));
        }
        let is_layered = matches!(self.0, TalkCaller::Tonic(_));
        let made = Witness::during(number, async {
            match call.kind {
                CallKind::Unary => ended(&self.0.ask(request).await, clock, is_layered),
                CallKind::ServerStreaming => {
                    let (lines, reply) = match self.0.listen(request).await {
                        Ok(response) => {
                            let (metadata, lines, extensions) = response.into_parts();
                            (Some(lines), Ok(Response::from_parts(metadata, (), extensions)))
                        }
                        Err(status) => (None, Err(status)),
                    };
                    let ended = ended(&reply, clock, is_layered);
                    if let Some(lines) = lines {
                        listen(lines, call.reads, clock, call.patience).await;
                    }
                    ended
                }
            }
        });
        let made = timeout(call.patience, made).await;
        made.unwrap_or_else(|_| (CallEnd::Dropped, clock.elapsed(), None))
    }
}

/// Reads so many messages, and no longer than its patience and a minute.
async fn listen(mut lines: Streaming<Line>, reads: u32, clock: VirtualClock, patience: Duration) {
    let time = patience.min(Duration::from_secs(60)).saturating_sub(clock.elapsed());
    let reading = async {
        for _ in 0..reads {
            if !matches!(lines.message().await, Ok(Some(_))) {
                return;
            }
        }
    };
    // A stream that hangs is dropped.
    drop(timeout(time, reading).await);
}

fn ended<T>(
    result: &Result<Response<T>, Status>,
    clock: VirtualClock,
    is_layered: bool,
) -> (CallEnd, Duration, Option<OperationReport>) {
    let (end, report) = match result {
        Ok(response) => (CallEnd::Reply, response.extensions().get().cloned()),
        Err(status) => {
            let report = tonic_gax::OperationError::of(status).map(|error| error.report().clone());
            let code = gax_retry::Code::from_wire(status.code().into());
            let is_own = report.is_some() || !is_layered;
            (if is_own { CallEnd::Failed(Some(code)) } else { CallEnd::Unreadable(code) }, report)
        }
    };
    (end, clock.elapsed(), report)
}
