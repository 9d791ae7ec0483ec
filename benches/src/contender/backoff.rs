//! `backoff` around tonic's own client. It has no limit of attempts, only one of time.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{Pace, TOTAL_TIMEOUT, attempt_timeout};
use ::backoff::{Error, ExponentialBackoff, ExponentialBackoffBuilder};

/// A closure that makes one attempt, retried by `backoff::future::retry`.
#[derive(Debug, Clone)]
pub struct BackoffLoop<S> {
    client: EchoClient<S>,
    delays: ExponentialBackoff,
}

impl<S: Wire> BackoffLoop<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: EchoClient::new(service),
            delays: ExponentialBackoffBuilder::new()
                .with_initial_interval(pace.delay)
                .with_max_interval(pace.delay)
                .with_randomization_factor(0.0)
                .with_multiplier(1.0)
                .with_max_elapsed_time(Some(TOTAL_TIMEOUT))
                .build(),
        }
    }
}

impl<S: Wire> Contender for BackoffLoop<S> {
    const NAME: &'static str = "backoff around the client";

    async fn call(&mut self, message: Payload) -> Outcome {
        let start = moment();
        let attempt = async || {
            attempt(&self.client, &message, attempt_timeout(start)).await.map_err(|status| {
                if Pace::retries_status(&status) {
                    Error::transient(status)
                } else {
                    Error::permanent(status)
                }
            })
        };
        ::backoff::future::retry(self.delays.clone(), attempt).await
    }
}
