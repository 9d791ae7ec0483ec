//! The settings of a generated client.

use crate::google::{GoogleHeaders, ServiceEndpoint, ServiceInfo};
use crate::settings::client_config::{ClientConfig, Followed};
use crate::settings::stub_settings::StubSettings;
use gax_driver::__private::CurrentPolicies;
use gax_driver::__private::unused_names::{unknown_names, warn_of};
use gax_driver::{LivePolicies, OperationOptions, ReplayOptions, RetryBudgets};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// The settings of a generated client: those of its RPCs, and the options of all calls.
///
/// Each generated client has a type alias, such as `AssetServiceSettings`. `S` is the type of its RPCs' settings,
/// `AssetServiceStubSettings`. Create it from those with [`create`](Self::create) or `From`, or use `Default` for the settings of the
/// retry table. Each setter returns the changed settings. Clones share the retry budget and the observers.
#[derive(Clone)]
#[must_use]
pub struct ClientSettings<S> {
    pub(crate) config: ClientConfig,
    stub: PhantomData<fn() -> S>,
}

/// As their config, without the type of the RPCs' settings.
impl<S> fmt::Debug for ClientSettings<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}

/// The settings of a service's RPCs, for generated code alone.
pub trait ServiceStub {
    /// The config that a client with these settings starts with.
    fn into_config(self) -> ClientConfig;
}

/// The settings of the RPCs of a service of Google's, for generated code alone.
pub trait GoogleStub: ServiceStub {
    /// The service.
    const SERVICE: &'static ServiceInfo;
}

impl ServiceStub for StubSettings {
    fn into_config(self) -> ClientConfig {
        ClientConfig::new(self)
    }
}

/// The config of settings, for transports that a client's generated code makes.
pub fn config_of<S>(settings: &mut ClientSettings<S>) -> &mut ClientConfig {
    &mut settings.config
}

impl<S: ServiceStub> ClientSettings<S> {
    /// Settings with these for the RPCs.
    pub fn create(stub_settings: S) -> Self {
        Self { config: stub_settings.into_config(), stub: PhantomData }
    }
}

/// The settings of the retry table.
impl<S: ServiceStub + Default> Default for ClientSettings<S> {
    fn default() -> Self {
        Self::create(S::default())
    }
}

impl<S: ServiceStub> From<S> for ClientSettings<S> {
    fn from(stub_settings: S) -> Self {
        Self::create(stub_settings)
    }
}

impl<S: GoogleStub> ClientSettings<S> {
    /// Where the service is: at the host that its proto names, unless another address or universe is set. A client's `connect` takes
    /// it.
    pub fn endpoint() -> ServiceEndpoint {
        S::SERVICE.endpoint()
    }

    /// The headers for Google's servers, which are sent with every attempt. Default: what requests are routed by, and the versions
    /// of the libraries and of the API.
    pub fn with_google_headers(mut self, headers: GoogleHeaders) -> Self {
        self.config.google = headers;
        self
    }
}

impl<S> ClientSettings<S> {
    /// Takes the settings of RPCs from live policies, such as those of a `SettingsHandle` of `gax-table`, by the same rules as when
    /// the client was generated. Changes of the stub settings override them, and so does a retry budget that is set here.
    /// Default: the settings don't change.
    pub fn live(mut self, live: impl AsRef<LivePolicies>) -> Self {
        let live = live.as_ref();
        self.config.options.observers.follow(live);
        let known: Arc<[Box<str>]> = self.config.stub.paths().map(String::into_boxed_str).collect();
        let paths = Arc::clone(&known);
        let look = move |current: &CurrentPolicies, _: Option<&()>| {
            warn_of(|| unknown_names(&current.policies, paths.iter().map(|path| &**path)));
        };
        let known = live.follow(look, Some(known));
        self.config.followed = Some(Followed { live: live.clone(), _known: known });
        self
    }

    /// Returns the paths of the RPCs, as retry tables name them: for `deny_unknown_methods` of a table or of a handle.
    pub fn methods(&self) -> impl Iterator<Item = String> {
        self.config.stub.paths()
    }

    /// Sets options over the ones that were set before: whose rules turn settings into attempts, the retry budget that all RPCs share,
    /// observers, reports, jitter and more. Clones of these settings share the budget, and so do the clients made of them. Default: the
    /// rules and the throttling of the retry table.
    pub fn with_options(mut self, options: OperationOptions) -> Self {
        self.config.options.set(options);
        self
    }

    /// Shares one retry budget with everything that calls this server, through `budgets`. The first client or layer to come
    /// provides the server's budget, and all others use that one. Set
    /// [options](Self::with_options) with a budget of the client's own before this.
    pub fn with_server_retry_budget(self, budgets: &RetryBudgets, server: &str) -> Self {
        let own = self.config.options.budget_over(self.config.table_budget.clone());
        self.with_options(OperationOptions::new().retry_budget(budgets.share(server, own)))
    }

    gax_text::setters! { self:
        /// Sets what is buffered of requests so that another attempt can be sent, and the two other options that only gRPC has.
        pub with_replay(options: ReplayOptions) => self.config.replay = options;

        /// The most time that connecting may take, if the client connects by itself and the endpoint has no
        /// [`connect_timeout`](tonic::transport::Endpoint::connect_timeout). Default: a third of the shortest RPC timeout,
        /// but at least 1 s and at most 20 s.
        pub with_connect_timeout(timeout: Duration) => self.config.connect_timeout = Some(timeout);

        /// Sets whether every request has tonic's [`GrpcMethod`](tonic::GrpcMethod) in its extensions, for interceptors and layers
        /// between the client and the connection. Default: true, but not directly over a [`Channel`](tonic::transport::Channel), if
        /// nothing could read it. It needs three allocations per request. Without it, the
        /// [`StartedAttempt`](gax_retry::StartedAttempt) of later attempts is left out as well.
        pub with_method_extension(is_sent: bool) => self.config.method_extension = is_sent;
    }
}
