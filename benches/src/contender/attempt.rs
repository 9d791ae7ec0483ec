//! One attempt, as the loops of other libraries make it.

use super::traits::{Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use std::time::Duration;
use tonic::Request;

/// Calls tonic's own client once, with a timeout. Client and message are cloned, since another attempt may follow.
pub(super) async fn attempt<S: Wire>(
    client: &EchoClient<S>,
    message: &Payload,
    timeout: Duration,
) -> Outcome {
    let mut request = Request::new(message.clone());
    request.set_timeout(timeout);
    Ok(client.clone().send(request).await?.into_inner())
}
