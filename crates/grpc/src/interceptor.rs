//! The interceptor that a channel's calls go through.

use crate::call::RetriedCall;
use crate::limits::{Limits, ReplayMemory};
use crate::metadata;
use crate::operation::{Begin, Operation};
use crate::protocol::Call;
use crate::request::Request;
use crate::streams::{Receiver, RetryRecvStream, RetrySendStream, Sender, halves};
use gax_driver::live::SettingsHandle;
use gax_driver::observe::OperationObserver;
use gax_driver::protocol::{Driver, TableConfigs};
use gax_driver::{CallOptions, OperationOptions};
use gax_retry::{Compatibility, Hedging, MethodKind, RetryBudget};
use gax_table::RetryTable;
use grpc::client::interceptor::Intercept;
use grpc::client::{CallOptions as GrpcOptions, Invoke};
use grpc::core::RequestHeaders;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Retries the calls of a client over the `grpc` crate, with the settings that a retry table has for each method: what
/// tonic-gax's `RetryLayer` is for tonic, by the same names.
///
/// It stands in an `Intercepted` channel, around any `Invoke` that can be cloned. Calls of methods that the table doesn't have
/// pass through unchanged, unless their [options](RetriedCall) have settings.
///
/// # What is retried
///
/// A call whose first message is sent as the last one (`SendOptions::final_msg`), as generated clients do for unary and
/// server-streaming RPCs, until its response is complete or has brought its first message. Any other call is a stream of
/// requests: it is sent once, unless streams are [replayed](Self::replay_streams).
///
/// A response is held until its first message has come. If its trailers follow at once, it is classified by them; if they
/// don't, it is handed to the caller. By gRPC's own rules ([`Compatibility::Grpc`]) its headers commit.
///
/// # Deadlines
///
/// The deadline of the `grpc` crate's `CallOptions`, a `grpc-timeout` in the request's metadata, the table's total timeout
/// and the deadline of the request that is being served bound the operation: the shortest counts. Each attempt carries the time that it
/// has in `grpc-timeout`, and is dropped when that has passed.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`max_replay_bytes`](Self::max_replay_bytes) | 4 MiB + 64 KiB |
/// | [`replay_streams`](Self::replay_streams) | true with [`Compatibility::Grpc`], else false |
/// | [`max_total_replay_bytes`](Self::max_total_replay_bytes) | 16 MiB |
/// | [`max_response_buffer`](Self::max_response_buffer) | 4 MiB + 64 KiB |
/// | [`server_timeouts_are_ours`](Self::server_timeouts_are_ours) | true |
/// | [`hedging`](Self::hedging) | as the table's entries say |
/// | [`previous_attempts_header`](Self::previous_attempts_header) | true, but not with [`Compatibility::GaxJava`] |
/// | [`options`](Self::options) | see [`OperationOptions`] |
///
/// # Examples
///
/// ```no_run
/// use gax_grpc::RetryInterceptor;
/// use grpc::client::interceptor::Intercepted;
/// use grpc::client::{Channel, ChannelOptions};
/// use grpc::credentials::LocalChannelCredentials;
/// use std::sync::Arc;
/// use gax_table::RetryTable;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = RetryTable::from_path("proto/cloudasset_grpc_service_config.json")?;
/// let channel = Channel::new("dns:///localhost:50051", Arc::new(LocalChannelCredentials::new()), ChannelOptions::default());
/// let channel = Intercepted::new(channel, RetryInterceptor::new(table));
/// // AssetServiceClient::new(channel): the client that protoc-gen-rust-grpc generates, with retries
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RetryInterceptor {
    source: Source,
    options: OperationOptions,
    hedging: Option<Hedging>,
    limits: Limits,
    memory: ReplayMemory,
    /// Made at the first call, and shared by clones.
    configs: Arc<OnceLock<TableConfigs>>,
}

#[derive(Clone)]
enum Source {
    Table(Box<RetryTable>),
    Handle(SettingsHandle),
}

impl RetryInterceptor {
    /// An interceptor for the methods of a table.
    #[must_use]
    pub fn new(table: RetryTable) -> Self {
        Self::of(Source::Table(Box::new(table)))
    }

    /// An interceptor that follows a handle: each call uses the table that the handle has when the call begins.
    #[must_use]
    pub fn with_handle(handle: &SettingsHandle) -> Self {
        Self::of(Source::Handle(handle.clone()))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            options: OperationOptions::default(),
            hedging: None,
            limits: Limits::default(),
            memory: ReplayMemory::default(),
            configs: Arc::default(),
        }
    }

    /// Sets options over the ones that were set before.
    #[must_use]
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.set(options);
        self.changed()
    }

    /// See [`OperationOptions::compatibility`].
    #[must_use]
    pub fn compatibility(self, compatibility: Compatibility) -> Self {
        self.options(OperationOptions::new().compatibility(compatibility))
    }

    /// See [`OperationOptions::retry_budget`]. A budget that everything shares which calls a server comes from tonic-gax's
    /// `RetryBudgets`.
    #[must_use]
    pub fn retry_budget(self, budget: impl Into<Option<RetryBudget>>) -> Self {
        self.options(OperationOptions::new().retry_budget(budget))
    }

    /// See [`OperationOptions::retries_enabled`].
    #[must_use]
    pub fn retries_enabled(self, enabled: bool) -> Self {
        self.options(OperationOptions::new().retries_enabled(enabled))
    }

    /// See [`OperationOptions::reports`]. A call's report is found by its [`RetriedCall`].
    #[must_use]
    pub fn reports(self, reports: bool) -> Self {
        self.options(OperationOptions::new().reports(reports))
    }

    /// See [`OperationOptions::observer`].
    #[must_use]
    pub fn observer(self, observer: Arc<dyn OperationObserver>) -> Self {
        self.options(OperationOptions::new().observer(observer))
    }

    /// Hedges the methods that the table calls [idempotent](RetryTable::idempotent), in place of retrying them, or all if the
    /// hedging [allows it](Hedging::allow_non_idempotent). A method whose entry has a hedging policy of its own keeps that.
    #[must_use]
    pub fn hedging(mut self, hedging: impl Into<Option<Hedging>>) -> Self {
        self.hedging = hedging.into();
        self.changed()
    }

    /// The longest message, in bytes, that is buffered so that it can be replayed. A longer one is sent once, and the report
    /// says so. With zero, no request is retried. For a [stream of requests that is replayed](Self::replay_streams) it is the
    /// most that is buffered of it: once more has been sent, the call is committed to the attempt that has sent it.
    #[must_use]
    pub fn max_replay_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_replay_bytes = bytes;
        self
    }

    /// Buffers requests of any length for replay.
    #[must_use]
    pub fn without_replay_limit(self) -> Self {
        self.max_replay_bytes(usize::MAX)
    }

    /// Whether streams of requests are buffered as they are sent, so that another attempt can be sent the same messages and
    /// then the rest (gRFC A6). Unless this says otherwise, they are with [`Compatibility::Grpc`]. Their responses commit by
    /// their headers.
    #[must_use]
    pub fn replay_streams(mut self, replayed: bool) -> Self {
        self.limits.replays_streams = Some(replayed);
        self
    }

    /// The most bytes that the streams of requests of all calls together have buffered at a time, so that they can be
    /// replayed: gRFC A6's buffer of a channel. A call that would need more is committed to the attempt that it has. Clones share it.
    #[must_use]
    pub fn max_total_replay_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_total_replay_bytes = bytes;
        self
    }

    /// The longest first message of a response, in bytes, that is held until it is known whether the response ends with it. A
    /// longer one is handed to the caller at once, without a retry should the response fail later.
    #[must_use]
    pub fn max_response_buffer(mut self, bytes: usize) -> Self {
        self.limits.max_response_buffer = bytes;
        self
    }

    /// Whether a response `CANCELLED` "Timeout expired", which a tonic server gives when the `grpc-timeout` that it was sent
    /// has passed, counts as `DEADLINE_EXCEEDED` once the attempt's time is up.
    #[must_use]
    pub fn server_timeouts_are_ours(mut self, ours: bool) -> Self {
        self.limits.server_timeouts_are_ours = ours;
        self
    }

    /// Whether attempts after the first carry `grpc-previous-rpc-attempts`, as gRFC A6 has it. What a caller sets under that name
    /// is removed.
    #[must_use]
    pub fn previous_attempts_header(mut self, is_sent: bool) -> Self {
        self.limits.previous_attempts_header = Some(is_sent);
        self
    }

    fn changed(mut self) -> Self {
        self.configs = Arc::default();
        self
    }

    fn configs(&self) -> &TableConfigs {
        self.configs.get_or_init(|| match &self.source {
            Source::Table(table) => TableConfigs::new((**table).clone(), self.options.clone(), self.hedging),
            Source::Handle(handle) => TableConfigs::with_handle(handle, self.options.clone(), self.hedging),
        })
    }

    /// Makes the operation of a call; `None`: there is nothing to be done about it.
    fn begin<I: Invoke + Clone + 'static>(
        &self,
        headers: &RequestHeaders,
        options: &GrpcOptions,
        next: &I,
        own: &CallOptions,
    ) -> Option<Begin<I>> {
        let configs = self.configs();
        let (service, method) = headers.method_name().trim_start_matches('/').rsplit_once('/')?;
        let limits = self.limits;
        let compatibility = configs.compatibility();
        let memory = self.memory.of(&limits, compatibility).cloned();
        // The rules of gax-java for streams of requests have no word for those that are replayed.
        let kind = if memory.is_some() { MethodKind::ServerStreaming } else { MethodKind::BidiStreaming };
        let unary = configs.config(service, method, MethodKind::Unary, own)?;
        let stream = configs.config(service, method, kind, own)?;
        let left = options.deadline().map(|deadline| deadline.saturating_duration_since(now()));
        let bound = left.into_iter().chain(metadata::timeout(headers.metadata())).min();
        let (headers, options, invoke) = (headers.clone(), options.clone(), next.clone());
        Some(Box::new(move |is_stream| {
            let config = if is_stream { stream } else { unary };
            let reports = config.reports();
            let call = Call {
                invoke,
                headers,
                options,
                bound,
                counts_attempts: limits.counts_attempts(compatibility),
                request: Request::new(is_stream, memory.as_ref(), &limits),
                limits,
                failure: None,
                response_headers: None,
                unreadable: None,
            };
            Driver::new(call, Arc::new(config)).reporting(reports)
        }))
    }
}

/// The moment that deadlines of the `grpc` crate are compared with.
#[expect(clippy::disallowed_methods, reason = "its deadlines are moments of this clock")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

impl<I: Invoke + Clone + 'static> Intercept<&I> for RetryInterceptor {
    type SendStream = RetrySendStream<I>;
    type RecvStream = RetryRecvStream<I>;

    async fn intercept(
        &self,
        headers: RequestHeaders,
        options: GrpcOptions,
        next: &I,
    ) -> (Self::SendStream, Self::RecvStream) {
        let own = RetriedCall::current();
        let none = CallOptions::new();
        let own_options = own.as_ref().map_or(&none, RetriedCall::options);
        match self.begin(&headers, &options, next, own_options) {
            Some(begin) => halves(Operation::new(begin, own)),
            None => {
                let (sender, receiver) = next.invoke(headers, options).await;
                (
                    RetrySendStream(Sender::PassedThrough(sender)),
                    RetryRecvStream(Receiver::PassedThrough(receiver)),
                )
            }
        }
    }
}

/// Short: its table alone may have hundreds of entries.
impl fmt::Debug for RetryInterceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RetryInterceptor");
        match &self.source {
            Source::Table(table) => text.field("table", table),
            Source::Handle(handle) => text.field("version", &handle.version()),
        };
        text.field("options", &self.options).field("limits", &self.limits).finish_non_exhaustive()
    }
}
