//! One attempt, as the loops of other libraries make it.

use super::traits::{Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::ATTEMPT_TIMEOUT;
use tonic::Request;

/// Calls tonic's own client once, with a timeout. Client and message are cloned, since another attempt may follow.
pub(super) async fn attempt<S: Wire>(client: &AssetServiceClient<S>, message: &ListAssetsRequest) -> Outcome {
    let mut request = Request::new(message.clone());
    request.set_timeout(ATTEMPT_TIMEOUT);
    client.clone().list_assets(request).await
}
