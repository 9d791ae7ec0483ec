//! The layer around an HTTP client.

use crate::config::{ConfigSource, LayerOptions};
use crate::failure::Connections;
use crate::service::HttpRetryService;
use crate::shared_state::SharedState;
use gax_driver::{LivePolicies, OperationOptions};
use gax_retry::http::{IdempotencyStrategy, IdempotencyTable, Preset, StatusSet};
use gax_retry::settings::Override;
use gax_retry::{Hedging, IntoCodes, MethodPolicies, RetrySettings};
use gax_wire::CloneService;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tower_layer::Layer;

/// Retries the requests of an HTTP client, with the same settings, attempts and reports as gRPC calls.
///
/// The client is any tower service of [`http::Request`]s, such as hyper-util's, or, with the feature
/// `reqwest`, a `ReqwestService`. The layer decides in this order:
///
/// * A 2xx response with a complete body is a success. Any other status is treated as a code, by
///   [`Code::from_http_status`](gax_retry::Code::from_http_status). A broken connection or body is treated as
///   `UNAVAILABLE` ([`Compatibility::GaxJava`](crate::Compatibility::GaxJava): `UNKNOWN`, and final), an attempt that timed out as
///   `DEADLINE_EXCEEDED`, and a response that can't be read as `INTERNAL`, and final.
/// * The request is retried if this code is retryable, or, with [`retryable_statuses`](Self::retryable_statuses) or a preset, if
///   its status is.
/// * It is retried only if it is safe to retry, by the [table](Self::idempotency) and the
///   [strategy](Self::strategy), or if no server can have carried it out.
/// * The delay of a `Retry-After` is applied, with a random part added. If it doesn't fit into the total timeout, the operation ends.
///
/// The response carries an [`OperationReport`](crate::OperationReport) in its extensions
/// ([`of`](crate::OperationReport::of)), unless the first attempt succeeded and [`reports`](OperationOptions::reports) is off;
/// its [`HttpReport`](crate::HttpReport) has the reason why the request was retried or not. The call returns the last
/// response, regardless of its status. It ends with an [`HttpError`](crate::HttpError) only if there was no response.
///
/// A single request carries [`CallOptions`](crate::CallOptions), [`HttpCallOptions`](crate::HttpCallOptions), an
/// [`IdempotencyStrategy`] or a [`Preset`] in its extensions. Services inside the layer find the
/// [`StartedAttempt`](crate::StartedAttempt) there, from the second attempt on; the first attempt has none, to avoid
/// the cost.
///
/// # Defaults
///
/// | setting | with [`new`](Self::new) | with [`preset`](Self::preset) |
/// | --- | --- | --- |
/// | [`idempotency`](Self::idempotency) | [`IdempotencyTable::http_methods`] | the preset's |
/// | [`strategy`](Self::strategy) | conditional; always with [`Compatibility::GaxJava`](crate::Compatibility::GaxJava) | the preset's |
/// | [`retryable_statuses`](Self::retryable_statuses) | by code | the preset's |
/// | [`attempt_timeout`](Self::attempt_timeout) | by the settings | none |
/// | [`max_replay_bytes`](Self::max_replay_bytes) | no limit | no limit |
/// | [`max_response_buffer`](Self::max_response_buffer) | 4 MiB | 4 MiB |
/// | [`body_idle_timeout`](Self::body_idle_timeout) | none | none |
/// | [`options`](Self::options) | see [`OperationOptions`] | |
///
/// # Examples
///
/// ```
/// use hyper_util::client::legacy::Client;
/// use hyper_util::client::legacy::connect::HttpConnector;
/// use hyper_util::rt::TokioExecutor;
/// use gax_http::presets;
/// use gax_http::{HttpRetryLayer, OperationOptions, OperationReport};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let mut connector = HttpConnector::new();
/// connector.set_nodelay(true); // uploads over HTTP/2 wait for delayed acknowledgements without it
/// let client = Client::builder(TokioExecutor::new()).build(connector);
/// let client = HttpRetryLayer::preset(&presets::storage()).options(OperationOptions::new().reports(true)).layer(client);
/// let response = client.send(http::Request::get("http://localhost:9000/storage/v1/b/photos").body(())?).await?;
/// if let Some(report) = OperationReport::of(response.extensions()) {
///     println!("{} attempts, {:?}", report.attempt_count(), report.stop_reason());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpRetryLayer {
    options: LayerOptions,
    /// Made when the layer is first used, shared by all services it makes.
    shared: OnceLock<Arc<SharedState>>,
}

// Short: what it is set to, and nothing that is made of that.
gax_text::short_debug! { self: HttpRetryLayer { options: self.options } }

impl HttpRetryLayer {
    /// A layer that retries these codes with these settings.
    ///
    /// With a number that isn't a code, every request ends with an error
    /// ([`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions)), and nothing is sent.
    pub fn new<K>(settings: &RetrySettings, codes: impl IntoCodes<K>) -> Self {
        Self::of(ConfigSource::Settings(settings.clone(), codes.into_codes()))
    }

    /// A layer that retries as a document, tool or library does.
    pub fn preset(preset: &Preset) -> Self {
        Self::of(ConfigSource::Preset(Box::new(preset.clone())))
    }

    fn of(source: ConfigSource) -> Self {
        Self { options: LayerOptions::new(source), shared: OnceLock::new() }
    }

    gax_text::setters! { self.changed():
        /// Sets options over the ones that were set before: whose rules turn settings into attempts, the retry budget, observers, reports,
        /// jitter and more. Any response that is no success has a report.
        pub options(options: OperationOptions) => self.options.operation.set(options);

        /// Sets the table that decides which requests are safe to retry.
        pub idempotency(table: IdempotencyTable) => self.options.table = Some(table);

        /// Sets whether the idempotency table decides which requests are safe to retry; see [`IdempotencyStrategy`].
        pub strategy(strategy: IdempotencyStrategy) => self.options.strategy = Some(strategy);

        /// Retries responses by their status instead of their code.
        pub retryable_statuses(statuses: impl Into<StatusSet>) =>
            self.options.statuses = Some(statuses.into());

        /// Gives every attempt that time, instead of the settings' RPC timeouts; still clamped to what is left of the
        /// operation. The presets' own attempts have none. Zero: no time is left, and nothing is sent.
        pub attempt_timeout(timeout: Duration) => self.options.attempt_timeout = Some(timeout);

        /// Hedges `GET`, `HEAD` and `OPTIONS` that are safe to retry, by the [table](Self::idempotency) and the
        /// [strategy](Self::strategy), and that can be replayed: see [`Hedging`]. A request that is safe to repeat after a failure isn't
        /// necessarily safe to run twice at the same time: other requests are hedged only if their rule
        /// ([`IdempotencyRule::hedgeable`](crate::IdempotencyRule::hedgeable)) or the hedging ([`Hedging::allow_non_idempotent`]) allows
        /// it, and chunks of an upload's session never are. Hedged requests are not retried; others are retried as before. An attempt's
        /// failure is treated as its code: a `503` is `UNAVAILABLE`. A percentile is that of the requests that match the same rule of the
        /// table.
        ///
        /// If a hedge of a request that may change something gets 404, 409 or 412 while an earlier attempt is in flight, the earlier one may
        /// have been carried out, so the operation waits for it: see [the
        /// guide](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/hedging.md#writes).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::time::Duration;
        /// use gax_http::HttpRetryLayer;
        /// use gax_http::{Code, Hedging};
        /// use gax_http::presets;
        ///
        /// let hedging = Hedging::new(2).delay(Duration::from_millis(200)).non_fatal_codes([Code::Unavailable]);
        /// let layer = HttpRetryLayer::preset(&presets::storage()).hedging(hedging);
        /// # drop(layer);
        /// ```
        pub hedging(hedging: impl Into<Option<Hedging>>) =>
            self.options.hedging = hedging.into().map_or(Override::Disabled, Override::Set);

        /// The longest body in memory, in bytes, that is buffered so that it can be replayed. A longer one is sent once,
        /// and the report has a note. With zero, no request with a body is retried.
        pub max_replay_bytes(bytes: usize) => self.options.limits.max_replay_bytes = bytes;
    }

    /// Buffers bodies of any length for replay, which is the default.
    pub fn without_replay_limit(self) -> Self {
        self.max_replay_bytes(usize::MAX)
    }

    gax_text::setters! { self.changed():
        /// The most bytes of a success that are buffered until it has ended, so that one that breaks off can be retried.
        /// A longer one is handed to the caller: the operation ends as a success, and the report has a note. The rest of
        /// the body is not retried, and only the [idle timeout](Self::body_idle_timeout) limits it.
        pub max_response_buffer(bytes: usize) => self.options.limits.max_response_buffer = bytes;

        /// The longest pause in a response's body while a reader waits for its next bytes. If the body of a success is still
        /// being buffered, the attempt is treated as timed out, and is retried. A body that was handed to the caller ends
        /// with an error.
        ///
        /// Use it for large transfers, which may take any time while they make progress: a response that was handed to
        /// the caller has no other time limit. Time in which the caller doesn't read doesn't count. Zero means no time at
        /// all.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::time::Duration;
        /// use gax_http::HttpRetryLayer;
        /// use gax_http::presets;
        ///
        /// let layer = HttpRetryLayer::preset(&presets::storage()).body_idle_timeout(Duration::from_secs(30));
        /// # drop(layer);
        /// ```
        pub body_idle_timeout(timeout: Duration) => self.options.limits.body_idle_timeout = Some(timeout);
    }

    /// The client with the layer around it. All clients that one layer makes share its state.
    #[must_use]
    pub fn layer<S: CloneService>(&self, client: S) -> HttpRetryService<S> {
        HttpRetryService::new(client, Arc::clone(self.shared.get_or_init(|| self.shared())))
    }

    fn changed(mut self) -> Self {
        self.shared = OnceLock::new();
        self
    }

    fn shared(&self) -> Arc<SharedState> {
        Arc::new(SharedState {
            config: self.options.config(),
            options: self.options.operation.clone(),
            observers: self.options.operation.observers.registering_none().shared(),
            connections: Connections::default(),
        })
    }
}

/// By policies, such as those of retry tables.
impl HttpRetryLayer {
    /// A layer that retries as policies say, such as those of a retry table: each request by the [settings](gax_retry::HttpPolicies)
    /// of the rule that it matches, or else by those of all HTTP requests (`[http]` of a table in TOML, with the features `http` and
    /// `toml` of `gax-table`). The first rule that a request matches decides, also whether it is safe to retry.
    ///
    /// Where the policies say nothing of HTTP requests, their settings for all methods count (`for = ["*"]`, or `{}` in a service
    /// config); if they have none either, requests make one attempt and have no deadline. Their throttling is the budget. What
    /// the program sets on the layer overrides them: [`retryable_statuses`](Self::retryable_statuses),
    /// [`idempotency`](Self::idempotency), [`retry_budget`](OperationOptions::retry_budget), [`hedging`](Self::hedging).
    ///
    /// With [`live`](Self::live) they can be replaced while the program runs.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_http::HttpRetryLayer;
    /// use gax_table::RetryTable;
    ///
    /// let table = RetryTable::parse(
    ///     r#"
    ///     [http]
    ///     total_timeout = "20s"
    ///     max_attempts = 4
    ///
    ///     [[http.rule]]
    ///     name = "payments.create"
    ///     method = "POST"
    ///     path = "/v1/payments"
    ///     if_any = [{ header = "Idempotency-Key" }]
    ///     statuses = [503]
    ///     "#,
    /// )?;
    /// let layer = HttpRetryLayer::from_policies(table);
    /// # drop(layer);
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn from_policies(policies: impl Into<MethodPolicies>) -> Self {
        Self::of(ConfigSource::Policies(policies.into()))
    }

    /// A layer that retries as live policies say, by those that count when a request begins.
    ///
    /// Requests run by the settings for HTTP requests, as with [`from_policies`](Self::from_policies). Where there are none
    /// they run by those for all methods of that service, or else by those for
    /// everything; if there are none either, they make one attempt and have no deadline. What
    /// the program sets on the layer overrides each of these: [`idempotency`](Self::idempotency),
    /// [`retry_budget`](OperationOptions::retry_budget), [`hedging`](Self::hedging).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_driver::{Code, LivePolicies, MethodPolicies, MethodSettings, RetrySettings};
    /// use gax_http::HttpRetryLayer;
    ///
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// let policies = MethodPolicies::new().service("photos", MethodSettings::new(settings, [Code::Unavailable]));
    /// let layer = HttpRetryLayer::live(LivePolicies::new(policies), "photos");
    /// # drop(layer);
    /// # Ok::<(), gax_driver::SettingsError>(())
    /// ```
    pub fn live(live: impl AsRef<LivePolicies>, service: impl Into<Box<str>>) -> Self {
        let live = live.as_ref();
        let mut layer = Self::of(ConfigSource::Live(live.clone(), service.into()));
        layer.options.operation.observers.follow(live);
        layer
    }
}

impl<S: CloneService> Layer<S> for HttpRetryLayer {
    type Service = HttpRetryService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Self::layer(self, inner)
    }
}
