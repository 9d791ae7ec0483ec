//! Requests of reqwest, over sockets, though in virtual time: it stands still while something is on its way between the client
//! and the server.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Attempts, ONE_MESSAGE, Running, exempt, passes};
use gax_driver::credentials::CredentialsService;
use gax_driver::observe::{OperationInfo, OperationObserver};
use gax_http::{HttpRetryLayer, ReplayBody, ReqwestService};
use gax_retry::{Attempt, StartedAttempt, StopReason};
use gax_testing::{SuitePart, TestedTransport, Trial};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tonic_gax::OperationReport;

/// Made by its builder, or sent through a service that adds credentials.
enum Reqwest {
    Built,
    WithCredentials,
}

const BUILT: &[(SuitePart, &str)] = &[
    (SuitePart::Commit, ONE_MESSAGE),
    (
        SuitePart::Credentials,
        "the builder is of a client with nothing around it, to which the program gives a token",
    ),
];
const WITH_CREDENTIALS: &[(SuitePart, &str)] = &[(SuitePart::Commit, ONE_MESSAGE)];

/// Tokio's clock, which does not advance by itself while a thread is blocked.
#[derive(Debug, Default)]
struct Clock(Mutex<Option<mpsc::Sender<()>>>);

impl Clock {
    fn hold(&self) {
        let (held, released) = mpsc::channel();
        tokio::task::spawn_blocking(move || released.recv());
        *self.0.lock().unwrap() = Some(held);
    }

    fn release(&self) {
        *self.0.lock().unwrap() = None;
    }
}

/// A request is on its way from an attempt's start, and a response until its end.
impl OperationObserver for Clock {
    fn attempt_started(&self, _: &OperationInfo, _: StartedAttempt) {
        self.hold();
    }

    fn attempt_succeeded(&self, _: &OperationInfo, _: &Attempt) {
        self.release();
    }

    fn attempt_failed(&self, _: &OperationInfo, _: &Attempt, _: Option<Duration>) {
        self.release();
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, _: &Attempt, _: StopReason) {
        self.release();
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, _: &Attempt, _: StopReason) {
        self.release();
    }

    fn attempt_cancelled(&self, _: &OperationInfo, _: &Attempt) {
        self.release();
    }
}

/// Replies to one request.
async fn serve(mut connection: TcpStream, clock: Arc<Clock>, attempts: Attempts) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(connection.read_u8().await.unwrap());
    }
    clock.release();
    let status = attempts.next_http().await;
    clock.hold();
    let reply = format!("HTTP/1.1 {status} .\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    connection.write_all(reply.as_bytes()).await.unwrap();
}

impl TestedTransport for Reqwest {
    fn run(&self, trial: Trial) -> Running {
        let clock = Arc::new(Clock::default());
        let options = trial.options().observer(Arc::clone(&clock) as Arc<dyn OperationObserver>);
        let layer = HttpRetryLayer::new(trial.settings(), trial.codes()).options(options);
        let layer = match trial.hedging() {
            Some(hedging) => layer.hedging(hedging),
            None => layer,
        };
        let client = ReqwestService::without_redirects(::reqwest::Client::builder().no_proxy()).unwrap();
        let is_built = matches!(self, Self::Built);
        Box::pin(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/thing", listener.local_addr().unwrap());
            let attempts = Attempts::of(&trial);
            // It ends with the operation.
            let mut serving = JoinSet::new();
            serving.spawn(async move {
                let mut connections = JoinSet::new();
                loop {
                    let (connection, _) = listener.accept().await.unwrap();
                    connections.spawn(serve(connection, Arc::clone(&clock), attempts.clone()));
                }
            });
            let extensions = if is_built {
                layer.layer(client).get(url).send().await.map(|response| response.extensions().clone())
            } else {
                let request = http::Request::get(url).body(ReplayBody::default()).unwrap();
                let client = layer.layer(CredentialsService::new(client, trial.credentials()));
                client.send(request).await.map(|response| response.extensions().clone())
            };
            match extensions {
                Ok(extensions) => OperationReport::of(&extensions).unwrap().clone(),
                Err(error) => error.report().clone(),
            }
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, if matches!(self, Self::Built) { BUILT } else { WITH_CREDENTIALS })
    }
}

#[tokio::test(start_paused = true)]
async fn requests_of_reqwest_pass() {
    passes(Reqwest::Built, BUILT).await;
    passes(Reqwest::WithCredentials, WITH_CREDENTIALS).await;
}
