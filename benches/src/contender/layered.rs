//! The layer of this workspace.

use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::Pace;
use tonic_gax::{RetryLayer, RetryService};

/// tonic's own client over [`RetryLayer`].
#[derive(Debug, Clone)]
pub struct Layered<S>(AssetServiceClient<RetryService<S>>);

impl<S: Wire> Layered<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        let layer = RetryLayer::new(pace.table());
        Self(AssetServiceClient::new(layer.layer(service)))
    }
}

impl<S: Wire> Contender for Layered<S> {
    const NAME: &'static str = "layer under tonic's client";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        self.0.list_assets(message).await
    }
}
