//! Where scenes are played: a server on this machine, and the generated client.

use super::scene::{Rpc, Scene};
use crate::failure::Failure;
use crate::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ExportAssetsRequest,
    ListAssetsRequest, asset_service_gax::AssetServiceStubSettingsBuilder,
};
use crate::server::{Arrival, Event, Script, serve};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};
use tonic_gax::{CallSettings, OperationError, OperationOptions, OperationReport};

/// A server that is running, and a channel to it.
pub(super) struct Stage {
    pub(super) address: SocketAddr,
    script: Script,
    events: UnboundedReceiver<Event>,
    channel: Channel,
    /// What the next scene's waits are drawn with.
    seed: u64,
}

/// What came of a scene.
pub(super) struct Played {
    pub(super) call: CallSettings,
    pub(super) report: OperationReport,
    pub(super) arrivals: Vec<Seen>,
    /// The error that the caller gets; `None`: a response.
    pub(super) error: Option<Status>,
}

/// A request as the server saw it.
pub(super) struct Seen {
    pub(super) arrival: Arrival,
    /// When the server was told to stop, if it was.
    pub(super) cancelled: Option<Duration>,
    is_over: bool,
}

/// How long the server has to hear of the last attempts that were cancelled.
const PATIENCE: Duration = Duration::from_millis(500);

impl Stage {
    /// Starts the server on a free port.
    pub(super) async fn set(seed: u64) -> Result<Self, Failure> {
        let (sender, events) = mpsc::unbounded_channel();
        let script = Script::new(sender);
        let address = serve((Ipv4Addr::LOCALHOST, 0).into(), script.clone())?;
        let channel = Endpoint::from_shared(format!("http://{address}"))
            .map_err(|error| run(format!("{address} can't be called ({error})")))?
            .connect()
            .await
            .map_err(|error| run(format!("the server on {address} can't be reached ({error})")))?;
        Ok(Self { address, script, events, channel, seed })
    }

    /// Plays a scene; hands each arrival, and each cancellation, out when it comes.
    pub(super) async fn play(
        &mut self,
        scene: &Scene,
        call: CallSettings,
        mut show: impl FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<Played, Failure> {
        let mut stub = AssetServiceStubSettings::builder();
        *of(&mut stub, scene.rpc) = call.clone();
        let stub = stub.build().map_err(|error| run(error.to_string()))?;
        let settings = AssetServiceSettings::create(stub)
            .with_options(OperationOptions::new().jitter_seed(self.seed))
            .with_reports(true);
        self.seed = self.seed.wrapping_add(1);
        let client = AssetServiceClient::with_settings(self.channel.clone(), settings);

        let start = self.script.restart(&scene.turns);
        let mut arrivals: Vec<Seen> = Vec::new();
        let mut see = |event: Event, arrivals: &mut Vec<Seen>| {
            match &event {
                Event::Arrived(arrival) => {
                    arrivals.push(Seen { arrival: arrival.clone(), cancelled: None, is_over: false });
                }
                // The end of a request of an earlier scene.
                Event::Over { request, .. } if request.start != start => return Ok(()),
                Event::Over { request, at, is_cancelled } => {
                    let seen = arrivals.iter_mut().find(|seen| seen.arrival.request == *request);
                    if let Some(seen) = seen {
                        seen.is_over = true;
                        seen.cancelled = is_cancelled.then_some(*at);
                    }
                }
            }
            show(&event)
        };
        let mut outcome = pin!(operation(&client, scene.rpc));
        let outcome = loop {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => see(event, &mut arrivals)?,
                outcome = &mut outcome => break outcome,
            }
        };
        while arrivals.iter().any(|seen| !seen.is_over)
            && let Ok(Some(event)) = timeout(PATIENCE, self.events.recv()).await
        {
            see(event, &mut arrivals)?;
        }
        let (report, error) = match outcome {
            Ok(report) => (report, None),
            Err(status) => (OperationError::of(&status).map(|error| error.report().clone()), Some(status)),
        };
        let report = report.ok_or_else(|| run("the client gave no report".to_owned()))?;
        Ok(Played { call, report, arrivals, error })
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
