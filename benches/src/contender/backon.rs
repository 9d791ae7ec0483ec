//! `backon` around tonic's own client.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::Pace;
use backon::{ConstantBuilder, Retryable as _};

/// A closure that makes one attempt, retried by `backon`.
#[derive(Debug, Clone)]
pub struct Backon<S> {
    client: AssetServiceClient<S>,
    pace: Pace,
}

impl<S: Wire> Backon<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self { client: AssetServiceClient::new(service), pace }
    }
}

impl<S: Wire> Contender for Backon<S> {
    const NAME: &'static str = "backon around the client";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        let builder = ConstantBuilder::new().with_delay(self.pace.delay).with_max_times(self.pace.retries());
        (|| attempt(&self.client, &message)).retry(builder).when(Pace::retries_status).await
    }
}
