//! `gcloud-gax` around tonic's own client, as its generated clients use it.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::Pace;
use gcloud_gax::retry::{MapErr as _, RetrySetting, invoke};
use tonic::Code;

/// A closure that makes one attempt, retried by `invoke`.
#[derive(Debug, Clone)]
pub struct GcloudGax<S> {
    client: AssetServiceClient<S>,
    setting: RetrySetting,
}

impl<S: Wire> GcloudGax<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: AssetServiceClient::new(service),
            setting: RetrySetting {
                from_millis: u64::try_from(pace.delay.as_millis()).unwrap_or(u64::MAX),
                max_delay: Some(pace.delay),
                factor: 1,
                take: pace.retries(),
                codes: vec![Code::Unavailable, Code::DeadlineExceeded],
            },
        }
    }
}

impl<S: Wire> Contender for GcloudGax<S> {
    const NAME: &'static str = "gcloud-gax around the client";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        let attempt = async || attempt(&self.client, &message).await.map_transient_err();
        invoke(Some(self.setting.clone()), attempt).await
    }
}
