//! Requests over the HTTP layer.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Attempts, ONE_MESSAGE, Running, exempt, passes};
use bytes::Bytes;
use gax_driver::credentials::CredentialsService;
use gax_http::HttpRetryLayer;
use gax_testing::{SuitePart, TestedTransport, Trial};
use http::Response;
use http_body_util::Full;
use std::io;
use tonic_gax::OperationReport;

struct Http;

const EXEMPT: &[(SuitePart, &str)] = &[(SuitePart::Commit, ONE_MESSAGE)];

impl TestedTransport for Http {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let service = tower::service_fn(move |_: http::Request<Full<Bytes>>| {
            let end = attempts.next_http();
            async move {
                let response = Response::builder().status(end.await).body(Full::<Bytes>::default());
                Ok::<_, io::Error>(response.unwrap())
            }
        });
        let layer = HttpRetryLayer::new(trial.settings(), trial.codes()).options(trial.options());
        let layer = match trial.hedging() {
            Some(hedging) => layer.hedging(hedging),
            None => layer,
        };
        let client = layer.layer(CredentialsService::new(service, trial.credentials()));
        Box::pin(async move {
            let request = http::Request::get("http://server/thing").body(Full::default()).unwrap();
            match client.send(request).await {
                Ok(response) => OperationReport::of(response.extensions()).unwrap().clone(),
                Err(error) => error.report().clone(),
            }
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn http_passes() {
    passes(Http, EXEMPT).await;
}
