//! tonic's own client.

use super::traits::{Contender, Outcome, Wire, over_tonic};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::pace::ATTEMPT_TIMEOUT;
use tonic::Request;

/// tonic's own client, with nothing around it.
#[derive(Debug, Clone)]
pub struct Raw<S>(EchoClient<S>);

impl<S: Wire> Raw<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(EchoClient::new(service))
    }
}

over_tonic!(Raw, "raw tonic client");

/// tonic's own client, with a timeout on every request.
#[derive(Debug, Clone)]
pub struct RawTimeout<S>(EchoClient<S>);

impl<S: Wire> RawTimeout<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(EchoClient::new(service))
    }
}

impl<S: Wire> Contender for RawTimeout<S> {
    const NAME: &'static str = "raw, set_timeout";

    async fn call(&mut self, message: Payload) -> Outcome {
        let mut request = Request::new(message);
        request.set_timeout(ATTEMPT_TIMEOUT);
        Ok(self.0.send(request).await?.into_inner())
    }
}
