//! The command.

use super::json::{Demo, Shown};
use super::stage::{self, Seen, Stage};
use super::{listen, scene, text};
use crate::command::{Format, print, print_json};
use crate::failure::{FINDINGS, Failure};
use crate::render::prose;
use crate::value;
use clap::Args;
use std::net::SocketAddr;
use std::process::ExitCode;

/// Show a client in four simulated outages
///
/// Starts an asset service on a free port of this machine and calls it with the generated client:
/// first with the settings of the retry table while the service is unavailable, then with settings that
/// the program overrides while the service hangs, then hedged while some replies are slow, and finally while
/// it hangs permanently. Shows each attempt when it arrives at the server or is cancelled there, and then the
/// client's report. Takes about eight seconds.
///
/// With --listen it only starts the service, for your own client.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(crate) struct DemoArgs {
    /// Seed of the random waits: the same seed draws the same waits
    #[arg(long, value_name = "NUMBER", value_parser = value::seed, allow_hyphen_values = true)]
    seed: Option<u64>,

    /// Only start the service, on this address, until Ctrl-C: two out of every three calls are rejected
    #[arg(long, value_name = "ADDRESS", value_parser = value::address, conflicts_with_all = ["seed", "format"])]
    listen: Option<SocketAddr>,

    /// Output format; JSON is printed once, when the demo is over
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const JSON: &str = "\
JSON:
  {\"address\":..,\"seed\":..,\"scenes\":[{\"title\":..,\"method\":..,
    \"server\":[{\"attempt\":1,\"at_ms\":..,\"grpc_timeout\":..,\"reply\":..,\"cancelled_ms\":..},..],
    \"attempts\":..,\"not_attempted\":..,\"stop_reason\":..,\"end_ms\":..,\"code\":..,\"message\":..},..]}
  server: what arrived at the server, with the text of the header grpc-timeout; cancelled_ms is when
  the client cancelled it, null if it did not.
  attempts to end_ms: the client's report, in the form of gax plan.
  code and message: the status that the caller got.";

pub(crate) fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Run(format!("no runtime can be started ({error})")))?;
    match args.listen {
        Some(address) => runtime.block_on(listen::run(address)),
        None => runtime.block_on(scenes(args)),
    }
}

async fn scenes(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let scenes = scene::all().map_err(|error| Failure::Run(error.to_string()))?;
    let seed = args.seed.unwrap_or_else(value::fresh_seed);
    let mut stage = Stage::set(seed).await?;
    let for_people = args.format == Format::Text;
    if for_people {
        let address = stage.address;
        let opening = format!(
            "An AssetService listens on {address}.\n\
             Each wait is random, from 1 ms up to its delay, except in scene 4; --seed {seed} draws the same waits again.\n"
        );
        print(&prose(&opening, 0))?;
    }
    let mut shown = Vec::new();
    let mut as_scripted = true;
    for (index, scene) in scenes.iter().enumerate() {
        let call = stage::settings(scene);
        if for_people {
            print(&text::head(index + 1, scene, &call))?;
        }
        let show = |seen: &Seen| if for_people { print(&text::happened(seen)) } else { Ok(()) };
        let played = stage.play(scene, call, show).await?;
        if for_people {
            print(&text::outcome(&played))?;
        }
        as_scripted &= played.code() == scene.code;
        shown.push(Shown::of(scene, played));
    }
    if for_people {
        print(&prose(&text::lessons(&scenes), 3))?;
    } else {
        print_json(&Demo { address: stage.address.to_string(), seed, scenes: shown })?;
    }
    Ok(if as_scripted { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
}
