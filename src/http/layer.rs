//! The layer around an HTTP client.

use super::plan::{Basis, LayerOptions};
use super::service::HttpRetryService;
use super::shared_state::SharedState;
use crate::http::failure::Connections;
#[cfg(feature = "live")]
use crate::live::SettingsHandle;
use crate::operation::{JitterSeeds, Observers, OperationObserver, Retry};
use crate::transport::CloneService;
use gax_retry::http::{IdempotencyStrategy, IdempotencyTable, Preset, StatusSet};
use gax_retry::settings::Override;
use gax_retry::{Compatibility, Environment, Hedging, IntoCodes, RetryBudget, RetrySettings};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tower_layer::Layer;

/// Runs every request of an HTTP client as an operation: the same settings, attempts and report as for gRPC.
///
/// The client is any tower service of [`http::Request`]s, such as hyper-util's, or with the feature
/// `reqwest` a `ReqwestService`. The layer decides in this order:
///
/// * A response 2xx whose body came whole is success. Any other status, whatever its body does, counts as a code, by
///   [`Code::from_http_status`](gax_retry::Code::from_http_status); a broken connection or body counts as
///   `UNAVAILABLE` ([`Compatibility::GaxJava`]: `UNKNOWN`, and final), an attempt whose time is up as
///   `DEADLINE_EXCEEDED`, a response that can't be read as `INTERNAL`, and final.
/// * It is retried if its code is retryable; or by status, where
///   [`retryable_statuses`](Self::retryable_statuses) or a preset says so.
/// * It is retried only if it is safe to retry, by the [table](Self::idempotency) and the
///   [strategy](Self::strategy), or if no server can have carried it out.
/// * `Retry-After` is waited for, with a draw on top, and one beyond the total timeout ends the operation.
///
/// The response carries an [`OperationReport`](crate::OperationReport) in its extensions
/// ([`report`](crate::HttpResponseExt::report)), unless it is a success at the first attempt and nobody
/// [asked](Self::reports); its [`http`](crate::OperationReport::http) says why the request was retried or not. The
/// last response, whatever its status, is the response; only where none came the operation ends with an
/// [`HttpError`](crate::HttpError).
///
/// A single request brings [`CallOptions`](crate::CallOptions), [`HttpCallOptions`](crate::HttpCallOptions), an
/// [`IdempotencyStrategy`] or a [`Preset`] of its own in its extensions. What is under the layer finds the
/// [`StartedAttempt`](crate::StartedAttempt) there, from the second attempt on; the first carries none, so that a
/// request that needs no other costs nothing for it.
///
/// # Defaults
///
/// | setting | with [`new`](Self::new) | with [`preset`](Self::preset) |
/// | --- | --- | --- |
/// | [`idempotency`](Self::idempotency) | [`IdempotencyTable::http_methods`] | the preset's |
/// | [`strategy`](Self::strategy) | conditional; always with [`Compatibility::GaxJava`] | the preset's |
/// | [`retryable_statuses`](Self::retryable_statuses) | by code | the preset's |
/// | [`attempt_timeout`](Self::attempt_timeout) | by the settings | none |
/// | [`server_delays`](Self::server_delays) | `Retry-After` is heeded with [`Compatibility::Documented`] only | as the preset says |
/// | [`retry_budget`](Self::retry_budget) | none | none |
/// | [`max_replay_bytes`](Self::max_replay_bytes) | no limit | no limit |
/// | [`max_response_buffer`](Self::max_response_buffer) | 4 MiB | 4 MiB |
/// | [`body_idle_timeout`](Self::body_idle_timeout) | none | none |
/// | [`environment`](Self::environment) | not heeded | not heeded |
/// | [`reports`](Self::reports) | after a retry, or no success | the same |
/// | [`retries_enabled`](Self::retries_enabled) | yes | yes |
/// | [`nested_retries`](Self::nested_retries) | yes | yes |
///
/// # Examples
///
/// ```
/// use hyper_util::client::legacy::Client;
/// use hyper_util::rt::TokioExecutor;
/// use tonic_gax::{HttpResponseExt, HttpRetryLayer, presets};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::builder(TokioExecutor::new()).build_http();
/// let client = HttpRetryLayer::preset(&presets::storage()).reports(true).layer(client);
/// let response = client.send(http::Request::get("http://localhost:9000/storage/v1/b/photos").body(())?).await?;
/// if let Some(report) = response.report() {
///     println!("{} attempts, {:?}", report.attempt_count(), report.stop_reason());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpRetryLayer {
    options: LayerOptions,
    jitter: JitterSeeds,
    observers: Observers,
    /// Made when the layer is first used, shared by all services it makes.
    shared: OnceLock<Arc<SharedState>>,
}

/// Short: what it is set to, and nothing that is made of that.
impl fmt::Debug for HttpRetryLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRetryLayer").field("options", &self.options).finish_non_exhaustive()
    }
}

impl HttpRetryLayer {
    /// A layer that retries these codes by these settings.
    ///
    /// With a number that isn't a code, every request ends with an error
    /// ([`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions)), and nothing is sent.
    #[must_use]
    pub fn new<K>(settings: &RetrySettings, codes: impl IntoCodes<K>) -> Self {
        Self::of(Basis::Settings(settings.clone(), codes.into_codes()))
    }

    /// A layer that retries as a document, tool or library does.
    #[must_use]
    pub fn preset(preset: &Preset) -> Self {
        Self::of(Basis::Preset(Box::new(preset.clone())))
    }

    /// A layer that retries as a handle's table says, by whichever table the handle has when a request begins.
    ///
    /// Requests have no RPC. They run by the table's entry for all methods of that service, or else by the one for
    /// every service; if the table has neither, they make one attempt and have no deadline. Its `[http]` rules (in
    /// TOML, with the feature `toml`) say which requests are safe to retry, its `retryThrottling` is the budget. What
    /// the program sets on the layer overrides each of these: [`idempotency`](Self::idempotency),
    /// [`retry_budget`](Self::retry_budget), [`hedging`](Self::hedging).
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::live::SettingsHandle;
    /// use tonic_gax::{HttpRetryLayer, RetryTable};
    ///
    /// let table = r#"{"methodConfig": [{"name": [{"service": "photos"}], "timeout": "10s", "retryPolicy": {
    ///     "maxAttempts": 3, "initialBackoff": "0.1s", "maxBackoff": "2s", "backoffMultiplier": 2,
    ///     "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
    /// let handle = SettingsHandle::new(RetryTable::parse(table)?);
    /// let layer = HttpRetryLayer::with_handle(&handle, "photos");
    /// # drop(layer);
    /// # Ok::<(), tonic_gax::TableError>(())
    /// ```
    #[cfg(feature = "live")]
    #[must_use]
    pub fn with_handle(handle: &SettingsHandle, service: impl Into<Box<str>>) -> Self {
        let mut layer = Self::of(Basis::Handle(handle.clone(), service.into()));
        layer.observers.follow(handle);
        layer
    }

    fn of(basis: Basis) -> Self {
        Self {
            options: LayerOptions::new(basis),
            jitter: JitterSeeds::default(),
            observers: Observers::default(),
            shared: OnceLock::new(),
        }
    }

    /// Which requests are safe to retry.
    #[must_use]
    pub fn idempotency(mut self, table: IdempotencyTable) -> Self {
        self.options.table = Some(table);
        self.changed()
    }

    /// How far the idempotency table counts.
    #[must_use]
    pub fn strategy(mut self, strategy: IdempotencyStrategy) -> Self {
        self.options.strategy = Some(strategy);
        self.changed()
    }

    /// Retries responses by their status instead of their code.
    #[must_use]
    pub fn retryable_statuses(mut self, statuses: impl Into<StatusSet>) -> Self {
        self.options.statuses = Some(statuses.into());
        self.changed()
    }

    /// Gives every attempt that time, in place of the settings' RPC timeouts; still clamped to what is left
    /// of the operation. The presets' own attempts have none. Zero: no time is left, and nothing is sent.
    #[must_use]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.attempt_timeout = Some(timeout);
        self.changed()
    }

    /// Whether the delay that a response asks for is heeded: by the header `Retry-After`, a number of seconds or a
    /// date, or by a `google.rpc.RetryInfo` in its JSON body. A date counts
    /// from the response's `Date`, or else from this machine's clock. A draw comes on top of it, up to the back-off or half of it.
    #[must_use]
    pub fn server_delays(mut self, heeded: bool) -> Self {
        self.options.server_delays = Some(heeded);
        self.changed()
    }

    /// The budget that the retries of all requests share: see [`RetryBudget`]. Unset: there is no budget. It is
    /// shared by all services that the layer and its clones make, whichever server a request goes to; for a budget
    /// for each server, make a layer for each.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{HttpRetryLayer, RetryBudget, presets};
    ///
    /// let layer = HttpRetryLayer::preset(&presets::storage()).retry_budget(RetryBudget::ratio(0.2));
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn retry_budget(mut self, budget: impl Into<Option<RetryBudget>>) -> Self {
        self.options.budget = budget.into().map_or(Override::Disabled, Override::Set);
        self.changed()
    }

    /// Hedges `GET`, `HEAD` and `OPTIONS` that are safe to retry, by the [table](Self::idempotency) and the
    /// [strategy](Self::strategy), and that can be replayed: see [`Hedging`]. To be safe to repeat after a failure is not to be
    /// safe to run twice at once: other requests are hedged where their rule says so
    /// ([`IdempotencyRule::hedgeable`](crate::IdempotencyRule::hedgeable)) or the hedging does
    /// ([`Hedging::allow_non_idempotent`]), and chunks of an upload's session never. What is hedged is not retried; other requests
    /// are, as they would be without this. An attempt's failure counts as its code: a `503` is `UNAVAILABLE`. A percentile is that
    /// of the requests that match the same rule of the table.
    ///
    /// If a hedge of a request that may change something gets 404, 409 or 412 while an attempt before it is in flight, that one
    /// may have been carried out, and is waited for: see [the guide](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/hedging.md#writes).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{Code, Hedging, HttpRetryLayer, presets};
    ///
    /// let hedging = Hedging::new(2).delay(Duration::from_millis(200)).non_fatal_codes([Code::Unavailable]);
    /// let layer = HttpRetryLayer::preset(&presets::storage()).hedging(hedging);
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn hedging(mut self, hedging: impl Into<Option<Hedging>>) -> Self {
        self.options.hedging = hedging.into().map_or(Override::Disabled, Override::Set);
        self.changed()
    }

    /// The longest body in memory, in bytes, that is buffered so that it can be replayed. A longer one is sent once,
    /// and the report says so. With zero, no request with a body is retried.
    #[must_use]
    pub fn max_replay_bytes(mut self, bytes: usize) -> Self {
        self.options.limits.max_replay_bytes = bytes;
        self.changed()
    }

    /// Buffers bodies of any length for replay, which is the default.
    #[must_use]
    pub fn without_replay_limit(self) -> Self {
        self.max_replay_bytes(usize::MAX)
    }

    /// The most bytes of a success that are buffered until it has ended, so that one that breaks off can
    /// be retried. A longer one is handed to the caller: the operation ends there as a success, its clock stops, and
    /// the report says so. What is still to come is no longer retried, and bounded only by the [idle
    /// timeout](Self::body_idle_timeout).
    #[must_use]
    pub fn max_response_buffer(mut self, bytes: usize) -> Self {
        self.options.limits.max_response_buffer = bytes;
        self.changed()
    }

    /// The longest pause in a response's body while somebody waits for its next bytes. A success that is still
    /// buffered then counts as an attempt that timed out, and is retried by that; a body that has been handed to the
    /// caller ends with an error.
    ///
    /// Use it for large transfers, which may take as long as they need while they make progress: a response that
    /// has been handed to the caller has no other time limit. Time in which the caller does not read doesn't count.
    /// Zero means no time at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{HttpRetryLayer, presets};
    ///
    /// let layer = HttpRetryLayer::preset(&presets::storage()).body_idle_timeout(Duration::from_secs(30));
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn body_idle_timeout(mut self, timeout: Duration) -> Self {
        self.options.limits.body_idle_timeout = Some(timeout);
        self.changed()
    }

    /// Which client's rules turn settings into attempts. Without effect on a preset, which has rules of its own.
    #[must_use]
    pub fn compatibility(mut self, compatibility: Compatibility) -> Self {
        self.options.compatibility = Some(compatibility);
        self.changed()
    }

    /// Draws the random part of the n-th operation's waits from the sequence of this seed plus n, so that a
    /// run can be repeated. Without it every thread has a generator of its own, seeded by the system.
    #[must_use]
    pub fn jitter_seed(mut self, seed: u64) -> Self {
        self.jitter = JitterSeeds::from(seed);
        self.changed()
    }

    /// Installs an observer, which is told about every operation. Several are told in the order of installation.
    /// Default: none, which costs nothing.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn OperationObserver>) -> Self {
        self.observers.push(observer);
        self.changed()
    }

    /// Calls the closure whenever an attempt has failed and another one follows, for a line in the log.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{HttpRetryLayer, presets};
    ///
    /// let layer = HttpRetryLayer::preset(&presets::storage()).on_retry(|retry| eprintln!("{retry}"));
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn on_retry(mut self, log: impl Fn(&Retry<'_>) + Send + Sync + 'static) -> Self {
        self.observers.on_retry(log);
        self.changed()
    }

    /// Whether every response carries an [`OperationReport`](crate::OperationReport). Unless asked, a success carries
    /// one only if there is more to tell than that one attempt was enough; any other response always does.
    #[must_use]
    pub fn reports(mut self, wanted: bool) -> Self {
        self.options.reports = wanted;
        self.changed()
    }

    /// Whether anything is retried. Default: yes. With `false` every operation is one attempt, whatever options a
    /// request has. Timeouts and reports stay, and a request that provably was not sent is still sent again.
    #[must_use]
    pub fn retries_enabled(mut self, enabled: bool) -> Self {
        self.options.retries_enabled = enabled;
        self.changed()
    }

    /// Lets operators bound the layer's operations by environment variables, which override everything else,
    /// including what requests bring along: see [`Environment`]. Default: they are ignored.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.options.environment = environment;
        self.changed()
    }

    /// Whether requests that a server's handler makes are retried if the request that it serves is a retry itself, by
    /// its header `grpc-previous-rpc-attempts`; they are, unless switched off. If off, such a request makes one
    /// attempt, and if another would follow, it ends with
    /// [`StopReason::NestedRetry`](crate::StopReason::NestedRetry). [`DeadlineLayer`](crate::DeadlineLayer) has to be
    /// around the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{HttpRetryLayer, presets};
    ///
    /// let layer = HttpRetryLayer::preset(&presets::storage()).nested_retries(false);
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn nested_retries(mut self, allowed: bool) -> Self {
        self.options.nested_retries = allowed;
        self.changed()
    }

    /// The client with the layer around it. All clients that one layer makes share its state.
    #[must_use]
    pub fn layer<S: CloneService>(&self, client: S) -> HttpRetryService<S> {
        HttpRetryService::new(client, Arc::clone(self.shared.get_or_init(|| self.shared())))
    }

    /// Turns jitter off, whatever the settings say: every wait is the whole delay. For tests with exact times.
    #[must_use]
    pub fn without_jitter(mut self) -> Self {
        self.jitter = JitterSeeds::Off;
        self.changed()
    }

    fn changed(mut self) -> Self {
        self.shared = OnceLock::new();
        self
    }

    fn shared(&self) -> Arc<SharedState> {
        Arc::new(SharedState {
            plan: self.options.plans(),
            retries_enabled: self.options.retries_enabled,
            environment: self.options.environment,
            jitter: self.jitter.clone(),
            observers: self.observers.registering_none().shared(),
            connections: Connections::default(),
        })
    }
}

impl<S: CloneService> Layer<S> for HttpRetryLayer {
    type Service = HttpRetryService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Self::layer(self, inner)
    }
}
