//! The libraries that only the page compares with.

use super::looped::{Loop, Looped, attempt};
use super::traits::{Outcome, Wire};
use crate::bench::Payload;
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{ATTEMPT_TIMEOUT, Pace, TOTAL_TIMEOUT, attempt_timeout};
use gcloud_gax::retry::{MapErr as _, RetrySetting, invoke};
use google_cloud_gax::backoff_policy::BackoffPolicy;
use google_cloud_gax::error::rpc;
use google_cloud_gax::retry_loop_internal::retry_loop;
use google_cloud_gax::retry_policy::{Aip194Strict, RetryPolicy, RetryPolicyExt as _};
use google_cloud_gax::retry_result::RetryResult;
use google_cloud_gax::retry_state::RetryState;
use google_cloud_gax::retry_throttler::{RetryThrottler, SharedRetryThrottler};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_retry2::strategy::ExponentialBackoff;
use tokio_retry2::{RetryError, RetryIf};
use tonic::{Code, Status};

/// An attempt, retried as Google's own gRPC clients for Rust retry.
pub type GoogleGax<S> = Looped<S, GooglePolicies>;

/// What Google's loop asks.
#[derive(Debug, Clone)]
pub struct GooglePolicies {
    throttler: SharedRetryThrottler,
    policy: Arc<dyn RetryPolicy>,
    delay: Arc<dyn BackoffPolicy>,
}

impl Loop for GooglePolicies {
    const NAME: &'static str = "google-cloud-gax around the client";

    fn new(pace: Pace) -> Self {
        Self {
            throttler: Arc::new(Mutex::new(Unthrottled)),
            policy: Arc::new(Aip194Strict.with_attempt_limit(pace.attempts).with_time_limit(TOTAL_TIMEOUT)),
            delay: Arc::new(Constant(pace.delay)),
        }
    }

    async fn run<S: Wire>(&self, client: &EchoClient<S>, message: Payload) -> Outcome {
        let client = client.clone();
        let attempt = async move |left: Option<Duration>| {
            let timeout = left.map_or(ATTEMPT_TIMEOUT, |left| left.min(ATTEMPT_TIMEOUT));
            attempt(&client, &message, timeout).await.map_err(|status| {
                let code = rpc::Code::from(i32::from(status.code()));
                google_cloud_gax::error::Error::service(
                    rpc::Status::default().set_code(code).set_message(status.message()),
                )
            })
        };
        let sleep = async |delay| tokio::time::sleep(delay).await;
        let Self { throttler, policy, delay } = self.clone();
        retry_loop(attempt, sleep, true, throttler, policy, delay).await.map_err(|error| {
            let code = error.status().map_or(Code::Unknown, |status| Code::from(status.code as i32));
            Status::new(code, error.to_string())
        })
    }
}

/// A constant delay. Its own policies always add jitter.
#[derive(Debug)]
struct Constant(Duration);

impl BackoffPolicy for Constant {
    fn on_failure(&self, _: &RetryState) -> Duration {
        self.0
    }
}

/// Its default would refuse retries where every call fails once.
#[derive(Debug)]
struct Unthrottled;

impl RetryThrottler for Unthrottled {
    fn throttle_retry_attempt(&self) -> bool {
        false
    }

    fn on_retry_failure(&mut self, _: &RetryResult) {}

    fn on_success(&mut self) {}
}

/// A closure that makes one attempt, retried by `invoke`.
pub type GcloudGax<S> = Looped<S, RetrySetting>;

impl Loop for RetrySetting {
    const NAME: &'static str = "gcloud-gax around the client";

    fn new(pace: Pace) -> Self {
        Self {
            from_millis: pace.millis(),
            max_delay: Some(pace.delay),
            factor: 1,
            take: pace.retries(),
            codes: vec![Code::Unavailable],
        }
    }

    async fn run<S: Wire>(&self, client: &EchoClient<S>, message: Payload) -> Outcome {
        let start = moment();
        let attempt = async || attempt(client, &message, attempt_timeout(start)).await.map_transient_err();
        invoke(Some(self.clone()), attempt).await
    }
}

/// A closure that makes one attempt, retried by `RetryIf`.
pub type TokioRetry2<S> = Looped<S, Pace>;

impl Loop for Pace {
    const NAME: &'static str = "tokio-retry2 around the client";

    fn new(pace: Pace) -> Self {
        pace
    }

    async fn run<S: Wire>(&self, client: &EchoClient<S>, message: Payload) -> Outcome {
        let start = moment();
        let delays = ExponentialBackoff::from_millis(self.millis()).max_delay(self.delay);
        let attempt =
            async || attempt(client, &message, attempt_timeout(start)).await.map_err(RetryError::transient);
        let ignored = |_: &Status, _: Duration| {};
        RetryIf::spawn(delays.take(self.retries()), attempt, Pace::retries_status, ignored).await
    }
}

/// A closure that makes one attempt, retried by `backoff::future::retry`, which has no limit of attempts, only one of time.
pub type BackoffLoop<S> = Looped<S, backoff::ExponentialBackoff>;

impl Loop for backoff::ExponentialBackoff {
    const NAME: &'static str = "backoff around the client";

    fn new(pace: Pace) -> Self {
        backoff::ExponentialBackoffBuilder::new()
            .with_initial_interval(pace.delay)
            .with_max_interval(pace.delay)
            .with_randomization_factor(0.0)
            .with_multiplier(1.0)
            .with_max_elapsed_time(Some(TOTAL_TIMEOUT))
            .build()
    }

    async fn run<S: Wire>(&self, client: &EchoClient<S>, message: Payload) -> Outcome {
        let start = moment();
        let attempt = async || {
            attempt(client, &message, attempt_timeout(start)).await.map_err(|status| {
                if Pace::retries_status(&status) {
                    backoff::Error::transient(status)
                } else {
                    backoff::Error::permanent(status)
                }
            })
        };
        backoff::future::retry(self.clone(), attempt).await
    }
}
