//! `tokio-retry2` around tonic's own client.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{Pace, attempt_timeout};
use std::time::Duration;
use tokio_retry2::strategy::ExponentialBackoff;
use tokio_retry2::{RetryError, RetryIf};
use tonic::Status;

/// A closure that makes one attempt, retried by `RetryIf`.
#[derive(Debug, Clone)]
pub struct TokioRetry2<S> {
    client: EchoClient<S>,
    pace: Pace,
}

impl<S: Wire> TokioRetry2<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self { client: EchoClient::new(service), pace }
    }
}

impl<S: Wire> Contender for TokioRetry2<S> {
    const NAME: &'static str = "tokio-retry2 around the client";

    async fn call(&mut self, message: Payload) -> Outcome {
        let start = moment();
        let delays = ExponentialBackoff::from_millis(self.pace.millis())
            .max_delay(self.pace.delay)
            .take(self.pace.retries());
        let attempt = async || {
            attempt(&self.client, &message, attempt_timeout(start)).await.map_err(RetryError::transient)
        };
        RetryIf::spawn(delays, attempt, Pace::retries_status, |_: &Status, _: Duration| {}).await
    }
}
