//! `tokio-retry2` around tonic's own client.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::Pace;
use std::time::Duration;
use tokio_retry2::strategy::FixedInterval;
use tokio_retry2::{RetryError, RetryIf};
use tonic::Status;

/// A closure that makes one attempt, retried by `RetryIf`.
#[derive(Debug, Clone)]
pub struct TokioRetry2<S> {
    client: AssetServiceClient<S>,
    pace: Pace,
}

impl<S: Wire> TokioRetry2<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self { client: AssetServiceClient::new(service), pace }
    }
}

impl<S: Wire> Contender for TokioRetry2<S> {
    const NAME: &'static str = "tokio-retry2 around the client";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        let delays = FixedInterval::new(self.pace.delay).take(self.pace.retries());
        let attempt = async || attempt(&self.client, &message).await.map_err(RetryError::transient);
        RetryIf::spawn(delays, attempt, Pace::retries_status, |_: &Status, _: Duration| {}).await
    }
}
