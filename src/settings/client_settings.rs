//! The settings of a whole client.

use crate::google::{ClientHeaders, GoogleHeaders, ServiceInfo};
use crate::live::SettingsSource;
use crate::live::unknown_methods::UnknownMethodsError;
#[cfg(feature = "live")]
use crate::live::{KnownMethods, SettingsHandle};
use crate::operation::OperationObserver;
use crate::settings::operation_options::OperationOptions;
use crate::settings::retry_budgets::RetryBudgets;
use crate::settings::stub_settings::StubSettings;
use gax_retry::{Compatibility, RetryBudget};
use std::sync::Arc;
use std::time::Duration;

/// The settings behind a generated client's: those of its stub, and those of every call.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub(crate) stub: StubSettings,
    pub(crate) options: OperationOptions,
    pub(crate) limits: BufferLimits,
    /// The budget of the table that the client was generated from.
    pub(crate) table_budget: Option<RetryBudget>,
    /// The handle whose tables replace the settings of the stub.
    #[cfg(feature = "live")]
    pub(crate) handle: Option<SettingsHandle>,
    /// The methods against which the handle's tables are checked.
    #[cfg(feature = "live")]
    pub(crate) known: Option<Arc<KnownMethods>>,
    pub(crate) method_extension: bool,
    connect_timeout: Option<Duration>,
    google: GoogleHeaders,
    /// The service, if it is one of Google's.
    service: Option<&'static ServiceInfo>,
}

impl ClientSettings {
    /// Defaults around the stub's settings.
    #[must_use]
    pub fn new(stub: StubSettings) -> Self {
        Self {
            stub,
            options: OperationOptions::default(),
            limits: BufferLimits::default(),
            table_budget: None,
            #[cfg(feature = "live")]
            handle: None,
            #[cfg(feature = "live")]
            known: None,
            method_extension: true,
            connect_timeout: None,
            google: GoogleHeaders::default(),
            service: None,
        }
    }

    /// Sets options over the ones that were set before.
    #[must_use]
    pub fn with_options(mut self, options: OperationOptions) -> Self {
        self.options.set(options);
        self
    }

    /// See [`OperationOptions::compatibility`].
    #[must_use]
    pub fn with_compatibility(self, compatibility: Compatibility) -> Self {
        self.with_options(OperationOptions::new().compatibility(compatibility))
    }

    /// See [`OperationOptions::retry_budget`].
    #[must_use]
    pub fn with_retry_budget(self, budget: impl Into<Option<RetryBudget>>) -> Self {
        self.with_options(OperationOptions::new().retry_budget(budget))
    }

    /// See [`OperationOptions::retries_enabled`].
    #[must_use]
    pub fn with_retries_enabled(self, enabled: bool) -> Self {
        self.with_options(OperationOptions::new().retries_enabled(enabled))
    }

    /// See [`OperationOptions::reports`].
    #[must_use]
    pub fn with_reports(self, reports: bool) -> Self {
        self.with_options(OperationOptions::new().reports(reports))
    }

    /// See [`OperationOptions::observer`].
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn OperationObserver>) -> Self {
        self.with_options(OperationOptions::new().observer(observer))
    }

    /// See [`RetryLayer::server_retry_budget`](crate::RetryLayer::server_retry_budget).
    #[must_use]
    pub fn with_server_retry_budget(self, budgets: &RetryBudgets, server: &str) -> Self {
        let own = self.options.budget_over(self.table_budget.clone());
        self.with_retry_budget(budgets.share(server, own))
    }

    /// For a service of Google's, whose servers expect some headers.
    #[must_use]
    pub fn of_service(self, service: &'static ServiceInfo) -> Self {
        Self { service: Some(service), ..self }
    }

    /// See [`GoogleHeaders`].
    #[must_use]
    pub fn with_google_headers(self, google: GoogleHeaders) -> Self {
        Self { google, ..self }
    }

    /// The headers that requests have beside those of gRPC.
    pub(crate) fn headers(&self) -> ClientHeaders {
        let is_of_google = self.service.is_some();
        let google = self.google.clone();
        ClientHeaders::new(&if is_of_google { google } else { google.unless_asked() }, self.service)
    }

    /// These settings over HTTP: without hedging of RPCs that are no reads there, unless it is for those that are not idempotent
    /// too.
    #[cfg(feature = "rest")]
    pub(crate) fn hedged_by_verb(mut self, is_hedged: impl Fn(&str, &str) -> bool) -> Self {
        self.stub.hedge_by_verb(is_hedged);
        self
    }

    /// The budget of the table that the client was generated from.
    #[must_use]
    pub fn with_table_budget(self, budget: RetryBudget) -> Self {
        Self { table_budget: Some(budget), ..self }
    }

    /// See [`RetryLayer::max_replay_bytes`](crate::RetryLayer::max_replay_bytes).
    #[must_use]
    pub fn with_max_replay_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_replay_bytes = bytes;
        self
    }

    /// See [`RetryLayer::without_replay_limit`](crate::RetryLayer::without_replay_limit).
    #[must_use]
    pub fn without_replay_limit(self) -> Self {
        self.with_max_replay_bytes(usize::MAX)
    }

    /// See [`RetryLayer::replay_streams`](crate::RetryLayer::replay_streams).
    #[must_use]
    pub fn with_replay_streams(mut self, replayed: bool) -> Self {
        self.limits.replays_streams = Some(replayed);
        self
    }

    /// See [`RetryLayer::max_total_replay_bytes`](crate::RetryLayer::max_total_replay_bytes). The limit is that of a client
    /// and its clones.
    #[must_use]
    pub fn with_max_total_replay_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_total_replay_bytes = bytes;
        self
    }

    /// Takes the settings of RPCs from a handle, whenever its table is replaced.
    #[must_use]
    pub fn with_handle(self, source: &impl SettingsSource) -> Self {
        #[cfg(feature = "live")]
        let settings = {
            let handle = source.handle();
            let known = handle.know(KnownMethods::of_client(self.stub.services(), false));
            let mut settings = Self { handle: Some(handle.clone()), known: Some(known), ..self };
            settings.options.observers.follow(handle);
            settings
        };
        // Without that feature nothing is a source.
        #[cfg(not(feature = "live"))]
        let (settings, _) = (self, source);
        settings
    }

    /// Whether a table of the handle is refused that names services or methods which the client doesn't have.
    ///
    /// # Errors
    ///
    /// The handle's table of this moment names some.
    #[cfg_attr(not(feature = "live"), expect(unused_mut, unused_variables, reason = "there is no handle"))]
    pub fn deny_unknown_methods(mut self, deny: bool) -> Result<Self, UnknownMethodsError> {
        #[cfg(feature = "live")]
        if let Some(handle) = &self.handle {
            let known = handle.know(KnownMethods::of_client(self.stub.services(), deny));
            known.check(&handle.table())?;
            self.known = Some(known);
        }
        Ok(self)
    }

    /// Whether tonic's [`GrpcMethod`](tonic::GrpcMethod) goes with every request, in its extensions, for
    /// interceptors and layers between the client and the connection. True by default; directly over a
    /// [`Channel`](tonic::transport::Channel), where nobody could look for it, it is left out in any case. It
    /// takes three allocations a request. Without it, the [`StartedAttempt`](gax_retry::StartedAttempt) of later attempts
    /// is left out as well.
    #[must_use]
    pub fn with_method_extension(mut self, is_sent: bool) -> Self {
        self.method_extension = is_sent;
        self
    }

    /// The most time that connecting may take, where the client connects by itself and the endpoint has no
    /// [`connect_timeout`](tonic::transport::Endpoint::connect_timeout) of its own. Default: a third of the client's
    /// shortest RPC timeout, but at least 1 s and at most 20 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// The time that connecting may take. An attempt that waits for a connection has time for another one.
    pub(crate) fn connect_timeout(&self) -> Duration {
        const LEAST: Duration = Duration::from_secs(1);
        const MOST: Duration = Duration::from_secs(20);
        let usual = || match self.stub.shortest_timeout() {
            Some(timeout) => (timeout / 3).clamp(LEAST, MOST),
            None => MOST,
        };
        self.connect_timeout.unwrap_or_else(usual)
    }

    /// See [`RetryLayer::previous_attempts_header`](crate::RetryLayer::previous_attempts_header).
    #[must_use]
    pub fn with_previous_attempts_header(mut self, is_sent: bool) -> Self {
        self.limits.previous_attempts_header = Some(is_sent);
        self
    }

    /// See [`RetryLayer::server_timeouts_are_ours`](crate::RetryLayer::server_timeouts_are_ours).
    #[must_use]
    pub fn with_server_timeouts_are_ours(mut self, ours: bool) -> Self {
        self.limits.server_timeouts_are_ours = ours;
        self
    }
}

/// How much of each call a client or layer buffers, and what else only gRPC has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferLimits {
    /// The longest request that is buffered for another attempt.
    pub(crate) max_replay_bytes: usize,
    /// The most that all streams of requests together may have buffered for other attempts.
    pub(crate) max_total_replay_bytes: usize,
    /// Whether streams of requests are buffered to be replayed; `None`: as the compatibility has it.
    pub(crate) replays_streams: Option<bool>,
    /// The most bytes of a response that are buffered until the status is known.
    pub(crate) max_response_buffer: usize,
    /// Whether a server's "Timeout expired", once the attempt's time is up, counts as our own timeout.
    pub(crate) server_timeouts_are_ours: bool,
    /// Whether `grpc-previous-rpc-attempts` is sent; `None`: as the compatibility has it.
    pub(crate) previous_attempts_header: Option<bool>,
}

impl Default for BufferLimits {
    fn default() -> Self {
        // The longest message that a gRPC server accepts by default, and some room for its frame.
        const MESSAGE: usize = 4 * 1024 * 1024 + 64 * 1024;
        Self {
            max_replay_bytes: MESSAGE,
            max_total_replay_bytes: 16 * 1024 * 1024,
            replays_streams: None,
            max_response_buffer: MESSAGE,
            server_timeouts_are_ours: true,
            previous_attempts_header: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::MethodInfo;
    use gax_retry::{CodeSet, RetrySettings};

    fn stub(settings: &[RetrySettings]) -> StubSettings {
        static CODES: (&str, CodeSet) = ("codes", CodeSet::EMPTY);
        let methods: Vec<_> = settings
            .iter()
            .map(|settings| {
                let params = Box::leak(Box::new(("params", settings.clone())));
                MethodInfo::new("pkg.Service", "Method", "/pkg.Service/Method")
                    .with_codes(&CODES)
                    .with_params(params)
            })
            .collect();
        StubSettings::new(methods.leak())
    }

    #[test]
    fn connecting_may_take_a_third_of_the_shortest_rpc_timeout() {
        let of = |seconds: &[u64]| {
            let settings =
                seconds.iter().map(|seconds| RetrySettings::no_retry(Duration::from_secs(*seconds)));
            ClientSettings::new(stub(&settings.collect::<Vec<_>>())).connect_timeout()
        };
        assert_eq!(of(&[30, 15, 600]), Duration::from_secs(5));
        assert_eq!(of(&[2, 600]), Duration::from_secs(1));
        assert_eq!(of(&[600, 90]), Duration::from_secs(20));
        assert_eq!(of(&[]), Duration::from_secs(20));
        let short = RetrySettings::builder()
            .initial_rpc_timeout(Duration::from_secs(6))
            .total_timeout(Duration::from_secs(60));
        let stub = stub(&[RetrySettings::default(), short.build().unwrap()]);
        assert_eq!(ClientSettings::new(stub.clone()).connect_timeout(), Duration::from_secs(2));
        let set = ClientSettings::new(stub).with_connect_timeout(Duration::from_millis(7));
        assert_eq!(set.connect_timeout(), Duration::from_millis(7));
    }
}
