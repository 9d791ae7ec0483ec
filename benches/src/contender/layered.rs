//! The layer of this workspace.

use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::pace::Pace;
use tonic_gax::{RetryLayer, RetryService};

/// tonic's own client over [`RetryLayer`].
#[derive(Debug, Clone)]
pub struct Layered<S>(EchoClient<RetryService<S>>);

impl<S: Wire> Layered<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        let layer = RetryLayer::new(pace.table());
        Self(EchoClient::new(layer.layer(service)))
    }
}

impl<S: Wire> Contender for Layered<S> {
    const NAME: &'static str = "layer under tonic's client";

    async fn call(&mut self, message: Payload) -> Outcome {
        Ok(self.0.send(message).await?.into_inner())
    }
}
