//! The layer that a tonic client runs over.

use crate::google::GoogleHeaders;
use crate::grpc::methods::LiveTable;
use crate::grpc::methods::unknown::{known_methods, unknown_names};
use crate::grpc::methods::{DescriptorError, MethodOptions, Methods, descriptors};
use crate::grpc::service::RetryService;
use gax_driver::__house::Replaceable;
use gax_driver::live::SettingsHandle;
use gax_driver::live::UnknownMethodsError;
use gax_driver::{OperationOptions, RetryBudgets};
use gax_retry::{Hedging, RetryBudget};
use gax_table::{Finding, RetryTable};
use gax_wire::CloneService;
use std::fmt;
use std::sync::OnceLock;
use tower_layer::Layer;

/// Retries the calls of any tonic client, with the settings that a retry table has for each method.
///
/// Calls of methods that the table doesn't have pass through unchanged, unless their
/// [`CallOptions`](crate::CallOptions) have settings. The layer makes a [`RetryService`] of a channel, so that a struct
/// which stores a client has a field of the type `NotesClient<RetryService<Channel>>`.
///
/// # What is retried
///
/// A call whose request is one message is retried until its response is complete or, if the RPC returns a stream, until the
/// first message has arrived. A stream of requests is sent once, under the settings' total timeout.
///
/// tonic's client does not say which RPCs return streams; [descriptors](Self::with_descriptors) do. Without them, a request
/// is sent again only if it is exactly one message that is complete when the layer is called. Anything else is treated as a
/// stream of requests. (A stream of requests of one message that is complete immediately can't be distinguished from a
/// unary call.) A response is buffered until its first message is complete. If its trailers follow immediately, they
/// decide; otherwise the response is handed to the caller.
///
/// # Interceptors
///
/// An interceptor *inside* the layer (between it and the channel) runs once per attempt, so that it can add a
/// current token to each; an interceptor *outside* (between the client and the layer) runs once per operation.
///
/// From the second attempt on, an interceptor inside finds the [`StartedAttempt`](crate::StartedAttempt) with the attempt's
/// number in the request's extensions. The first attempt has none, because it would cost every call an allocation.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`max_replay_bytes`](Self::max_replay_bytes) | 4 MiB + 64 KiB |
/// | [`replay_streams`](Self::replay_streams) | true with [`Compatibility::Grpc`](crate::Compatibility::Grpc), else false |
/// | [`max_total_replay_bytes`](Self::max_total_replay_bytes) | 16 MiB |
/// | [`max_response_buffer`](Self::max_response_buffer) | 4 MiB + 64 KiB |
/// | [`server_timeouts_are_ours`](Self::server_timeouts_are_ours) | true |
/// | [`hedging`](Self::hedging) | as the table's entries say |
/// | [`previous_attempts_header`](Self::previous_attempts_header) | true, but not with [`Compatibility::GaxJava`](crate::Compatibility::GaxJava) |
/// | [`options`](Self::options) | see [`OperationOptions`] |
///
/// # Examples
///
/// ```no_run
/// use tonic_gax::{RetryLayer, RetryTable};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let table = RetryTable::from_path("proto/cloudasset_grpc_service_config.json")?;
/// let channel = tonic::transport::Endpoint::from_static("http://[::1]:50051").connect().await?;
/// let channel = RetryLayer::new(table).layer(channel);
/// // let client = SomeTonicClient::new(channel);
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct RetryLayer {
    table: RetryTable,
    options: MethodOptions,
    /// The budget of the table.
    table_budget: Option<RetryBudget>,
    live: Option<LiveTable>,
    /// Made when the layer is first used, shared by all services it makes.
    methods: OnceLock<Replaceable<Methods>>,
}

impl RetryLayer {
    /// A layer for the methods of a table.
    pub fn new(table: RetryTable) -> Self {
        let table_budget = table.throttling().map(|throttling| throttling.budget());
        Self { table, table_budget, options: MethodOptions::default(), live: None, methods: OnceLock::new() }
    }

    /// A layer that follows a handle: each call uses the table that the handle has when the call begins.
    /// [`SettingsHandle`] has an example.
    ///
    /// Settings that the program makes on the layer override the table, so a budget overrides `retryThrottling`. If
    /// [unknown methods are denied](Self::deny_unknown_methods), a table that has some is refused.
    pub fn with_handle(handle: &SettingsHandle) -> Self {
        let mut layer = Self { live: Some(LiveTable::new(handle)), ..Self::new(handle.table()) };
        layer.options.operation.observers.follow(handle);
        layer
    }

    /// Takes from compiled descriptors which methods are unary and which are streams, and which are idempotent (an
    /// encoded `FileDescriptorSet`, as tonic-build and protoc write it).
    ///
    /// For what the layer does without them, see [What is retried](Self#what-is-retried).
    ///
    /// # Errors
    ///
    /// The bytes are not a `FileDescriptorSet`, or `google.api.routing` or, in a service with a `google.api.default_host`,
    /// `google.api.http` of a method can't be used: its path template does not parse, or names a field that is not there.
    pub fn with_descriptors(mut self, encoded: &[u8]) -> Result<Self, DescriptorError> {
        self.options.described.extend(descriptors::descriptions(encoded)?);
        if let Some(live) = &mut self.live {
            live.know(&self.options.described);
        }
        Ok(self.changed())
    }

    /// Sends the headers that Google's servers expect with every attempt: what requests are routed by, and the version of the
    /// API, as far as [descriptors](Self::with_descriptors) have Google's annotations, and the headers that the options ask for.
    /// By default, no such header is sent. Generated clients always send them.
    ///
    /// A method that the table doesn't name is then also an operation, with one attempt and no limits, so that its requests
    /// get their headers. The routing header can't be derived from a request that tonic has compressed, so don't compress
    /// requests.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::google::GoogleHeaders;
    /// use tonic_gax::{RetryLayer, RetryTable};
    ///
    /// # fn example(table: RetryTable, descriptors: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    /// let headers = GoogleHeaders::new().quota_project("billed-project")?;
    /// let layer = RetryLayer::new(table).with_descriptors(descriptors)?.google_headers(headers);
    /// # drop(layer);
    /// # Ok(())
    /// # }
    /// ```
    pub fn google_headers(mut self, headers: GoogleHeaders) -> Self {
        self.options.google = Some(headers);
        self.changed()
    }

    /// The services and methods that the table names and the descriptors don't have, each with its place in the table
    /// and, if one is close, a suggestion: typos, as a rule. Without descriptors there are none.
    #[must_use]
    pub fn unknown_methods(&self) -> Vec<Finding> {
        unknown_names(&self.table, &self.options.described)
    }

    /// Makes [`unknown_methods`](Self::unknown_methods) an error, if there are any. Call it after
    /// [`with_descriptors`](Self::with_descriptors): only descriptors that were given before are checked. A layer that
    /// follows a handle rejects each later replacement with unknown methods, even if the layer is no longer in use.
    ///
    /// # Errors
    ///
    /// The table names a service or a method that the descriptors don't have.
    pub fn deny_unknown_methods(mut self, deny: bool) -> Result<Self, UnknownMethodsError> {
        if let Some(live) = &mut self.live {
            live.deny_unknown_methods(deny, &self.options.described);
            self.table = live.handle.table();
        }
        if deny {
            known_methods(&self.table, &self.options.described)?;
        }
        Ok(self.changed())
    }

    /// Sets options over the ones that were set before: whose rules turn settings into attempts, the retry budget, observers, reports,
    /// jitter and more. Calls of methods that the table does not know still pass through untouched.
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.operation.set(options);
        self.changed()
    }

    /// The longest request, in bytes, that is buffered so that it can be replayed. A longer one is sent once, and the
    /// report has a note. With zero, no request is retried.
    ///
    /// For a [stream of requests that is replayed](Self::replay_streams) it is the most that is buffered of it. Once
    /// more has been sent, the call is committed to the attempt that has sent it: it continues, without retries, and
    /// the report has the note [`STREAM_TOO_LARGE_TO_REPLAY`](crate::note::STREAM_TOO_LARGE_TO_REPLAY).
    pub fn max_replay_bytes(mut self, bytes: usize) -> Self {
        self.options.limits.max_replay_bytes = bytes;
        self.changed()
    }

    /// Buffers requests of any length for replay.
    pub fn without_replay_limit(self) -> Self {
        self.max_replay_bytes(usize::MAX)
    }

    /// Whether streams of requests, of client-streaming and bidirectional RPCs, are buffered as they are sent, so that
    /// another attempt can be sent the same messages and then the rest (gRFC A6). Default: yes with
    /// [`Compatibility::Grpc`](crate::Compatibility::Grpc), otherwise no, because the messages may not be safe to repeat. A call that is not
    /// buffered makes one attempt.
    ///
    /// The buffer holds references to the encoded messages, up to [`max_replay_bytes`](Self::max_replay_bytes) a call
    /// and [`max_total_replay_bytes`](Self::max_total_replay_bytes) for all calls; a short frame counts for 32 bytes.
    /// A call that passes either limit is committed: it continues without retries, and never waits. The buffer is
    /// released when the call is committed, by a limit or by its response, and when it ends.
    ///
    /// If the response is a stream as well, its headers commit the call, because either side may then wait for the
    /// other. A single response commits the call with its headers by [`Compatibility::Grpc`](crate::Compatibility::Grpc), and otherwise when its
    /// trailers have arrived without an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{RetryLayer, RetryTable};
    ///
    /// let table = RetryTable::parse(r#"{"methodConfig": []}"#)?;
    /// // Messages that are safe to send twice, of a megabyte a call at most.
    /// let layer = RetryLayer::new(table).replay_streams(true).max_replay_bytes(1024 * 1024);
    /// # drop(layer);
    /// # Ok::<(), tonic_gax::TableError>(())
    /// ```
    pub fn replay_streams(mut self, replayed: bool) -> Self {
        self.options.limits.replays_streams = Some(replayed);
        self.changed()
    }

    /// The most bytes that the streams of requests of all calls together have buffered at a time, so that they can be
    /// replayed: gRFC A6's buffer of a channel. A call that would need more is committed to the attempt that it has,
    /// without waiting, and its report has the note [`REPLAY_MEMORY_USED_UP`](crate::note::REPLAY_MEMORY_USED_UP). With
    /// zero, no stream is replayed once any of it was sent.
    ///
    /// It is shared by all services that the layer and its clones make. Unary requests don't count.
    pub fn max_total_replay_bytes(mut self, bytes: usize) -> Self {
        self.options.limits.max_total_replay_bytes = bytes;
        self.changed()
    }

    /// The most bytes of a response that are buffered until its status is known. A longer response is handed to the
    /// caller and isn't retried if it fails later; the report has a note.
    pub fn max_response_buffer(mut self, bytes: usize) -> Self {
        self.options.limits.max_response_buffer = bytes;
        self.changed()
    }

    /// Whether a response `CANCELLED` "Timeout expired", which a tonic server gives when the `grpc-timeout` that
    /// it was sent has passed, is treated as `DEADLINE_EXCEEDED` once the attempt's time is up.
    pub fn server_timeouts_are_ours(mut self, ours: bool) -> Self {
        self.options.limits.server_timeouts_are_ours = ours;
        self.changed()
    }

    /// Hedges the methods that are known to be idempotent, instead of retrying them: see [`Hedging`]. A method is known to
    /// be idempotent by [the table's word](RetryTable::idempotent) or, if that has none, by what
    /// [descriptors](Self::with_descriptors) say: its `idempotency_level`, or a `GET`, `PUT` or `DELETE` in
    /// `google.api.http`. [`allow_non_idempotent`](Hedging::allow_non_idempotent) hedges the others too.
    ///
    /// A method whose entry has its own hedging policy keeps it. A method without an entry still passes through unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{Code, Hedging, RetryLayer, RetrySettings, RetryTable};
    ///
    /// let settings = RetrySettings::logical_timeout(Duration::from_secs(5));
    /// let table = RetryTable::builder()
    ///     .service("example.v1.Library", settings.clone(), [Code::Unavailable])
    ///     .method("/example.v1.Library/GetBook", settings, [Code::Unavailable])
    ///     .idempotent(true)
    ///     .build()?;
    /// let hedging = Hedging::new(2).delay(Duration::from_millis(200)).non_fatal_codes([Code::Unavailable]);
    /// let layer = RetryLayer::new(table).hedging(hedging);
    /// # drop(layer);
    /// # Ok::<(), tonic_gax::TableError>(())
    /// ```
    pub fn hedging(mut self, hedging: impl Into<Option<Hedging>>) -> Self {
        self.options.hedging = hedging.into();
        self.changed()
    }

    /// Shares one budget with everything that calls this server, through `budgets`. The first layer or client
    /// provides the server's budget, usually its table's `retryThrottling`. All others use that one instead of their
    /// own. This follows gRFC A6: one bucket for each server, whatever client, method or layer a call comes from. Set
    /// [options](Self::options) with a budget of the layer's own before this.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::{RetryLayer, RetryTable};
    /// use tonic_gax::settings::RetryBudgets;
    ///
    /// let budgets = RetryBudgets::new();
    /// let throttled = |table: &str| RetryTable::parse(table).map(RetryLayer::new);
    /// let table = r#"{"methodConfig": [], "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#;
    /// let books = throttled(table)?.server_retry_budget(&budgets, "library.example.com");
    /// let loans = throttled(table)?.server_retry_budget(&budgets, "library.example.com");
    /// # drop((books, loans));
    /// # Ok::<(), tonic_gax::TableError>(())
    /// ```
    pub fn server_retry_budget(self, budgets: &RetryBudgets, server: &str) -> Self {
        let own = self.options.operation.budget_over(self.table_budget.clone());
        self.options(OperationOptions::new().retry_budget(budgets.share(server, own)))
    }

    /// Whether attempts after the first have the header `grpc-previous-rpc-attempts`, as in gRFC A6: the number of
    /// earlier attempts, "1", "2" and so on, including hedges and without transparent retries. A value that the
    /// caller sets is removed. Default: yes, except with [`Compatibility::GaxJava`](crate::Compatibility::GaxJava), because gax-java doesn't send
    /// it.
    pub fn previous_attempts_header(mut self, is_sent: bool) -> Self {
        self.options.limits.previous_attempts_header = Some(is_sent);
        self.changed()
    }

    fn changed(mut self) -> Self {
        self.methods = OnceLock::new();
        self
    }

    fn methods(&self) -> Replaceable<Methods> {
        if let Some(live) = &self.live {
            return live.methods(self.options.clone());
        }
        let Self { table, options, table_budget, .. } = self;
        Replaceable::fixed(Methods::new(table.clone(), None, table_budget.as_ref(), options))
    }

    /// Puts retries around a service, such as a channel. [`Layer::layer`] does the same, for stacks of layers.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # let _context = runtime.enter();
    /// # let channel = tonic::transport::Endpoint::from_static("http://[::1]:50051").connect_lazy();
    /// # let table = tonic_gax::RetryTable::builder().build()?;
    /// let channel = tonic_gax::RetryLayer::new(table).layer(channel);
    /// // LibraryServiceClient::new(channel)
    /// # drop(channel);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn layer<S: CloneService>(&self, inner: S) -> RetryService<S> {
        RetryService::new(inner, self.methods.get_or_init(|| self.methods()).clone())
    }
}

/// Short: its table alone may have hundreds of entries.
impl fmt::Debug for RetryLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryLayer")
            .field("table", &self.table)
            .field("descriptors", &self.options.described.len())
            .field("options", &self.options.operation)
            .field("limits", &self.options.limits)
            .finish_non_exhaustive()
    }
}

impl<S: CloneService> Layer<S> for RetryLayer {
    type Service = RetryService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Self::layer(self, inner)
    }
}
