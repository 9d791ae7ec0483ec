//! `backon` around tonic's own client.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{Pace, TOTAL_TIMEOUT, attempt_timeout};
use backon::{ExponentialBuilder, Retryable as _};

/// A closure that makes one attempt, retried by `backon`.
#[derive(Debug, Clone)]
pub struct Backon<S> {
    client: EchoClient<S>,
    delays: ExponentialBuilder,
}

impl<S: Wire> Backon<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        let delays = ExponentialBuilder::new()
            .with_min_delay(pace.delay)
            .with_max_delay(pace.delay)
            .with_factor(1.0)
            .with_total_delay(Some(TOTAL_TIMEOUT))
            .with_max_times(pace.retries());
        Self { client: EchoClient::new(service), delays }
    }
}

impl<S: Wire> Contender for Backon<S> {
    const NAME: &'static str = "backon around the client";

    async fn call(&mut self, message: Payload) -> Outcome {
        let start = moment();
        let attempt = || attempt(&self.client, &message, attempt_timeout(start));
        attempt.retry(self.delays).when(Pace::retries_status).await
    }
}
