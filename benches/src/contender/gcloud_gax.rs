//! `gcloud-gax` around tonic's own client, as its generated clients use it.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{Pace, attempt_timeout};
use gcloud_gax::retry::{MapErr as _, RetrySetting, invoke};
use tonic::Code;

/// A closure that makes one attempt, retried by `invoke`.
#[derive(Debug, Clone)]
pub struct GcloudGax<S> {
    client: EchoClient<S>,
    setting: RetrySetting,
}

impl<S: Wire> GcloudGax<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: EchoClient::new(service),
            setting: RetrySetting {
                from_millis: pace.millis(),
                max_delay: Some(pace.delay),
                factor: 1,
                take: pace.retries(),
                codes: vec![Code::Unavailable],
            },
        }
    }
}

impl<S: Wire> Contender for GcloudGax<S> {
    const NAME: &'static str = "gcloud-gax around the client";

    async fn call(&mut self, message: Payload) -> Outcome {
        let start = moment();
        let attempt =
            async || attempt(&self.client, &message, attempt_timeout(start)).await.map_transient_err();
        invoke(Some(self.setting.clone()), attempt).await
    }
}
