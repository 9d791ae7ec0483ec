//! `backoff` around tonic's own client. It has no limit of attempts, only one of time.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::Pace;
use ::backoff::{Error, ExponentialBackoff, ExponentialBackoffBuilder};

/// A closure that makes one attempt, retried by `backoff::future::retry`.
#[derive(Debug, Clone)]
pub struct BackoffLoop<S> {
    client: AssetServiceClient<S>,
    delays: ExponentialBackoff,
}

impl<S: Wire> BackoffLoop<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: AssetServiceClient::new(service),
            delays: ExponentialBackoffBuilder::new()
                .with_initial_interval(pace.delay)
                .with_max_interval(pace.delay)
                .with_randomization_factor(0.0)
                .with_max_elapsed_time(None)
                .build(),
        }
    }
}

impl<S: Wire> Contender for BackoffLoop<S> {
    const NAME: &'static str = "backoff around the client";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        let attempt = async || {
            attempt(&self.client, &message).await.map_err(|status| {
                if Pace::retries_status(&status) {
                    Error::transient(status)
                } else {
                    Error::permanent(status)
                }
            })
        };
        ::backoff::future::retry(self.delays.clone(), attempt).await
    }
}
