//! `backon` around tonic's own client.

use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::{ATTEMPT_TIMEOUT, Pace};
use backon::{ConstantBuilder, Retryable as _};
use std::future::ready;
use std::time::Duration;
use tonic::{Code, Request, Status};

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
        let builder = ConstantBuilder::new()
            .with_delay(self.pace.delay)
            .with_max_times(usize::try_from(self.pace.attempts).unwrap_or(usize::MAX).saturating_sub(1));
        let client = &self.client;
        let attempt = || {
            let mut client = client.clone();
            let mut request = Request::new(message.clone());
            request.set_timeout(ATTEMPT_TIMEOUT);
            async move {
                let call = client.list_assets(request);
                match tokio::time::timeout(ATTEMPT_TIMEOUT, call).await {
                    Ok(outcome) => outcome,
                    Err(_) => Err(Status::deadline_exceeded("the attempt's time is up")),
                }
            }
        };
        let is_retryable =
            |status: &Status| matches!(status.code(), Code::Unavailable | Code::DeadlineExceeded);
        if self.pace.peers_sleep {
            attempt.retry(builder).when(is_retryable).await
        } else {
            attempt.retry(builder).sleep(|_: Duration| ready(())).when(is_retryable).await
        }
    }
}
