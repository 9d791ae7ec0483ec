//! Streams of responses, which end with the first failure behind a message or are resumed: by generated clients, and by tonic's
//! own over the layer.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Running, exempt, passes, status};
use gax_client::ResponseStream;
use gax_driver::credentials::CredentialsService;
use gax_streams::ResumptionExt as _;
use gax_streams::StreamReport;
use gax_streams::resumption::Resumption;
use gax_testing::{SuitePart, TestedAttempt, TestedTransport, Trial, VirtualServer};
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{IntoRequest as _, Request, Response, Status};
use tonic_gax::{OperationError, OperationReport};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{Act, Feed, Reply, Script, Setup, line};

struct Streams {
    is_generated: bool,
    is_resumed: bool,
}

const UNTIMED: (SuitePart, &str) = (SuitePart::Expiry, "RPC timeouts don't apply to streams");
const PLAIN: &[(SuitePart, &str)] = &[UNTIMED];
const RESUMED: &[(SuitePart, &str)] = &[
    UNTIMED,
    (SuitePart::Hedging, "a stream that is resumed has one connection at a time"),
    (SuitePart::Commit, "a stream that breaks off is resumed behind its last message"),
];

/// The reply before a stream is open: a server checks credentials first.
fn head(attempt: TestedAttempt) -> (Duration, Reply) {
    match attempt {
        TestedAttempt::IsRefused(after) => (after, Reply::code(tonic::Code::Unauthenticated)),
        _ => (Duration::ZERO, Reply::Serve),
    }
}

/// The acts of an attempt's stream. Its head comes at once.
fn acts(attempt: TestedAttempt) -> Vec<Act> {
    let millis = |time: Duration| Act::Wait(u64::try_from(time.as_millis()).unwrap());
    match attempt {
        TestedAttempt::Replies(after) => vec![millis(after), Act::Line(1)],
        TestedAttempt::Fails(after, code) => vec![millis(after), Act::Fail(status(code))],
        TestedAttempt::BreaksOff(after) => {
            vec![Act::Line(1), millis(after), Act::Fail(status(gax_retry::Code::Unavailable))]
        }
        _ => vec![Act::Hang],
    }
}

fn resumption() -> Resumption {
    Resumption::by_position(|line: &Line| line.count, |first: &Line, count| Line { count, ..first.clone() })
}

/// Reads a stream to its end.
async fn read<S: Stream<Item = Result<Line, Status>> + Unpin>(
    response: Result<Response<S>, Status>,
    report: impl FnOnce(&S) -> Option<OperationReport>,
) -> OperationReport {
    let failed = |status| OperationError::of(&status).unwrap().report().clone();
    let response = match response {
        Ok(response) => response,
        Err(status) => return failed(status),
    };
    let at_head = OperationReport::of(response.extensions()).cloned();
    let at_end = StreamReport::of(&response).cloned();
    let mut stream = response.into_inner();
    while let Some(message) = stream.next().await {
        if let Err(status) = message {
            return failed(status);
        }
    }
    report(&stream).or(at_end.and_then(|report| report.get())).or(at_head).unwrap()
}

impl TestedTransport for Streams {
    fn run(&self, trial: Trial) -> Running {
        let is_open = |attempt: &&TestedAttempt| !matches!(attempt, TestedAttempt::IsRefused(_));
        let feed = Feed::new(trial.attempts().iter().filter(is_open).map(|attempt| acts(*attempt)));
        let script = Script::of(trial.attempts().iter().map(|attempt| head(*attempt)));
        let server = VirtualServer::serving(TalkServer::new(feed), script);
        let channel = CredentialsService::new(server.channel(), trial.credentials());
        let mut setup = Setup::new(trial.settings().clone());
        if let Some(hedging) = trial.hedging() {
            setup = setup.hedged(hedging);
        }
        let Self { is_generated, is_resumed } = *self;
        Box::pin(async move {
            let _server = server;
            let request: Request<Line> = line(0).into_request();
            let request = if is_resumed { request.with_resumption(resumption()) } else { request };
            if is_generated {
                let settings = setup.talk().with_options(trial.options());
                let client = TalkClient::with_settings(channel, settings);
                read(client.listen(request).await, ResponseStream::report).await
            } else {
                let layer = setup.layer_with_descriptors().options(trial.options());
                read(TonicTalkClient::new(layer.layer(channel)).listen(request).await, |_| None).await
            }
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, if self.is_resumed { RESUMED } else { PLAIN })
    }
}

#[tokio::test(start_paused = true)]
async fn streams_of_generated_clients_pass() {
    passes(Streams { is_generated: true, is_resumed: false }, PLAIN).await;
}

#[tokio::test(start_paused = true)]
async fn streams_over_the_layer_pass() {
    passes(Streams { is_generated: false, is_resumed: false }, PLAIN).await;
}

#[tokio::test(start_paused = true)]
async fn resumed_streams_of_generated_clients_pass() {
    passes(Streams { is_generated: true, is_resumed: true }, RESUMED).await;
}

#[tokio::test(start_paused = true)]
async fn resumed_streams_over_the_layer_pass() {
    passes(Streams { is_generated: false, is_resumed: true }, RESUMED).await;
}
