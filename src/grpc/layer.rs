//! The layer that a tonic client runs over.
#![warn(missing_docs, missing_debug_implementations, clippy::missing_errors_doc, clippy::must_use_candidate)]

use crate::grpc::methods::{MethodOptions, Methods};
use crate::grpc::service::RetryService;
use crate::grpc::take_over::TakeOver;
use crate::headers::MethodHeaders;
use gax_driver::__private::{CurrentPolicies, Replaceable};
use gax_driver::{LivePolicies, OperationOptions, ReplayOptions, RetryBudgets};
use gax_retry::{Hedging, MethodFacts, MethodPolicies};
use gax_wire::CloneService;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tower_layer::Layer;

/// Retries the calls of any tonic client, with settings for each method.
///
/// Calls of methods without settings pass through unchanged, unless their
/// [`CallOptions`](crate::CallOptions) have settings. The layer makes a [`RetryService`] of a channel, so that a struct
/// which stores a client has a field of the type `NotesClient<RetryService<Channel>>`.
///
/// # What is retried
///
/// A call whose request is one message is retried until its response is complete or, if the RPC returns a stream, until the
/// first message has arrived. A stream of requests is sent once, under the settings' total timeout.
///
/// tonic's client does not say which RPCs return streams; [facts](Self::facts) do. Without them, a request
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
/// | [`hedging`](Self::hedging) | as the settings say |
/// | [`replay`](Self::replay) | see [`ReplayOptions`] |
/// | [`headers`](Self::headers) | none |
/// | [`streams`](Self::streams) | none |
/// | [`options`](Self::options) | see [`OperationOptions`] |
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use tonic_gax::{Code, RetryLayer, RetrySettings};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
/// let channel = tonic::transport::Endpoint::from_static("http://[::1]:50051").connect().await?;
/// let channel = RetryLayer::new((settings, [Code::Unavailable])).layer(channel);
/// // let client = SomeTonicClient::new(channel);
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct RetryLayer {
    source: Source,
    options: MethodOptions,
    /// Made when the layer is first used, shared by all services it makes.
    methods: OnceLock<Replaceable<Methods>>,
}

/// Where the settings of methods come from.
#[derive(Clone)]
enum Source {
    Fixed(Arc<CurrentPolicies>),
    Live(LivePolicies),
}

impl RetryLayer {
    /// A layer with settings for methods: settings of all methods with the codes that are retried, [`MethodPolicies`] that have others for each
    /// service or method, or a `RetryTable` of `gax-table`.
    pub fn new(policies: impl Into<MethodPolicies>) -> Self {
        Self::of(Source::Fixed(Arc::new(CurrentPolicies::fixed(policies.into()))))
    }

    /// A layer that follows live policies, such as those of a `SettingsHandle` of `gax-table`: each call uses those that count when the
    /// call begins. [`LivePolicies`] has an example.
    ///
    /// Settings that the program makes on the layer override them, so a budget overrides their throttling.
    pub fn live(live: impl AsRef<LivePolicies>) -> Self {
        let live = live.as_ref();
        let mut layer = Self::of(Source::Live(live.clone()));
        layer.options.operation.observers.follow(live);
        layer
    }

    fn of(source: Source) -> Self {
        Self { source, options: MethodOptions::default(), methods: OnceLock::new() }
    }

    /// Adds facts of methods, by their paths: which are unary and which are streams, and which are idempotent. `Descriptors` of `gax-table`
    /// read them from compiled descriptors. They are in addition to those of the policies.
    ///
    /// For what the layer does without them, see [What is retried](Self#what-is-retried).
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::settings::MethodKind;
    /// use tonic_gax::{Code, MethodFacts, RetryLayer, RetrySettings};
    ///
    /// let facts = [("/library.v1.Library/ListBooks", MethodFacts::new(MethodKind::ServerStreaming).read_only(true))];
    /// let layer = RetryLayer::new((RetrySettings::default(), [Code::Unavailable])).facts(facts);
    /// # drop(layer);
    /// ```
    pub fn facts<P: AsRef<str>>(mut self, facts: impl IntoIterator<Item = (P, MethodFacts)>) -> Self {
        let bare = |path: &str| Box::from(path.strip_prefix('/').unwrap_or(path));
        self.options.facts.extend(facts.into_iter().map(|(path, facts)| (bare(path.as_ref()), facts)));
        self.changed()
    }

    /// Sends headers with every attempt, in addition to those of gRPC. The closure is asked once a method, with
    /// `package.Service/Method`; `None`: it has none.
    ///
    /// A method with headers and without settings is then also an operation, with one attempt and no limits, so that its requests
    /// get their headers.
    ///
    /// # Examples
    ///
    /// See [`MethodHeaders`]. Those that Google's servers expect are in `gax-client`.
    pub fn headers(
        mut self,
        of_method: impl Fn(&str) -> Option<MethodHeaders> + Send + Sync + 'static,
    ) -> Self {
        self.options.headers = Some(Arc::new(of_method));
        self.changed()
    }

    /// Lets somebody else run the calls of methods that respond with streams and whose settings have timeouts for these. `Streams` of
    /// `gax-streams` applies the timeouts. Without it, such calls end with `INVALID_ARGUMENT`, so that the timeouts aren't ignored.
    pub fn streams(mut self, streams: impl TakeOver + 'static) -> Self {
        self.options.streams = Some(Arc::new(streams));
        self.changed()
    }

    /// Sets options over the ones that were set before: whose rules turn settings into attempts, the retry budget, observers, reports,
    /// jitter and more. Calls of methods without settings still pass through untouched.
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.operation.set(options);
        self.changed()
    }

    /// Sets how much of requests and responses is buffered for another attempt, and the two other options that only gRPC has.
    pub fn replay(mut self, options: ReplayOptions) -> Self {
        self.options.replay = options;
        self.changed()
    }

    /// Hedges the methods that are known to be idempotent, instead of retrying them: see [`Hedging`]. A method is known to
    /// be idempotent by [the policies](MethodPolicies::idempotent) or, if those say nothing, by its [facts](Self::facts).
    /// [`allow_non_idempotent`](Hedging::allow_non_idempotent) hedges the others too.
    ///
    /// A method whose settings have hedging keeps it. A method without settings still passes through unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tonic_gax::{Code, Hedging, MethodPolicies, MethodSettings, RetryLayer, RetrySettings};
    ///
    /// let settings = MethodSettings::new(RetrySettings::logical_timeout(Duration::from_secs(5)), [Code::Unavailable]);
    /// let policies = MethodPolicies::new()
    ///     .service("example.v1.Library", settings)
    ///     .idempotent("example.v1.Library/GetBook", true);
    /// let hedging = Hedging::new(2).delay(Duration::from_millis(200)).non_fatal_codes([Code::Unavailable]);
    /// let layer = RetryLayer::new(policies).hedging(hedging);
    /// # drop(layer);
    /// ```
    pub fn hedging(mut self, hedging: impl Into<Option<Hedging>>) -> Self {
        self.options.hedging = hedging.into();
        self.changed()
    }

    /// Shares one budget with everything that calls this server, through `budgets`. The first layer or client
    /// provides the server's budget, usually the throttling of its policies. All others use that one instead of their
    /// own. This follows gRFC A6: one bucket for each server, whatever client, method or layer a call comes from. Set
    /// [options](Self::options) with a budget of the layer's own before this.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::settings::{RetryBudgets, RetryThrottling};
    /// use tonic_gax::{Code, MethodPolicies, RetryLayer, RetrySettings};
    ///
    /// let budgets = RetryBudgets::new();
    /// let policies = MethodPolicies::from((RetrySettings::default(), [Code::Unavailable]));
    /// let policies = policies.throttling(RetryThrottling::new(10, 0.1));
    /// let books = RetryLayer::new(policies.clone()).server_retry_budget(&budgets, "library.example.com");
    /// let loans = RetryLayer::new(policies).server_retry_budget(&budgets, "library.example.com");
    /// # drop((books, loans));
    /// ```
    pub fn server_retry_budget(self, budgets: &RetryBudgets, server: &str) -> Self {
        let own = match &self.source {
            Source::Fixed(current) => current.budget.clone(),
            Source::Live(live) => live.policies().own_throttling().map(|throttling| throttling.budget()),
        };
        let own = self.options.operation.budget_over(own);
        self.options(OperationOptions::new().retry_budget(budgets.share(server, own)))
    }

    fn changed(mut self) -> Self {
        self.methods = OnceLock::new();
        self
    }

    fn methods(&self) -> Replaceable<Methods> {
        let live = match &self.source {
            Source::Fixed(current) => return Replaceable::fixed(Methods::new(current, &self.options)),
            Source::Live(live) => live,
        };
        let known: Arc<[Box<str>]> = self.options.facts.iter().map(|(path, _)| path.clone()).collect();
        let options = self.options.clone();
        let make = move |current: &CurrentPolicies, before: Option<&Methods>| {
            let methods = Methods::new(current, &options);
            match before {
                Some(before) => methods.with_latencies_of(before),
                None => methods,
            }
        };
        Replaceable::live(live.follow(make, (!known.is_empty()).then_some(known)))
    }

    /// Puts retries around a service, such as a channel. [`Layer::layer`] does the same, for stacks of layers.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # let _context = runtime.enter();
    /// # let channel = tonic::transport::Endpoint::from_static("http://[::1]:50051").connect_lazy();
    /// # use tonic_gax::{Code, RetryLayer, RetrySettings};
    /// let channel = RetryLayer::new((RetrySettings::default(), [Code::Unavailable])).layer(channel);
    /// // LibraryServiceClient::new(channel)
    /// # drop(channel);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn layer<S: CloneService>(&self, inner: S) -> RetryService<S> {
        RetryService::new(inner, self.methods.get_or_init(|| self.methods()).clone())
    }
}

/// Short: there may be settings of hundreds of methods.
impl fmt::Debug for RetryLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RetryLayer");
        match &self.source {
            Source::Fixed(current) => text.field("entries", &current.policies.entries().count()),
            Source::Live(live) => text.field("version", &live.version()),
        };
        text.field("facts", &self.options.facts.len())
            .field("options", &self.options.operation)
            .field("replay", &self.options.replay)
            .finish_non_exhaustive()
    }
}

impl<S: CloneService> Layer<S> for RetryLayer {
    type Service = RetryService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Self::layer(self, inner)
    }
}
