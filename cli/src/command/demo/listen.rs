//! `gax demo --listen`: the demo's service for a client of the user's own.

use super::{arrived, scene};
use crate::command::print;
use crate::failure::Failure;
use crate::render::{HEAD, prose};
use crate::server::{Event, Script, serve};
use std::net::SocketAddr;
use std::process::ExitCode;
use tokio::sync::mpsc;

/// Serves the first scene's outage again and again, and prints a line for each request.
pub(super) async fn run(address: SocketAddr) -> Result<ExitCode, Failure> {
    let [outage, ..] = scene::all().map_err(|error| Failure::Run(error.to_string()))?;
    let (sender, mut events) = mpsc::unbounded_channel();
    let script = Script::new(sender);
    script.cycle(&outage.turns);
    let address = serve(address, script)?;
    let turns: Vec<String> = outage.turns.iter().map(ToString::to_string).collect();
    let opening = format!(
        "{HEAD}An AssetService listens on {address}{HEAD:#} until Ctrl-C.\nCalls get in turn: {}.\n\n",
        turns.join(", ")
    );
    print(&prose(&opening, 0))?;
    while let Some(event) = events.recv().await {
        if let Event::Arrived(arrival) = event {
            print(&arrived(&arrival, arrival.previous_attempts.saturating_add(1)))?;
        }
    }
    Err(Failure::Run("the server has stopped".to_owned()))
}
