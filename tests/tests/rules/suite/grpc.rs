//! Calls of RPCs with one response: by generated clients, and by tonic's own over the layer.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{ONE_MESSAGE, Running, exempt, passes};
use gax_driver::credentials::CredentialsService;
use gax_testing::{Reported as _, SuitePart, TestedAttempt, TestedTransport, Trial};
use std::time::Duration;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssets;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::{Reply, Script, Setup, VirtualServer};

struct Grpc {
    is_generated: bool,
}

const EXEMPT: &[(SuitePart, &str)] = &[(SuitePart::Commit, ONE_MESSAGE)];

impl TestedTransport for Grpc {
    fn run(&self, trial: Trial) -> Running {
        let replies = trial.attempts().iter().map(|attempt| match *attempt {
            TestedAttempt::Replies(after) => (after, Reply::message(&ListAssetsResponse::default())),
            TestedAttempt::Fails(after, code) => (after, Reply::code(tonic::Code::from(code as i32))),
            TestedAttempt::IsRefused(after) => (after, Reply::code(tonic::Code::Unauthenticated)),
            _ => (Duration::ZERO, Reply::Hang),
        });
        let server = VirtualServer::start(Script::of(replies));
        let channel = CredentialsService::new(server.channel(), trial.credentials());
        let mut setup = Setup::new(trial.settings().clone());
        if let Some(hedging) = trial.hedging() {
            setup = setup.hedged(hedging);
        }
        let is_generated = self.is_generated;
        Box::pin(async move {
            let _server = server;
            let request = ListAssetsRequest::default();
            let reply = if is_generated {
                let settings = setup.client().with_options(trial.options());
                let client = AssetServiceClient::with_settings(channel, settings);
                client.list_assets(request).await
            } else {
                let layer = setup.layer().options(trial.options());
                TonicAssets::new(layer.layer(channel)).list_assets(request).await
            };
            reply.operation_report().unwrap()
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn generated_clients_pass() {
    passes(Grpc { is_generated: true }, EXEMPT).await;
}

#[tokio::test(start_paused = true)]
async fn the_layer_passes() {
    passes(Grpc { is_generated: false }, EXEMPT).await;
}
