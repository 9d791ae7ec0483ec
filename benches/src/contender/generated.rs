//! The client that this workspace generates.

use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::pace::Pace;
use gax_client::__private as gax;
use std::time::Duration;
use tonic_gax::{CodeSet, RetrySettings};

static CODES: (&str, CodeSet) = ("no_retry_codes", CodeSet::EMPTY);
static PARAMS: (&str, RetrySettings) =
    ("no_retry_params", gax::ConstSettings::new().initial_retry_delay(Duration::ZERO).build());
static METHODS: [gax_client::MethodInfo; 1] = [gax::method_info(gax::MethodParts {
    codes: &CODES,
    params: &PARAMS,
    ..gax::MethodParts::of("bench.v1.Echo", "Send", crate::message::PATH)
})];

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
