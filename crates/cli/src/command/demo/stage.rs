//! Where scenes are played: a server on this machine, and the generated client.

use super::scene::{Rpc, Scene};
use super::server::{log, serve};
use super::turn::{self, Turn};
use crate::failure::Failure;
use crate::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ExportAssetsRequest,
    ListAssetsRequest, asset_service_gax::AssetServiceStubSettingsBuilder,
};
use crate::render::Ms;
use gax_retry::Code;
use gax_testing::{Arrival, Log, Reply, Script};
use serde::Serialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};
use tonic_gax::{CallSettings, OperationError, OperationOptions, OperationReport};

/// A server that is running, and a channel to it.
pub(super) struct Stage {
    pub(super) address: SocketAddr,
    script: Script,
    log: Log,
    arrivals: UnboundedReceiver<Arrival>,
    channel: Channel,
    /// The next scene's waits are drawn with it.
    seed: u64,
}

/// A scene that is over.
pub(super) struct Played {
    pub(super) call: CallSettings,
    pub(super) report: OperationReport,
    pub(super) seen: Vec<Seen>,
    /// The error that the caller gets; `None`: a response.
    pub(super) error: Option<Status>,
}

/// A request as the server saw it.
#[derive(Debug, Serialize)]
pub(super) struct Seen {
    pub(super) attempt: usize,
    pub(super) at_ms: Ms,
    /// The header's text.
    pub(super) grpc_timeout: Option<String>,
    pub(super) reply: Turn,
    /// When the client gave it up, if it did.
    pub(super) cancelled_ms: Option<Ms>,
    #[serde(skip)]
    pub(super) is_over: bool,
}

impl Seen {
    /// An attempt of a scene that began at that time of the log.
    pub(super) fn new(arrival: &Arrival, attempt: usize, reply: Turn, began: Duration) -> Self {
        let since = |time: Duration| Ms(time.saturating_sub(began));
        Self {
            attempt,
            at_ms: since(arrival.at),
            grpc_timeout: arrival.grpc_timeout().map(str::to_owned),
            reply,
            cancelled_ms: arrival.gone.map(since),
            is_over: !arrival.is_open(),
        }
    }
}

impl Played {
    /// The code that the caller got.
    pub(super) fn code(&self) -> Code {
        self.error.as_ref().map_or(Code::Ok, |status| Code::from_wire(status.code().into()))
    }
}

/// The time for the server to be notified of the last cancelled attempts.
const PATIENCE: Duration = Duration::from_millis(500);

impl Stage {
    /// Starts the server on a free port.
    pub(super) async fn set(seed: u64) -> Result<Self, Failure> {
        let (log, arrivals) = log();
        let script = Script::always(Reply::Hang);
        let address = serve((Ipv4Addr::LOCALHOST, 0).into(), script.clone(), log.clone())?;
        let channel = Endpoint::from_shared(format!("http://{address}"))
            .map_err(|error| run(format!("{address} can't be called ({error})")))?
            .connect()
            .await
            .map_err(|error| run(format!("the server on {address} can't be reached ({error})")))?;
        Ok(Self { address, script, log, arrivals, channel, seed })
    }

    /// Plays a scene; shows each request when it comes and when it is over.
    pub(super) async fn play(
        &mut self,
        scene: &Scene,
        call: CallSettings,
        mut show: impl FnMut(&Seen) -> Result<(), Failure>,
    ) -> Result<Played, Failure> {
        let mut stub = AssetServiceStubSettings::builder();
        *of(&mut stub, scene.rpc) = call.clone();
        let stub = stub.build().map_err(|error| run(error.to_string()))?;
        let settings = AssetServiceSettings::create(stub)
            .with_options(OperationOptions::new().jitter_seed(self.seed).reports(true));
        self.seed = self.seed.wrapping_add(1);
        let client = AssetServiceClient::with_settings(self.channel.clone(), settings);

        let (first, began) = (self.log.arrivals().len(), self.log.elapsed());
        self.script.replace(&turn::script(&scene.turns));
        let mut seen: Vec<Seen> = Vec::new();
        let mut see = |arrival: &Arrival, all: &mut Vec<Seen>| {
            // Or else it is the end of a request of an earlier scene.
            let Some(index) = arrival.index.checked_sub(first) else { return Ok(()) };
            let turn = scene.turns.get(index).or(scene.turns.last()).copied().unwrap_or(Turn::Hang);
            let seen = Seen::new(arrival, index + 1, turn, began);
            let shown = show(&seen);
            match all.get_mut(index) {
                Some(known) => *known = seen,
                None => all.push(seen),
            }
            shown
        };
        let mut outcome = pin!(operation(&client, scene.rpc));
        let outcome = loop {
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => see(&arrival, &mut seen)?,
                outcome = &mut outcome => break outcome,
            }
        };
        while seen.iter().any(|seen| !seen.is_over)
            && let Ok(Some(arrival)) = timeout(PATIENCE, self.arrivals.recv()).await
        {
            see(&arrival, &mut seen)?;
        }
        let (report, error) = match outcome {
            Ok(report) => (report, None),
            Err(status) => (OperationError::of(&status).map(|error| error.report().clone()), Some(status)),
        };
        let report = report.ok_or_else(|| run("the client gave no report".to_owned()))?;
        Ok(Played { call, report, seen, error })
    }
}

/// The settings that the scene's RPC is called with.
pub(super) fn settings(scene: &Scene) -> CallSettings {
    let mut stub = AssetServiceStubSettings::builder();
    let call = of(&mut stub, scene.rpc);
    if let Some((settings, codes)) = &scene.settings {
        call.set_retry_settings(settings.clone()).set_retryable_codes(*codes);
    }
    if let Some(hedging) = scene.hedging {
        call.set_hedging(hedging);
    }
    call.clone()
}

fn of(stub: &mut AssetServiceStubSettingsBuilder, rpc: Rpc) -> &mut CallSettings {
    match rpc {
        Rpc::ListAssets => stub.list_assets(),
        Rpc::ExportAssets => stub.export_assets(),
    }
}

/// Makes the call; the report of a success.
async fn operation(
    client: &AssetServiceClient<Channel>,
    rpc: Rpc,
) -> Result<Option<OperationReport>, Status> {
    let parent = "projects/demo".to_owned();
    match rpc {
        Rpc::ListAssets => {
            let request = ListAssetsRequest { parent, ..ListAssetsRequest::default() };
            client.list_assets(request).await.map(|response| report(&response))
        }
        Rpc::ExportAssets => {
            let request = ExportAssetsRequest { parent, ..ExportAssetsRequest::default() };
            client.export_assets(request).await.map(|response| report(&response))
        }
    }
}

fn report<T>(response: &Response<T>) -> Option<OperationReport> {
    response.extensions().get::<OperationReport>().cloned()
}

fn run(sentence: String) -> Failure {
    Failure::Run(sentence)
}
