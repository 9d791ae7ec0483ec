//! Other libraries' loops around tonic's own client.

use super::attempt::attempt;
use super::traits::{Contender, Outcome, Wire};
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
#[derive(Debug, Clone)]
pub struct GoogleGax<S> {
    client: EchoClient<S>,
    throttler: SharedRetryThrottler,
    policy: Arc<dyn RetryPolicy>,
    delay: Arc<dyn BackoffPolicy>,
}

impl<S: Wire> GoogleGax<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: EchoClient::new(service),
            throttler: Arc::new(Mutex::new(Unthrottled)),
            policy: Arc::new(Aip194Strict.with_attempt_limit(pace.attempts).with_time_limit(TOTAL_TIMEOUT)),
            delay: Arc::new(Constant(pace.delay)),
        }
    }
}

impl<S: Wire> Contender for GoogleGax<S> {
    const NAME: &'static str = "google-cloud-gax around the client";

    async fn call(&mut self, message: Payload) -> Outcome {
        let client = self.client.clone();
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
        let (throttler, policy, delay) = (self.throttler.clone(), self.policy.clone(), self.delay.clone());
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
#[derive(Debug, Clone)]
pub struct GcloudGax<S> {
    client: EchoClient<S>,
    setting: RetrySetting,
}

impl<S: Wire> GcloudGax<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: EchoClient::new(service),
            setting: RetrySetting {
                from_millis: pace.millis(),
                max_delay: Some(pace.delay),
                factor: 1,
                take: pace.retries(),
                codes: vec![Code::Unavailable],
            },
        }
    }
}

impl<S: Wire> Contender for GcloudGax<S> {
    const NAME: &'static str = "gcloud-gax around the client";

    async fn call(&mut self, message: Payload) -> Outcome {
        let start = moment();
        let attempt =
            async || attempt(&self.client, &message, attempt_timeout(start)).await.map_transient_err();
        invoke(Some(self.setting.clone()), attempt).await
    }
}

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

/// A closure that makes one attempt, retried by `backoff::future::retry`, which has no limit of attempts, only one of time.
#[derive(Debug, Clone)]
pub struct BackoffLoop<S> {
    client: EchoClient<S>,
    delays: backoff::ExponentialBackoff,
}

impl<S: Wire> BackoffLoop<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self {
            client: EchoClient::new(service),
            delays: backoff::ExponentialBackoffBuilder::new()
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
                    backoff::Error::transient(status)
                } else {
                    backoff::Error::permanent(status)
                }
            })
        };
        backoff::future::retry(self.delays.clone(), attempt).await
    }
}
