//! The two ways to run operations, under one name.

use crate::Recorder;
use crate::clock::ms;
use crate::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use crate::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest, ListAssetsResponse,
};
use crate::generated::test::talk::v1::{TalkSettings, TalkStubSettings};
use gax_client::CallSettings;
use gax_client::GrpcTransport;
use gax_driver::observe::OperationObserver;
use gax_retry::{Code, CodeSet, Compatibility, Hedging, RetryBudget, RetrySettings, RetrySettingsBuilder};
use gax_table::RetryTable;
use std::fmt;
use std::sync::Arc;
use tonic::{Request, Response, Status};
use tonic_gax::{OperationOptions, ReplayOptions, RetryLayer, RetryService};

/// How an operation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stack {
    /// The generated client.
    Generated,
    /// tonic's own client over the layer.
    Layer,
    /// tonic's own client over a layer that knows which RPCs are unary.
    LayerWithDescriptors,
}

impl Stack {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Generated, Self::Layer, Self::LayerWithDescriptors];

    /// The caller of `ListAssets`.
    pub fn caller<T: GrpcTransport + Sync>(self, channel: T, setup: &Setup) -> Caller<T> {
        match self {
            Stack::Generated => Caller::Generated(AssetServiceClient::with_settings(channel, setup.client())),
            Stack::Layer => Caller::TonicClient(TonicClient::new(setup.layer().layer(channel))),
            Stack::LayerWithDescriptors => {
                Caller::TonicClient(TonicClient::new(setup.layer_with_descriptors().layer(channel)))
            }
        }
    }

    /// Calls `ListAssets` once.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn list<T: GrpcTransport + Sync>(
        self,
        channel: T,
        setup: &Setup,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        self.caller(channel, setup).list(ListAssetsRequest::default()).await
    }
}

/// An observer of operations.
#[derive(Clone)]
pub struct Observer(Arc<dyn OperationObserver>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

/// 200 ms before every retry and no jitter, a second for every attempt, ten in all.
#[must_use]
pub fn settings() -> RetrySettings {
    lasting(10_000)
}

/// Like [`settings`], with so many milliseconds in all.
#[must_use]
pub fn lasting(total: u64) -> RetrySettings {
    spaced(200, total)
}

/// Like [`settings`], with so many milliseconds before every retry and in all.
#[must_use]
pub fn spaced(delay: u64, total: u64) -> RetrySettings {
    delays(delay, 1.0).initial_rpc_timeout(ms(1000)).total_timeout(ms(total)).build().unwrap()
}

/// The beginning of other settings: no jitter, so many milliseconds before the first retry, and each delay so many times the
/// one before; by default 1.3 times.
pub fn delays(first: u64, multiplier: impl Into<Option<f64>>) -> RetrySettingsBuilder {
    let settings = RetrySettings::builder().jittered(false);
    settings.initial_retry_delay(ms(first)).retry_delay_multiplier(multiplier)
}

/// The settings of `ListAssets`, for a client or a layer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Setup {
    /// Limits and back-off.
    pub settings: RetrySettings,
    /// The retryable codes.
    pub codes: CodeSet,
    /// By whose rules.
    pub compatibility: Compatibility,
    /// What is buffered for other attempts.
    pub replay: ReplayOptions,
    /// Where jitter comes from.
    pub seed: Option<u64>,
    /// Whether every response has its report.
    pub reports: bool,
    /// How calls are hedged.
    pub hedging: Option<Hedging>,
    /// The retry budget.
    pub budget: Option<RetryBudget>,
    /// Whether calls are retried inside retries.
    pub nested_retries: bool,
    /// Whether calls are retried at all.
    pub retries_enabled: bool,
    /// The observer of the operations.
    pub observer: Option<Observer>,
}

impl Setup {
    /// These settings, with `DEADLINE_EXCEEDED` and `UNAVAILABLE` retried.
    #[must_use]
    pub fn new(settings: RetrySettings) -> Self {
        Self {
            settings,
            codes: [Code::DeadlineExceeded, Code::Unavailable].into(),
            compatibility: Compatibility::Documented,
            replay: ReplayOptions::new(),
            seed: None,
            reports: false,
            hedging: None,
            budget: None,
            nested_retries: true,
            retries_enabled: true,
            observer: None,
        }
    }

    /// Retries other codes.
    #[must_use]
    pub fn retrying(self, codes: impl Into<CodeSet>) -> Self {
        Self { codes: codes.into(), ..self }
    }

    /// Follows another library's rules.
    #[must_use]
    pub fn compatible(self, compatibility: Compatibility) -> Self {
        Self { compatibility, ..self }
    }

    /// Adds a retry budget.
    #[must_use]
    pub fn budgeted(self, budget: RetryBudget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Allows retries inside retries, or doesn't.
    #[must_use]
    pub fn nesting_retries(self, allowed: bool) -> Self {
        Self { nested_retries: allowed, ..self }
    }

    /// Switches retries off.
    #[must_use]
    pub fn without_retries(self) -> Self {
        Self { retries_enabled: false, ..self }
    }

    /// Draws jitter from that seed.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Sets another replay limit.
    #[must_use]
    pub fn replaying(self, bytes: usize) -> Self {
        Self { replay: self.replay.max_replay_bytes(bytes), ..self }
    }

    /// Sets a replay limit of all calls together.
    #[must_use]
    pub fn replaying_in_all(self, bytes: usize) -> Self {
        Self { replay: self.replay.max_total_replay_bytes(bytes), ..self }
    }

    /// Buffers streams of requests, or doesn't.
    #[must_use]
    pub fn replaying_streams(self, replays: bool) -> Self {
        Self { replay: self.replay.replay_streams(replays), ..self }
    }

    /// Leaves a tonic server's timeout as the server sent it.
    #[must_use]
    pub fn with_server_timeouts_as_sent(self) -> Self {
        Self { replay: self.replay.map_timeout_cancellations(false), ..self }
    }

    /// Hedges the calls.
    #[must_use]
    pub fn hedged(self, hedging: Hedging) -> Self {
        Self { hedging: Some(hedging), ..self }
    }

    /// Adds a report to every response.
    #[must_use]
    pub fn reporting(self) -> Self {
        Self { reports: true, ..self }
    }

    /// Notifies that recorder.
    #[must_use]
    pub fn recorded(self, recorder: &Recorder) -> Self {
        self.observed(recorder.shared())
    }

    /// Notifies that observer.
    #[must_use]
    pub fn observed(self, observer: Arc<dyn OperationObserver>) -> Self {
        Self { observer: Some(Observer(observer)), ..self }
    }

    fn options(&self) -> OperationOptions {
        let mut options = OperationOptions::new()
            .compatibility(self.compatibility)
            .retry_budget(self.budget.clone())
            .retries_enabled(self.retries_enabled)
            .nested_retries(self.nested_retries)
            .reports(self.reports);
        if let Some(seed) = self.seed {
            options = options.jitter_seed(seed);
        }
        if let Some(Observer(observer)) = &self.observer {
            options = options.observer(Arc::clone(observer));
        }
        options
    }

    /// The generated client's settings.
    pub fn client(&self) -> AssetServiceSettings {
        let mut stub = AssetServiceStubSettings::builder();
        stub.list_assets().set_retry_settings(self.settings.clone()).set_retryable_codes(self.codes);
        // The proto does not say that the RPC is idempotent.
        stub.list_assets().set_hedging(self.hedging.map(Hedging::allow_non_idempotent));
        AssetServiceSettings::create(stub.build().unwrap())
            .with_replay(self.replay)
            .with_options(self.options())
    }

    /// The settings of the generated client of Talk.
    pub fn talk(&self) -> TalkSettings {
        self.talk_listening(|_| {})
    }

    /// The settings of the generated client of Talk, with what that makes of the settings of `Listen`.
    pub fn talk_listening(&self, listen: impl FnOnce(&mut CallSettings)) -> TalkSettings {
        let mut stub = TalkStubSettings::builder();
        let set = |call: &mut CallSettings| {
            call.set_retry_settings(self.settings.clone()).set_retryable_codes(self.codes);
            call.set_hedging(self.hedging.map(Hedging::allow_non_idempotent));
        };
        set(stub.ask());
        set(stub.guess());
        set(stub.listen());
        set(stub.tell());
        set(stub.chat());
        listen(stub.listen());
        TalkSettings::create(stub.build().unwrap()).with_replay(self.replay).with_options(self.options())
    }

    /// The layer for tonic's own clients; its table knows `ListAssets` and every method of Talk.
    pub fn layer(&self) -> RetryLayer {
        let mut table = RetryTable::builder().method(
            "/google.cloud.asset.v1.AssetService/ListAssets",
            self.settings.clone(),
            self.codes,
        );
        if let Some(hedging) = self.hedging {
            table = table.hedged(hedging.allow_non_idempotent());
        }
        table = table.service("test.talk.v1.Talk", self.settings.clone(), self.codes);
        if let Some(hedging) = self.hedging {
            table = table.hedged(hedging.allow_non_idempotent());
        }
        RetryLayer::new(table.build().unwrap()).options(self.options()).replay(self.replay)
    }

    /// The layer for tonic's own clients that knows the kind of every RPC.
    pub fn layer_with_descriptors(&self) -> RetryLayer {
        self.layer().facts(&crate::generated::facts())
    }
}

/// Calls `ListAssets`, one way or the other.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Caller<T> {
    /// By the generated client.
    Generated(AssetServiceClient<T>),
    /// By tonic's client over the layer.
    TonicClient(TonicClient<RetryService<T>>),
}

impl<T: GrpcTransport + Sync> Caller<T> {
    /// The call.
    ///
    /// # Errors
    ///
    /// The error that the operation ends with.
    pub async fn list(
        &mut self,
        request: impl tonic::IntoRequest<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        let request: Request<ListAssetsRequest> = request.into_request();
        match self {
            Caller::Generated(client) => client.list_assets(request).await,
            Caller::TonicClient(client) => client.list_assets(request).await,
        }
    }
}
