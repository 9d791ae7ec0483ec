//! tonic's own client.

use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::ATTEMPT_TIMEOUT;
use tonic::Request;

/// tonic's own client, with nothing around it.
#[derive(Debug, Clone)]
pub struct Raw<S>(AssetServiceClient<S>);

impl<S: Wire> Raw<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(AssetServiceClient::new(service))
    }
}

impl<S: Wire> Contender for Raw<S> {
    const NAME: &'static str = "raw tonic client";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        self.0.list_assets(message).await
    }
}

/// tonic's own client, with a timeout on every request.
#[derive(Debug, Clone)]
pub struct RawTimeout<S>(AssetServiceClient<S>);

impl<S: Wire> RawTimeout<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(AssetServiceClient::new(service))
    }
}

impl<S: Wire> Contender for RawTimeout<S> {
    const NAME: &'static str = "raw, set_timeout";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        let mut request = Request::new(message);
        request.set_timeout(ATTEMPT_TIMEOUT);
        self.0.list_assets(request).await
    }
}
