//! `gax demo --listen`: the demo's service for a client of the user's own.

use super::server::{log, serve};
use super::stage::Seen;
use super::{scene, text};
use crate::command::print;
use crate::failure::Failure;
use crate::render::{HEAD, prose};
use gax_testing::Script;
use gax_text::Escaped;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// Serves the first scene's outage again and again, and prints a line for each request.
pub(super) async fn run(address: SocketAddr) -> Result<ExitCode, Failure> {
    let [outage, ..] = scene::all().map_err(|error| Failure::Run(error.to_string()))?;
    let (log, mut arrivals) = log();
    let address = serve(address, Script::cycle(outage.turns.iter().copied()), log)?;
    let turns: Vec<String> = outage.turns.iter().map(ToString::to_string).collect();
    let opening = format!(
        "{HEAD}An AssetService listens on {address}{HEAD:#} until Ctrl-C.\nCalls get these replies in turn: {}.\n\n",
        turns.join(", ")
    );
    print(&prose(&opening, 0))?;
    let mut turns = outage.turns.iter().copied().cycle();
    while let Some(arrival) = arrivals.recv().await {
        if arrival.is_open()
            && let Some(turn) = turns.next()
        {
            let previous = arrival.header("grpc-previous-rpc-attempts").and_then(|text| text.parse().ok());
            let attempt = previous.unwrap_or(0_usize).saturating_add(1);
            let method = arrival.path.rsplit('/').next().unwrap_or_default();
            let of = format!(" of {}", Escaped(method));
            print(&text::arrives(&Seen::new(&arrival, attempt, turn, Duration::ZERO), &of))?;
        }
    }
    Err(Failure::Run("the server has stopped".to_owned()))
}
