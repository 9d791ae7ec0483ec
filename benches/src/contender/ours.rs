//! The layer of this workspace, and the client that it generates.

use super::traits::{Contender, Outcome, Wire, over_tonic};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::pace::Pace;
use gax_client::__private as gax;
use tonic_gax::{RetryLayer, RetryService};

/// tonic's own client over [`RetryLayer`].
#[derive(Debug, Clone)]
pub struct Layered<S>(EchoClient<RetryService<S>>);

impl<S: Wire> Layered<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self::of(RetryLayer::new(pace.table()).layer(service))
    }

    /// Over a layer of any settings.
    pub fn of(service: RetryService<S>) -> Self {
        Self(EchoClient::new(service))
    }
}

over_tonic!(Layered, "layer under tonic's client");

static METHODS: [gax_client::MethodInfo; 1] =
    [gax::method_info(gax::MethodParts::of("bench.v1.Echo", "Send", crate::message::PATH))];

/// The generated client, with the settings that it has by itself. Over a [`Channel`](tonic::transport::Channel) it sends no
/// `GrpcMethod` along, which is three allocations less than over the canned service.
#[derive(Debug, Clone)]
pub struct Generated<S>(gax::Client<S>);

impl<S: Wire> Generated<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        let mut stub = gax::StubSettings::new(&METHODS);
        stub.call_mut(0).set_retry_settings(pace.settings()).set_retryable_codes(Pace::codes());
        Self(gax::Client::new(service, gax_client::ClientSettings::create(stub)))
    }
}

impl<S: Wire> Contender for Generated<S> {
    const NAME: &'static str = "generated client";

    async fn call(&mut self, message: Payload) -> Outcome {
        Ok(self.0.unary(0, tonic::Request::new(message)).await?.into_inner())
    }
}
