//! Uploads and downloads.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Attempts, ONE_AT_A_TIME, Running, exempt, passes};
use bytes::Bytes;
use gax_driver::credentials::CredentialsService;
use gax_http::HttpRetryLayer;
use gax_http::{IdempotencyStrategy, ReplayBody};
use gax_testing::{SuitePart, TestedTransport, Trial};
use gax_transfer::{Download, Upload};
use http::Response;
use http_body_util::{BodyExt as _, Full};
use std::io;

enum Transfer {
    Download,
    Upload,
}

const EXEMPT: &[(SuitePart, &str)] = &[
    (SuitePart::Hedging, ONE_AT_A_TIME),
    (SuitePart::Commit, "a transfer that breaks off goes on where it was"),
];

impl TestedTransport for Transfer {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let service = tower::service_fn(move |request: http::Request<ReplayBody>| {
            let end = attempts.next_http();
            async move {
                drop(request.into_body().collect().await);
                let response = Response::builder().status(end.await);
                Ok::<_, io::Error>(response.body(Full::<Bytes>::from(r#"{"size": "7"}"#)).unwrap())
            }
        });
        let layer = HttpRetryLayer::new(trial.settings(), trial.codes()).options(trial.options());
        // An upload that is small, and safe to repeat, is one request.
        let service = CredentialsService::new(service, trial.credentials());
        let client = layer.strategy(IdempotencyStrategy::Always).layer(service);
        let request = http::Request::get("http://server/thing").body(()).unwrap();
        match self {
            Self::Download => Box::pin(async move {
                match Download::new(request).to_bytes(&client).await {
                    Ok((_, downloaded)) => downloaded.report().clone(),
                    Err(error) => error.report().unwrap().clone(),
                }
            }),
            Self::Upload => Box::pin(async move {
                match Upload::new(request, Bytes::from("content")).send(&client).await {
                    Ok(uploaded) => uploaded.report().clone(),
                    Err(error) => error.report().unwrap().clone(),
                }
            }),
        }
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn downloads_pass() {
    passes(Transfer::Download, EXEMPT).await;
}

#[tokio::test(start_paused = true)]
async fn uploads_pass() {
    passes(Transfer::Upload, EXEMPT).await;
}
