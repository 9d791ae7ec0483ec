//! Other libraries' loops around tonic's own client.

use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{Pace, TOTAL_TIMEOUT, attempt_timeout};
use backon::{ExponentialBuilder, Retryable as _};
use std::future::Future;
use std::time::Duration;
use tonic::Request;

/// A library that retries: what it keeps from call to call.
pub trait Loop: Clone + Send + Sync + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// One that retries at that pace.
    fn new(pace: Pace) -> Self;

    /// Makes attempts until one succeeds.
    fn run<S: Wire>(&self, client: &EchoClient<S>, message: Payload) -> impl Future<Output = Outcome> + Send;
}

/// tonic's own client in a library's loop.
#[derive(Debug, Clone)]
pub struct Looped<S, L> {
    client: EchoClient<S>,
    library: L,
}

impl<S: Wire, L: Loop> Looped<S, L> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self { client: EchoClient::new(service), library: L::new(pace) }
    }
}

impl<S: Wire, L: Loop> Contender for Looped<S, L> {
    const NAME: &'static str = L::NAME;

    fn call(&mut self, message: Payload) -> impl Future<Output = Outcome> + Send {
        self.library.run(&self.client, message)
    }
}

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

/// A closure that makes one attempt, retried by `backon`.
pub type Backon<S> = Looped<S, ExponentialBuilder>;

impl Loop for ExponentialBuilder {
    const NAME: &'static str = "backon around the client";

    fn new(pace: Pace) -> Self {
        Self::new()
            .with_min_delay(pace.delay)
            .with_max_delay(pace.delay)
            .with_factor(1.0)
            .with_total_delay(Some(TOTAL_TIMEOUT))
            .with_max_times(pace.retries())
    }

    async fn run<S: Wire>(&self, client: &EchoClient<S>, message: Payload) -> Outcome {
        let start = moment();
        let attempt = || attempt(client, &message, attempt_timeout(start));
        attempt.retry(*self).when(Pace::retries_status).await
    }
}
