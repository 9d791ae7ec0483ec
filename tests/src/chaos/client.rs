//! Whoever makes a random call.

use super::{CallEnd, CallKind, RandomCall, RandomCaller, RandomPolicy, Witness};
use crate::clock::VirtualClock;
use crate::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use crate::generated::test::talk::v1::{Line, TalkClient};
use std::time::Duration;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{CallOptions, OperationReport, RequestExt as _, RetryService};
use tower_layer::Layer as _;

/// A client of Talk, of one kind or the other.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ChaosClient {
    /// The generated one.
    Generated(TalkClient<Channel>),
    /// tonic's own over the layer.
    Tonic(TonicTalkClient<RetryService<Channel>>),
}

impl ChaosClient {
    /// The generated client under that policy.
    #[must_use]
    pub fn generated(channel: Channel, policy: &RandomPolicy, witness: &Witness) -> Self {
        Self::Generated(TalkClient::with_settings(channel, policy.client(witness)))
    }

    /// tonic's client over the layer, which knows what kinds its methods are, or doesn't.
    #[must_use]
    pub fn layered(channel: Channel, policy: &RandomPolicy, witness: &Witness, is_described: bool) -> Self {
        Self::Tonic(TonicTalkClient::new(policy.layer(witness, is_described).layer(channel)))
    }

    async fn ask(&mut self, request: Request<Line>) -> Result<Response<Line>, Status> {
        match self {
            Self::Generated(client) => client.ask(request).await,
            Self::Tonic(client) => client.ask(request).await,
        }
    }

    async fn listen(&mut self, request: Request<Line>) -> Result<Response<Streaming<Line>>, Status> {
        match self {
            Self::Generated(client) => client.listen(request).await,
            Self::Tonic(client) => client.listen(request).await,
        }
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
        let is_layered = matches!(self, Self::Tonic(_));
        let made = Witness::during(number, async {
            match call.kind {
                CallKind::Unary => told(&self.ask(request).await, clock, is_layered),
                CallKind::ServerStreaming => {
                    let (response, ended) = match self.listen(request).await {
                        Ok(response) => {
                            let (metadata, lines, extensions) = response.into_parts();
                            (Some(lines), Ok(Response::from_parts(metadata, (), extensions)))
                        }
                        Err(status) => (None, Err(status)),
                    };
                    let told = told(&ended, clock, is_layered);
                    if let Some(lines) = response {
                        listen(lines, call.reads, clock, call.patience).await;
                    }
                    told
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

fn told<T>(
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
