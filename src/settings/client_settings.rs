//! The settings of a whole client.

use super::StubSettings;
use crate::live::SettingsSource;
use crate::live::unknown_methods::UnknownMethodsError;
#[cfg(feature = "live")]
use crate::live::{KnownMethods, SettingsHandle};
use crate::operation::{JitterSeeds, Observers, OperationObserver, Retry};
use gax_retry::{Compatibility, Environment, RetryBudget, RetryBudgets};
use std::sync::Arc;
use std::time::Duration;

/// What a generated client's settings are made of: those of its stub, and those of every call.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub(crate) stub: StubSettings,
    pub(crate) compatibility: Compatibility,
    pub(crate) limits: BufferLimits,
    pub(crate) jitter: JitterSeeds,
    pub(crate) budget: Option<RetryBudget>,
    /// Whether the budget is what the program set, in place of the table's.
    pub(crate) has_own_budget: bool,
    /// What replaces the settings of the stub.
    #[cfg(feature = "live")]
    pub(crate) handle: Option<SettingsHandle>,
    /// The methods against which the handle's tables are checked.
    #[cfg(feature = "live")]
    pub(crate) known: Option<Arc<KnownMethods>>,
    pub(crate) observers: Observers,
    pub(crate) method_extension: bool,
    connect_timeout: Option<Duration>,
}

impl ClientSettings {
    /// Defaults around the stub's settings.
    #[must_use]
    pub fn new(stub: StubSettings) -> Self {
        Self {
            stub,
            compatibility: Compatibility::default(),
            limits: BufferLimits::default(),
            jitter: JitterSeeds::default(),
            budget: None,
            has_own_budget: false,
            #[cfg(feature = "live")]
            handle: None,
            #[cfg(feature = "live")]
            known: None,
            observers: Observers::default(),
            method_extension: true,
            connect_timeout: None,
        }
    }

    /// Which client's rules turn settings into attempts.
    #[must_use]
    pub fn with_compatibility(mut self, compatibility: Compatibility) -> Self {
        self.compatibility = compatibility;
        self
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

    /// See [`RetryLayer::jitter_seed`](crate::RetryLayer::jitter_seed).
    #[must_use]
    pub fn with_jitter_seed(mut self, seed: u64) -> Self {
        self.jitter = JitterSeeds::from(seed);
        self
    }

    /// Installs an observer, which is told about every operation. Several are told in the order of installation.
    /// Default: none, which costs nothing.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn OperationObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// See [`RetryLayer::on_retry`](crate::RetryLayer::on_retry).
    #[must_use]
    pub fn with_on_retry(mut self, log: impl Fn(&Retry<'_>) + Send + Sync + 'static) -> Self {
        self.observers.on_retry(log);
        self
    }

    /// See [`RetryLayer::without_jitter`](crate::RetryLayer::without_jitter).
    #[must_use]
    pub fn without_jitter(mut self) -> Self {
        self.jitter = JitterSeeds::Off;
        self
    }

    /// See [`RetryLayer::retry_budget`](crate::RetryLayer::retry_budget).
    #[must_use]
    pub fn with_retry_budget(mut self, budget: impl Into<Option<RetryBudget>>) -> Self {
        self.budget = budget.into();
        self.has_own_budget = true;
        self
    }

    /// See [`RetryLayer::server_retry_budget`](crate::RetryLayer::server_retry_budget).
    #[must_use]
    pub fn with_server_retry_budget(mut self, budgets: &RetryBudgets, server: &str) -> Self {
        self.budget = budgets.share(server, self.budget);
        self.has_own_budget = true;
        self
    }

    /// The budget of the table that the client was generated from.
    #[must_use]
    pub fn with_table_budget(mut self, budget: RetryBudget) -> Self {
        self.budget = Some(budget);
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
            settings.observers.follow(handle);
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

    /// Whether the response of every call carries its [`OperationReport`](crate::OperationReport). False by default: a
    /// response carries it where there is more to tell than that the first attempt succeeded, and where the
    /// [call asks for it](crate::CallOptions::report). It takes three allocations a call.
    #[must_use]
    pub fn with_reports(mut self, reports: bool) -> Self {
        self.limits.reports = reports;
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

    /// What it is now. An attempt that waits for a connection has time for another one.
    pub(crate) fn connect_timeout(&self) -> Duration {
        const LEAST: Duration = Duration::from_secs(1);
        const MOST: Duration = Duration::from_secs(20);
        let usual = || match self.stub.shortest_timeout() {
            Some(timeout) => (timeout / 3).clamp(LEAST, MOST),
            None => MOST,
        };
        self.connect_timeout.unwrap_or_else(usual)
    }

    /// See [`RetryLayer::retries_enabled`](crate::RetryLayer::retries_enabled).
    #[must_use]
    pub fn with_retries_enabled(mut self, enabled: bool) -> Self {
        self.limits.retries_enabled = enabled;
        self
    }

    /// See [`RetryLayer::environment`](crate::RetryLayer::environment).
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.limits.environment = environment;
        self
    }

    /// See [`RetryLayer::server_delays`](crate::RetryLayer::server_delays).
    #[must_use]
    pub fn with_server_delays(mut self, heeded: bool) -> Self {
        self.limits.server_delays = Some(heeded);
        self
    }

    /// See [`RetryLayer::previous_attempts_header`](crate::RetryLayer::previous_attempts_header).
    #[must_use]
    pub fn with_previous_attempts_header(mut self, is_sent: bool) -> Self {
        self.limits.previous_attempts_header = Some(is_sent);
        self
    }

    /// See [`RetryLayer::nested_retries`](crate::RetryLayer::nested_retries).
    #[must_use]
    pub fn with_nested_retries(mut self, allowed: bool) -> Self {
        self.limits.nested_retries = allowed;
        self
    }

    /// See [`RetryLayer::server_timeouts_are_ours`](crate::RetryLayer::server_timeouts_are_ours).
    #[must_use]
    pub fn with_server_timeouts_are_ours(mut self, ours: bool) -> Self {
        self.limits.server_timeouts_are_ours = ours;
        self
    }
}

/// Bounds and switches that hold for every operation of a client or layer.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
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
    /// Whether every response carries its report.
    pub(crate) reports: bool,
    /// Whether any attempt may follow the first.
    pub(crate) retries_enabled: bool,
    /// Whether the delays that servers ask for are heeded; `None`: as the compatibility has it.
    pub(crate) server_delays: Option<bool>,
    /// Whether `grpc-previous-rpc-attempts` is sent; `None`: as the compatibility has it.
    pub(crate) previous_attempts_header: Option<bool>,
    /// Whether anything is retried inside a retry.
    pub(crate) nested_retries: bool,
    /// What operators allow at most.
    pub(crate) environment: Environment,
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
            reports: false,
            retries_enabled: true,
            server_delays: None,
            previous_attempts_header: None,
            nested_retries: true,
            environment: Environment::default(),
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
