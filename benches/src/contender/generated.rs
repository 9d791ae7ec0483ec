//! The client that this workspace generates.

use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::pace::Pace;
use std::future::Future;
use std::time::Duration;
use tonic_gax::{__private as gax, CodeSet, RetrySettings};

static CODES: (&str, CodeSet) = ("no_retry_codes", CodeSet::EMPTY);
static PARAMS: (&str, RetrySettings) =
    ("no_retry_params", gax::ConstSettings::new().initial_retry_delay(Duration::ZERO).build());
static METHODS: [tonic_gax::MethodInfo; 1] = [gax::method_info(gax::MethodParts {
    codes: &CODES,
    params: &PARAMS,
    ..gax::MethodParts::of("google.cloud.asset.v1.AssetService", "ListAssets", crate::message::PATH)
})];

/// The generated client.
///
/// It sends no `GrpcMethod` along: over a [`Channel`](tonic::transport::Channel) it never does, and the canned
/// service stands in for one.
#[derive(Debug, Clone)]
pub struct Generated<S>(gax::Client<S>);

impl<S: Wire> Generated<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self::with_settings(service, pace.settings())
    }

    fn with_settings(service: S, settings: RetrySettings) -> Self {
        let mut stub = gax::StubSettings::new(&METHODS);
        stub.call_mut(0).set_retry_settings(settings).set_retryable_codes(Pace::codes());
        Self(gax::Client::new(
            service,
            tonic_gax::settings::ClientSettings::create(stub).with_method_extension(false),
        ))
    }
}

impl<S: Wire> Contender for Generated<S> {
    const NAME: &'static str = "generated client";

    fn call(&mut self, message: ListAssetsRequest) -> impl Future<Output = Outcome> + Send {
        self.0.unary(0, tonic::Request::new(message))
    }

    fn start(&self, message: ListAssetsRequest) -> impl Future<Output = Outcome> + Send + 'static {
        self.0.unary(0, tonic::Request::new(message))
    }
}

/// The generated client without any timeout, to see what the deadlines cost.
#[derive(Debug, Clone)]
pub struct Untimed<S>(Generated<S>);

impl<S: Wire> Untimed<S> {
    /// Over a service.
    ///
    /// # Panics
    ///
    /// Never: the settings are valid.
    pub fn new(service: S, pace: Pace) -> Self {
        let settings = RetrySettings::builder()
            .max_attempts(pace.attempts)
            .initial_retry_delay(Duration::ZERO)
            .build()
            .expect("they are valid");
        Self(Generated::with_settings(service, settings))
    }
}

impl<S: Wire> Contender for Untimed<S> {
    const NAME: &'static str = "generated client, no timeout";

    fn call(&mut self, message: ListAssetsRequest) -> impl Future<Output = Outcome> + Send {
        self.0.call(message)
    }
}
