//! Our own transports.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_driver::Retryer;
use gax_http::HttpRetryLayer;
use gax_retry::Code;
use http_body_util::Full;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use tonic::Status;
use tonic_gax::OperationReport;
use tonic_gax::testing::{Reported as _, SuitePart, TestedAttempt, TestedTransport, Trial, run_suite};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssets;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::{Reply, Script, Setup, VirtualServer};

type Running = Pin<Box<dyn Future<Output = OperationReport>>>;

const ONE_MESSAGE: &str =
    "the caller gets its reply as a whole, so that no attempt fails behind a part of it";

/// The attempts of a trial that are still to come.
#[derive(Clone)]
struct Attempts(Arc<Mutex<VecDeque<TestedAttempt>>>);

impl Attempts {
    fn of(trial: &Trial) -> Self {
        Self(Arc::new(Mutex::new(trial.attempts().iter().copied().collect())))
    }

    /// The end of the next attempt, once it has come.
    fn next(&self) -> impl Future<Output = Result<(), Code>> + use<> {
        let attempt = self.0.lock().unwrap().pop_front().unwrap();
        async move {
            let (after, result) = match attempt {
                TestedAttempt::Replies(after) => (after, Ok(())),
                TestedAttempt::Fails(after, code) => (after, Err(code)),
                _ => return std::future::pending().await,
            };
            sleep(after).await;
            result
        }
    }
}

struct Closures;

impl TestedTransport for Closures {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let retryer = Retryer::with_policy(trial.policy(), trial.codes()).options(trial.options());
        Box::pin(async move {
            let attempt = |_| {
                let end = attempts.next();
                async move { end.await.map_err(|code| Status::new(tonic::Code::from(code as i32), "")) }
            };
            match retryer.run(attempt).await {
                Ok(retried) => retried.report().clone(),
                Err(error) => error.report().clone(),
            }
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        (part == SuitePart::Commit).then_some(ONE_MESSAGE)
    }
}

struct Http;

impl TestedTransport for Http {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let service = tower::service_fn(move |_: http::Request<Full<bytes::Bytes>>| {
            let end = attempts.next();
            async move {
                let status = match end.await {
                    Ok(()) => 200,
                    Err(Code::InvalidArgument) => 400,
                    Err(_) => 503,
                };
                let response = http::Response::builder().status(status).body(Full::<bytes::Bytes>::default());
                Ok::<_, io::Error>(response.unwrap())
            }
        });
        let layer = HttpRetryLayer::new(trial.settings(), trial.codes()).options(trial.options());
        let layer = match trial.hedging() {
            Some(hedging) => layer.hedging(hedging),
            None => layer,
        };
        let client = layer.layer(service);
        Box::pin(async move {
            let request = http::Request::get("http://server/thing").body(Full::default()).unwrap();
            match client.send(request).await {
                Ok(response) => OperationReport::of(response.extensions()).unwrap().clone(),
                Err(error) => error.report().clone(),
            }
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        match part {
            SuitePart::Commit => Some(ONE_MESSAGE),
            _ => None,
        }
    }
}

/// A call of an RPC with one response: by a generated client, or by tonic's own client over the layer.
struct Grpc {
    is_generated: bool,
}

impl TestedTransport for Grpc {
    fn run(&self, trial: Trial) -> Running {
        let replies = trial.attempts().iter().map(|attempt| match *attempt {
            TestedAttempt::Replies(after) => (after, Reply::message(&ListAssetsResponse::default())),
            TestedAttempt::Fails(after, code) => (after, Reply::code(tonic::Code::from(code as i32))),
            _ => (Duration::ZERO, Reply::Hang),
        });
        let server = VirtualServer::start(Script::of(replies));
        let mut setup = Setup::new(trial.settings().clone());
        if let Some(hedging) = trial.hedging() {
            setup = setup.hedged(hedging);
        }
        let is_generated = self.is_generated;
        Box::pin(async move {
            let request = ListAssetsRequest::default();
            let reply = if is_generated {
                let settings = setup.client().with_options(trial.options());
                let client = AssetServiceClient::with_settings(server.channel(), settings);
                client.list_assets(request).await
            } else {
                let layer = setup.layer().options(trial.options());
                TonicAssets::new(layer.layer(server.channel())).list_assets(request).await
            };
            reply.operation_report().unwrap()
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        (part == SuitePart::Commit).then_some(ONE_MESSAGE)
    }
}

async fn passes(transport: impl TestedTransport) {
    assert_eq!(run_suite(&transport).await, Ok(vec![(SuitePart::Commit, ONE_MESSAGE)]));
}

#[tokio::test(start_paused = true)]
async fn closures_pass() {
    passes(Closures).await;
}

#[tokio::test(start_paused = true)]
async fn http_passes() {
    passes(Http).await;
}

#[tokio::test(start_paused = true)]
async fn generated_clients_pass() {
    passes(Grpc { is_generated: true }).await;
}

#[tokio::test(start_paused = true)]
async fn the_layer_passes() {
    passes(Grpc { is_generated: false }).await;
}
