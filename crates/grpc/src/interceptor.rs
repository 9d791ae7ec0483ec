//! The interceptor that a channel's calls go through.

use crate::call::RetriedCall;
use crate::metadata;
use crate::operation::{Begin, Operation};
use crate::protocol::Call;
use crate::request::RequestBuffer;
use crate::streams::{Receiver, RetryRecvStream, RetrySendStream, Sender, halves};
use gax_driver::__private::ReplayMemory;
use gax_driver::ReplayOptions;
use gax_driver::protocol::{Driver, MethodConfigs};
use gax_driver::{CallOptions, LivePolicies, OperationOptions, RetryBudgets};
use gax_retry::{Hedging, MethodFacts, MethodKind, MethodPolicies};
use grpc::client::interceptor::Intercept;
use grpc::client::{CallOptions as GrpcOptions, Invoke};
use grpc::core::RequestHeaders;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Retries the calls of a client over the `grpc` crate, with settings for each method. tonic-gax's
/// `RetryLayer` does the same for tonic, with the same names.
///
/// It wraps any `Invoke` that can be cloned, in an `Intercepted` channel. Calls of methods without settings pass
/// through unchanged, unless their [options](RetriedCall) have settings.
///
/// # What is retried
///
/// A call whose first message is sent as the last one (`SendOptions::final_msg`), as generated clients do for unary and
/// server-streaming RPCs, is retried until its response is complete or has its first message. Any other call is a stream of
/// requests: it is sent once, unless streams are [replayed](ReplayOptions::replay_streams).
///
/// A response is held until its first message has come. If its trailers follow at once, they decide whether the call is
/// retried; otherwise the message is handed to the caller, and commits. With [facts](Self::facts), the response of a
/// unary RPC is held until its trailers have come, and a stream of responses commits with its first message; the RPC timeouts
/// of the settings don't apply to such a stream. With [`Compatibility::Grpc`](gax_retry::Compatibility::Grpc) the headers of a response commit.
///
/// # Deadlines
///
/// The deadline of the `grpc` crate's `CallOptions`, a `grpc-timeout` in the request's metadata, the settings' total timeout
/// and the deadline of the request that is being served bound the operation: the shortest one counts. Each attempt carries its
/// time in `grpc-timeout`, and is dropped when that has passed.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`hedging`](Self::hedging) | as the settings say |
/// | [`replay`](Self::replay) | see [`ReplayOptions`] |
/// | [`options`](Self::options) | see [`OperationOptions`] |
///
/// # Examples
///
/// ```no_run
/// use gax_grpc::RetryInterceptor;
/// use grpc::client::interceptor::Intercepted;
/// use grpc::client::{Channel, ChannelOptions};
/// use grpc::credentials::LocalChannelCredentials;
/// use gax_retry::{Code, RetrySettings};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
/// let channel = Channel::new("dns:///localhost:50051", Arc::new(LocalChannelCredentials::new()), ChannelOptions::default());
/// let channel = Intercepted::new(channel, RetryInterceptor::new((settings, [Code::Unavailable])));
/// // AssetServiceClient::new(channel): the client that protoc-gen-rust-grpc generates, with retries
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct RetryInterceptor {
    source: Source,
    options: OperationOptions,
    hedging: Option<Hedging>,
    /// The facts of methods in addition to those of the policies.
    facts: Vec<(Box<str>, MethodFacts)>,
    replay: ReplayOptions,
    memory: ReplayMemory,
    /// Made at the first call, and shared by clones.
    configs: Arc<OnceLock<MethodConfigs>>,
}

#[derive(Clone)]
enum Source {
    Fixed(MethodPolicies),
    Live(LivePolicies),
}

impl RetryInterceptor {
    /// An interceptor with settings for methods: settings of all methods with the codes that are retried, [`MethodPolicies`] that have
    /// others for each service or method, or a `RetryTable` of `gax-table`.
    pub fn new(policies: impl Into<MethodPolicies>) -> Self {
        Self::of(Source::Fixed(policies.into()))
    }

    /// An interceptor that follows live policies, such as those of a `SettingsHandle` of `gax-table`: each call uses those that count
    /// when the call begins.
    pub fn live(live: impl AsRef<LivePolicies>) -> Self {
        Self::of(Source::Live(live.as_ref().clone()))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            options: OperationOptions::default(),
            hedging: None,
            facts: Vec::new(),
            replay: ReplayOptions::default(),
            memory: ReplayMemory::default(),
            configs: Arc::default(),
        }
    }

    /// Adds facts of methods, by their paths: which are unary and which are streams, and which are idempotent. `Descriptors` of `gax-table`
    /// read them from compiled descriptors. They are in addition to those of the policies.
    ///
    /// For the differences, see [What is retried](Self#what-is-retried).
    pub fn facts<P: AsRef<str>>(mut self, facts: impl IntoIterator<Item = (P, MethodFacts)>) -> Self {
        let bare = |path: &str| Box::from(path.strip_prefix('/').unwrap_or(path));
        self.facts.extend(facts.into_iter().map(|(path, facts)| (bare(path.as_ref()), facts)));
        self.changed()
    }

    /// Sets options over the ones that were set before: whose rules turn settings into attempts, the retry budget, observers, reports,
    /// jitter and more. [`RetriedCall::report`] returns the report of a call.
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.set(options);
        self.changed()
    }

    /// Shares one budget with everything that calls this server, through `budgets`. The first client to come provides the
    /// server's budget, usually the throttling of its policies; all others then use that one, whatever theirs is. Set
    /// [options](Self::options) with a budget of the client's own before this.
    pub fn server_retry_budget(self, budgets: &RetryBudgets, server: &str) -> Self {
        let own = self.policies().own_throttling().map(|throttling| throttling.budget());
        let own = self.options.budget_over(own);
        self.options(OperationOptions::new().retry_budget(budgets.share(server, own)))
    }

    /// Hedges the methods that the policies or, if they don't say, the [facts](Self::facts) call
    /// [idempotent](MethodPolicies::idempotent), in place of retrying them, or all if the hedging
    /// [allows it](Hedging::allow_non_idempotent). A method whose settings have hedging keeps that.
    pub fn hedging(mut self, hedging: impl Into<Option<Hedging>>) -> Self {
        self.hedging = hedging.into();
        self.changed()
    }

    /// Sets what is buffered of requests and responses so that another attempt can be sent, and the two other options that only
    /// gRPC has.
    pub fn replay(mut self, options: ReplayOptions) -> Self {
        self.replay = options;
        self
    }

    fn changed(mut self) -> Self {
        self.configs = Arc::default();
        self
    }

    fn configs(&self) -> &MethodConfigs {
        self.configs.get_or_init(|| match &self.source {
            Source::Fixed(policies) => {
                let facts = self.facts.iter().map(|(path, facts)| (path, *facts));
                MethodConfigs::new(policies.clone().facts(facts), self.options.clone(), self.hedging)
            }
            Source::Live(live) => {
                MethodConfigs::live(live, self.options.clone(), self.hedging, self.facts.clone())
            }
        })
    }

    fn policies(&self) -> MethodPolicies {
        match &self.source {
            Source::Fixed(policies) => policies.clone(),
            Source::Live(live) => live.policies(),
        }
    }

    /// Makes the operation of a call; `None`: the call passes through.
    fn begin<I: Invoke + Clone + 'static>(
        &self,
        headers: &RequestHeaders,
        options: &GrpcOptions,
        next: &I,
        own: &CallOptions,
    ) -> Option<Begin<I>> {
        let configs = self.configs();
        let path = headers.method_name().trim_start_matches('/');
        let facts = configs.facts(path);
        let replay = self.replay;
        let compatibility = configs.compatibility();
        let memory = self.memory.of(&replay, compatibility);
        // The rules of gax-java for streams of requests don't cover those that are replayed.
        let of_stream =
            if memory.is_some() { MethodKind::ServerStreaming } else { MethodKind::BidiStreaming };
        let kind = facts.map(|facts| facts.kind());
        let is_read_only = facts.is_some_and(|facts| facts.is_read_only());
        let streams_requests = kind.is_some_and(MethodKind::streams_requests);
        let of_message = kind.filter(|_| !streams_requests).unwrap_or(MethodKind::Unary);
        let message = configs.config(path, of_message, own)?;
        let stream = configs.config(path, of_stream, own)?;
        let left = options.deadline().map(|deadline| deadline.saturating_duration_since(now()));
        let bound = left.into_iter().chain(metadata::timeout(headers.metadata())).min();
        let (headers, options, invoke) = (headers.clone(), options.clone(), next.clone());
        Some(Box::new(move |is_stream| {
            let is_stream = is_stream || streams_requests;
            let config = if is_stream { stream } else { message };
            let reports = config.reports();
            let call = Call {
                invoke,
                headers,
                options,
                bound,
                kind,
                is_read_only,
                counts_attempts: replay.counts_attempts(compatibility),
                request: RequestBuffer::new(is_stream, memory.as_ref(), &replay),
                replay,
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
        if let Some(begin) = self.begin(&headers, &options, next, own_options) {
            return halves(Operation::new(begin, own));
        }
        let (sender, receiver) = next.invoke(headers, options).await;
        (RetrySendStream(Sender::PassedThrough(sender)), RetryRecvStream(Receiver::PassedThrough(receiver)))
    }
}

/// Short: there may be settings of hundreds of methods.
impl fmt::Debug for RetryInterceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RetryInterceptor");
        match &self.source {
            Source::Fixed(policies) => text.field("entries", &policies.entries().count()),
            Source::Live(live) => text.field("version", &live.version()),
        };
        text.field("options", &self.options).field("replay", &self.replay).finish_non_exhaustive()
    }
}
